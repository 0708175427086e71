"""registries.conf into mirrors."""

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install.inputs import RegistryMirror
from firstlight.core.install.mirrors import parse_registries_conf

CONF = """
unqualified-search-registries = ["docker.io"]

[[registry]]
location = "quay.io/a"
[[registry.mirror]]
location = "m.example.com/a"
insecure = true
[[registry.mirror]]
location = "n.example.com/a"
pull-from-mirror = "digest-only"

[[registry]]
location = "quay.io/b"
[[registry.mirror]]
location = "m.example.com/b"
pull-from-mirror = "tag-only"

[[registry]]
location = "quay.io/c"
[[registry.mirror]]
location = "m.example.com/c"
pull-from-mirror = "all"
"""


def test_mirrors_by_kind() -> None:
    mirrors = parse_registries_conf(CONF, ca_bundle="pem")
    assert mirrors.digest_mirrors == (
        RegistryMirror(source="quay.io/a", mirrors=("m.example.com/a", "n.example.com/a")),
        RegistryMirror(source="quay.io/c", mirrors=("m.example.com/c",)),
    )
    assert mirrors.tag_mirrors == (
        RegistryMirror(source="quay.io/b", mirrors=("m.example.com/b",)),
        RegistryMirror(source="quay.io/c", mirrors=("m.example.com/c",)),
    )
    assert mirrors.insecure == ("m.example.com/a",)
    assert mirrors.registries_conf == CONF
    assert mirrors.ca_bundle == "pem"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[registry", "not valid TOML"),
        ("", "names no mirror"),
        ('registry = "x"', "names no mirror"),
        ('[[registry]]\nlocation = "a"', "names no mirror"),
        ('[[registry]]\n[[registry.mirror]]\nlocation = "m"', "names no mirror"),
        ('[[registry]]\nlocation = "a"\n[[registry.mirror]]\ninsecure = true', "names no mirror"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        parse_registries_conf(text)
