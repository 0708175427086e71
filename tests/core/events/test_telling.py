"""What events tell of values that hold secrets."""

import pytest

from firstlight.core.events.telling import HIDDEN, told, without_logins
from firstlight.core.model.host import FencingCredentials
from firstlight.core.model.infra_env import HostNetworkConfig, Proxy


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://user:secret@proxy:3128", "http://proxy:3128"),
        ("http://user:se@cret@proxy:3128/a@b", "http://proxy:3128/a@b"),
        ("https://token@host https://other:x@y", "https://host https://y"),
        ('{"url":"http://u:p@h"},"b@c"', '{"url":"http://h"},"b@c"'),
        ("mail@example.com", "mail@example.com"),
    ],
)
def test_logins_leave_urls(text: str, shown: str) -> None:
    assert without_logins(text) == shown


def test_secret_fields_are_only_said_to_be_there() -> None:
    network = HostNetworkConfig(network_yaml="802.1x: {private-key-password: secret}", mac_interface_map=())
    values = {
        "name": "lab",
        "ignition_override": '{"passwd": "secret"}',
        "install_config_overrides": "",
        "static_network": (network,),
        "proxy": Proxy(http="http://user:secret@proxy:3128"),
        "fencing": FencingCredentials(address="https://a:secret@bmc", username="root", password="secret"),
        "tags": ["http://a:secret@b", 7, None],
    }
    shown = told(values)
    assert "secret" not in str(shown)
    assert shown["name"] == "lab"
    assert (shown["ignition_override"], shown["install_config_overrides"], shown["static_network"]) == (
        HIDDEN,
        "",
        HIDDEN,
    )
    assert shown["tags"] == ["http://b", 7, None]
