"""Where a new node's Ignition is, and what it says."""

import base64
import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest

from firstlight.core.model.cluster import IgnitionEndpoint
from firstlight.core.model.host_status import HostRole
from firstlight.core.steps.day_two import MACHINE_CONFIG, ignition_source, os_image_in, tang_servers_in
from firstlight.core.steps.inputs import NO_INPUTS, StepInputs
from tests.builders.clusters import a_cluster
from tests.builders.hosts import a_host

HTTPS = StepInputs(ignition_ca="Q0E=")


@pytest.mark.parametrize(
    ("cluster", "host", "inputs", "url"),
    [
        ({}, {}, NO_INPUTS, "http://api.east.example.com:22624/config/master"),
        ({}, {"suggested_role": None}, NO_INPUTS, "http://api.east.example.com:22624/config/worker"),
        ({}, {"role": HostRole.ARBITER}, NO_INPUTS, "http://api.east.example.com:22624/config/arbiter"),
        ({}, {"machine_config_pool_name": "infra"}, NO_INPUTS, "http://api.east.example.com:22624/config/infra"),
        ({}, {}, HTTPS, "https://api-int.east.example.com:22623/config/master"),
        ({"api_vip_dns_name": "192.0.2.5"}, {}, HTTPS, "https://192.0.2.5:22623/config/master"),
        ({"api_vip_dns_name": "2001:db8::5"}, {}, NO_INPUTS, "http://[2001:db8::5]:22624/config/master"),
        (
            {"ignition_endpoint": IgnitionEndpoint(url="https://mcs.lab:1/x/?q=1")},
            {},
            NO_INPUTS,
            "https://mcs.lab:1/x/master?q=1",
        ),
        (
            {"ignition_endpoint": IgnitionEndpoint(ca_certificate="QQ==")},
            {},
            NO_INPUTS,
            "https://api-int.east.example.com:22623/config/master",
        ),
    ],
)
def test_addresses(cluster: dict[str, Any], host: dict[str, Any], inputs: StepInputs, url: str) -> None:
    source = ignition_source(a_cluster(**cluster), a_host(**host), inputs=inputs)
    assert source is not None
    assert source.url == url


def test_the_endpoints_own_authority_comes_first() -> None:
    cluster = a_cluster(ignition_endpoint=IgnitionEndpoint(url="https://a", ca_certificate=" QQ== "))
    source = ignition_source(cluster, a_host(), inputs=HTTPS)
    assert source is not None
    assert source.ca_certificate == "QQ=="


def test_without_a_name_there_is_no_address() -> None:
    assert ignition_source(a_cluster(base_dns_domain=""), a_host(), inputs=NO_INPUTS) is None


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
