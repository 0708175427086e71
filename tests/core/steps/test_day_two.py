"""Where a new node's Ignition is, and what it says."""

import base64
import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest

from firstlight.core.install.from_records import day_two_endpoint, install_host
from firstlight.core.install.pointer import day_two_config
from firstlight.core.model.cluster import IgnitionEndpoint
from firstlight.core.model.host_status import HostRole
from firstlight.core.steps.day_two import MACHINE_CONFIG, ignition_source, os_image_in, tang_servers_in
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host, host_state

CA = b"-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----"
OTHER = CA.replace(b"QQ", b"Qg")


def trusting(*sources: str) -> str:
    """An Ignition override that names certificate authorities."""
    authorities = [{"source": source} for source in sources]
    tls = {"certificateAuthorities": authorities}
    return json.dumps({"ignition": {"version": "3.2.0", "security": {"tls": tls}}})


def inline(pem: bytes) -> str:
    return "data:text/plain;base64," + base64.b64encode(pem).decode()


OWN = trusting(inline(CA))


@pytest.mark.parametrize(
    ("cluster", "host", "url"),
    [
        ({}, {}, "http://api.east.example.com:22624/config/master"),
        ({}, {"suggested_role": None}, "http://api.east.example.com:22624/config/worker"),
        ({}, {"role": HostRole.ARBITER}, "http://api.east.example.com:22624/config/arbiter"),
        ({}, {"machine_config_pool_name": "infra"}, "http://api.east.example.com:22624/config/infra"),
        ({}, {"ignition_override": OWN}, "https://api-int.east.example.com:22623/config/master"),
        (
            {},
            {"ignition_override": trusting("https://certificates.lab/ca.pem")},
            "https://api-int.east.example.com:22623/config/master",
        ),
        ({}, {"ignition_override": trusting()}, "http://api.east.example.com:22624/config/master"),
        ({}, {"ignition_override": "no JSON"}, "http://api.east.example.com:22624/config/master"),
        ({"api_vip_dns_name": "192.0.2.5"}, {"ignition_override": OWN}, "https://192.0.2.5:22623/config/master"),
        ({"api_vip_dns_name": "2001:db8::5"}, {}, "http://[2001:db8::5]:22624/config/master"),
        (
            {"ignition_endpoint": IgnitionEndpoint(url="https://mcs.lab:1/x/?q=1")},
            {},
            "https://mcs.lab:1/x/master?q=1",
        ),
        (
            {"ignition_endpoint": IgnitionEndpoint(ca_certificate="QQ==")},
            {},
            "https://api-int.east.example.com:22623/config/master",
        ),
    ],
)
def test_addresses(cluster: dict[str, Any], host: dict[str, Any], url: str) -> None:
    source = ignition_source(a_cluster(**cluster), a_host(**host))
    assert source is not None
    assert source.url == url


@pytest.mark.parametrize(
    ("given", "override", "trusted"),
    [
        (b"", "", []),
        (CA, "", [CA]),
        (b"", OWN, [CA]),
        (CA, OWN, [CA]),
        (CA + b"\n", trusting(inline(OTHER), inline(CA)), [CA, OTHER]),
        (OTHER, trusting("https://certificates.lab/ca.pem"), [OTHER]),
        (b"", trusting("https://certificates.lab/ca.pem"), []),
    ],
)
def test_endpoint_and_host_both_say_whom_to_trust(given: bytes, override: str, trusted: list[bytes]) -> None:
    endpoint = IgnitionEndpoint(url="https://a", ca_certificate=f" {base64.b64encode(given).decode()} ")
    source = ignition_source(a_cluster(ignition_endpoint=endpoint), a_host(ignition_override=override))
    assert source is not None
    assert base64.b64decode(source.ca_certificate).strip() == b"\n".join(trusted)


def test_the_address_that_is_checked_is_the_one_that_is_installed_from() -> None:
    for override, endpoint in [("", None), (OWN, None), ("", IgnitionEndpoint(url="https://a/b"))]:
        cluster, state = a_cluster(ignition_endpoint=endpoint), host_state(1, ignition_override=override)
        config = day_two_config(install_host(state, cluster=cluster), day_two_endpoint(cluster, state.host))
        source = ignition_source(cluster, state.host)
        assert source is not None
        assert config.ignition.config.merge[0].source == source.url


def test_without_a_name_there_is_no_address() -> None:
    assert ignition_source(a_cluster(base_dns_domain=""), a_host()) is None


@pytest.mark.parametrize(
    "ignition",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"storage":{}}',
        '{"storage":{"luks":[{}]}}',
        '{"storage":{"luks":[{"clevis":{"tpm2":true}}]}}',
    ],
)
def test_ignition_without_tang(ignition: str) -> None:
    assert tang_servers_in(ignition) == ""


def machine_config(contents: dict[str, str] | None, path: str = MACHINE_CONFIG) -> str:
    return json.dumps({"storage": {"files": [{"path": "/etc/other"}, {"path": path, "contents": contents}]}})


CONFIG = json.dumps({"spec": {"osImageURL": "quay.io/coreos@sha256:1"}})
BASE64 = "data:text/plain;charset=utf-8;base64,"


@pytest.mark.parametrize(
    ("contents", "image"),
    [
        ({"source": "data:," + quote(CONFIG)}, "quay.io/coreos@sha256:1"),
        ({"source": BASE64 + base64.b64encode(CONFIG.encode()).decode()}, "quay.io/coreos@sha256:1"),
        (
            {"source": BASE64 + base64.b64encode(gzip.compress(CONFIG.encode())).decode(), "compression": "gzip"},
            "quay.io/coreos@sha256:1",
        ),
        ({"source": "data:,not json"}, ""),
        ({"source": 'data:,{"spec":7}'}, ""),
        ({"source": 'data:,{"spec":{"osImageURL":7}}'}, ""),
        ({"source": "data:;base64,x"}, ""),
        ({"source": "data:,plain", "compression": "gzip"}, ""),
        ({"source": "http://elsewhere"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_system_image(contents: dict[str, str] | None, image: str) -> None:
    assert os_image_in(machine_config(contents)) == image


def test_no_machine_config_no_image() -> None:
    assert os_image_in(machine_config({"source": "data:," + quote(CONFIG)}, path="/etc/else")) == ""
    assert os_image_in("broken") == ""


def test_a_bomb_does_not_go_off() -> None:
    bomb = base64.b64encode(gzip.compress(b" " * 50_000_000)).decode()
    assert os_image_in(machine_config({"source": BASE64 + bomb, "compression": "gzip"})) == ""
