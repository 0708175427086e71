"""Help with static networks: checks, rows, tables, and what the real nmstatectl says to what we render."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

from firstlight.server.http import v1
from firstlight.server.http.app import build_app
from firstlight.server.http.operations import operations_of
from firstlight.server.nmstate.nmstatectl import Nmstatectl
from firstlight.server.usecases.world import World
from tests.http.client import Answer, ask
from tests.nmstate.descriptions import BRIDGE, EVERY, STATIC_V4, VLAN, configured
from tests.worlds import a_world

pytestmark = pytest.mark.anyio

PATH: Final = "/api/firstlight/v1/static-network/"
TABLE: Final = """mac_addresses,bond_mode,vlan,mtu,ipv4,ipv4_gateway,ipv6,ipv6_gateway,dns,dns_search
02:00:00:00:00:01,,,,192.0.2.11/24,192.0.2.1,,,192.0.2.2,example.com
02:00:00:00:00:02,,404,9000,192.0.2.12/24,192.0.2.1,2001:db8::12/64,fe80::1,192.0.2.2 2001:db8::2,
02:00:00:00:00:03 02:00:00:00:00:04,802.3ad,7,,dhcp,,dhcp,,,
02:00:00:00:00:05 02:00:00:00:00:06,active-backup,,,,,2001:db8::15/64,2001:db8::1,2001:db8::2,
02:00:00:00:00:07,,,,,,,,,
"""


@pytest.fixture
async def world(tmp_path: Path, nmstatectl: Path, anyio_backend: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, nmstatectl=nmstatectl) as made:
        yield made


@pytest.fixture
def app(world: World) -> ASGIApp:
    return build_app(world, operations=operations_of(*v1.MODULES))


async def post(app: ASGIApp, what: str, body: dict[str, Any], *, status: int = 200) -> Any:
    headers = {"content-type": "application/json"}
    answer: Answer = await ask(app, "POST", PATH + what, body=json.dumps(body).encode(), headers=headers)
    assert answer.status == status, answer.body
    return answer.json()


async def test_a_table_becomes_descriptions_and_a_table_again(app: ASGIApp, nmstatectl: Path) -> None:
    made = await post(app, "render", {"table": TABLE})
    assert made["table"] == TABLE
    assert len(made["hosts"]) == len(made["rows"]) == 5
    nmstate = Nmstatectl(nmstatectl)
    for host in made["hosts"]:
        assert "&" not in host["network_yaml"]
        assert await nmstate.keyfiles(host["network_yaml"])
    again = await post(app, "read", {"hosts": made["hosts"]})
    assert (again["table"], again["rows"]) == (TABLE, made["rows"])
    assert await post(app, "render", {"rows": made["rows"]}) == made
    checked = await post(app, "check", {"hosts": made["hosts"]})
    found = [(one["host"], one["code"], one["severity"]) for one in checked["problems"]]
    assert found == [(4, "dns-missing", "warning"), (4, "no-address", "warning")]
    assert checked["nmstate_asked"]


async def test_what_rows_cannot_say(app: ASGIApp) -> None:
    hosts = [configured(BRIDGE, ("eth0",)), configured(VLAN, ("eth0",))]
    answer = await post(app, "read", {"hosts": hosts})
    assert answer["table"] is None
    assert answer["rows"][0] is None
    assert answer["rows"][1]["vlan"] == 404


@pytest.mark.parametrize("name", EVERY)
async def test_networks_people_build_have_no_errors(app: ASGIApp, name: str) -> None:
    checked = await post(app, "check", {"hosts": [configured(*EVERY[name])], "openshift_version": "4.17"})
    assert [one for one in checked["problems"] if one["severity"] == "error"] == []


async def test_every_host_is_looked_at(app: ASGIApp) -> None:
    hosts = [
        {"network_yaml": "a: [", "mac_interface_map": []},
        configured(STATIC_V4, ("eth0",), host=1),
        configured(STATIC_V4.replace("192.0.2.254", "198.51.100.1").replace("mtu: 9000", "mtw: 1"), ("eth0",), host=2),
        configured(STATIC_V4.replace("192.0.2.5", "192.0.2.6"), ("ens9",), host=3),
    ]
    checked = await post(app, "check", {"hosts": hosts})
    found = {(one["host"], one["code"]) for one in checked["problems"]}
    assert found == {
        (0, "yaml"),
        (1, "address-twice"),
        (2, "address-twice"),
        (2, "gateway-outside"),
        (2, "nmstate"),
        (3, "unused-card"),
        (3, "card-unmapped"),
    }
    (refused,) = [one for one in checked["problems"] if one["code"] == "nmstate"]
    assert "unknown field `mtw`" in refused["message"]
    assert refused["mac_address"] == "02:00:00:00:02:00"


@pytest.mark.parametrize(("version", "codes"), [("4.17", ["nmstatectl-missing"]), ("4.18", []), ("", [])])
async def test_without_nmstate(tmp_path: Path, version: str, codes: list[str]) -> None:
    async with a_world(tmp_path) as world:
        app = build_app(world, operations=operations_of(*v1.MODULES))
        hosts = [configured(STATIC_V4, ("eth0",))]
        checked = await post(app, "check", {"hosts": hosts, "openshift_version": version})
        assert [one["code"] for one in checked["problems"]] == codes
        assert not checked["nmstate_asked"]


@pytest.mark.parametrize(
    ("what", "body", "words"),
    [
        ("render", {"table": "colour\n"}, "no column 'colour'"),
        ("render", {"rows": [{"mac_addresses": ["x"]}]}, "Row 1: mac_addresses has 'x'"),
        ("render", {"rows": [{"mac_addresses": ["02:00:00:00:00:01"]}], "table": TABLE}, "Send one of them"),
        ("render", {"rows": [{"mac_addresses": ["02:00:00:00:00:01"]}] * 1001}, "at most 1000"),
        ("read", {"hosts": [{"network_yaml": "a: ["}]}, "Static network configuration 1 is not valid YAML"),
        ("read", {"hosts": [{"network_yaml": "a: 1\n---\nb: 2"}]}, "holds 2 YAML documents"),
        ("check", {"hosts": [{"network_yaml": ""}] * 1001}, "at most 1000"),
        ("check", {"hosts": [{"network_yaml": "", "colour": 1}]}, "colour"),
        ("check", {"hosts": [], "openshift_version": "four"}, "'four' is not an OpenShift version"),
    ],
)
async def test_what_cannot_be_asked(app: ASGIApp, what: str, body: dict[str, Any], words: str) -> None:
    assert words in str(await post(app, what, body, status=400))
