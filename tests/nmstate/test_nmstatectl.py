"""nmstatectl as a program: the real one, one that hangs, one that talks nonsense, and none at all."""

import asyncio
import configparser
from pathlib import Path

import pytest

from firstlight.core.errors import Conflict, Invalid, Unavailable
from firstlight.core.install.keyfiles import Keyfile, connecting_by_itself
from firstlight.server.nmstate.nmstatectl import Nmstatectl, connections, refusal
from tests.nmstate.descriptions import BOND, BRIDGE, DUAL_STACK, ETHERNET, EVERY, STATIC_V4, STATIC_V6, VLAN

pytestmark = pytest.mark.anyio


def a_program(folder: Path, script: str) -> Path:
    path = folder / "nmstatectl"
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


async def made(nmstatectl: Path, description: str) -> dict[str, configparser.ConfigParser]:
    """The connections as an INI reader that is not ours sees them."""
    found: dict[str, configparser.ConfigParser] = {}
    for keyfile in await Nmstatectl(nmstatectl).keyfiles(description):
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parser.read_string(connecting_by_itself(keyfile.content))
        assert parser["connection"]["autoconnect"] == "true"
        assert parser["connection"]["autoconnect-priority"] == "1"
        found[keyfile.name.removesuffix(".nmconnection")] = parser
    return found


@pytest.mark.parametrize("name", EVERY)
async def test_every_kind_of_network(nmstatectl: Path, name: str) -> None:
    description, cards = EVERY[name]
    found = await made(nmstatectl, description)
    assert {*cards} <= {*found}
    assert await Nmstatectl(nmstatectl).keyfiles(description) == await Nmstatectl(nmstatectl).keyfiles(description)


async def test_what_the_connections_say(nmstatectl: Path) -> None:
    v4 = (await made(nmstatectl, STATIC_V4))["eth0"]
    assert (v4["ipv4"]["method"], v4["ipv4"]["address0"]) == ("manual", "192.0.2.5/24")
    assert (v4["ipv4"]["dns"].rstrip(";"), v4["ipv4"]["dns-search"].rstrip(";")) == ("192.0.2.1", "example.com")
    assert v4["ipv4"]["route0"].startswith("0.0.0.0/0,192.0.2.254")
    assert (v4["ipv6"]["method"], v4["ethernet"]["mtu"]) == ("disabled", "9000")
    v6 = (await made(nmstatectl, STATIC_V6))["eth0"]
    assert (v6["ipv6"]["address0"], v6["ipv4"]["method"]) == ("2001:db8::5/64", "disabled")
    both = (await made(nmstatectl, DUAL_STACK))["eth0"]
    assert (both["ipv4"]["method"], both["ipv6"]["method"]) == ("manual", "manual")
    assert both["ipv6"]["route0"].startswith("::/0,2001:db8::ff,200")
    bond = await made(nmstatectl, BOND)
    assert (bond["bond0"]["bond"]["primary"], bond["eth1"]["connection"]["master"]) == ("eth0", "bond0")
    vlan = (await made(nmstatectl, VLAN))["eth0.404"]
    assert (vlan["vlan"]["parent"], vlan["vlan"]["id"]) == ("eth0", "404")
    bridge = await made(nmstatectl, BRIDGE)
    assert bridge["eth0"]["connection"]["master"] == "br0"


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("interfaces: [{name: eth0, type: ethernet, typ: x}]", "unknown field `typ`"),
        ("interfaces: [{name: eth0, type: ethernet, ipv4: {enabled: true, address: [{ip: 1.2.3.400}]}}]", "IP address"),
        ("interfaces: [{name: b, type: bond, link-aggregation: {mode: odd, port: []}}]", "unknown variant `odd`"),
        ("nonsense", "invalid type"),
        ("a: [", "unknown field `a`"),
    ],
)
async def test_refusals_are_the_program_s_own_words(nmstatectl: Path, description: str, words: str) -> None:
    nmstate = Nmstatectl(nmstatectl)
    for _ in range(2):  # from the program, then from memory
        with pytest.raises(Invalid, match=words) as refused:
            await nmstate.keyfiles(description)
        assert "INFO" not in str(refused.value)
        assert "NmstateError" not in str(refused.value)


async def test_a_description_is_asked_about_once(tmp_path: Path) -> None:
    program = a_program(tmp_path, f"cat >> {tmp_path}/asked; echo 'NetworkManager: [[x.nmconnection, text]]'")
    nmstate = Nmstatectl(program)
    answers = await asyncio.gather(*(nmstate.keyfiles("one") for _ in range(20)))
    assert answers == [(Keyfile(name="x.nmconnection", content="text"),)] * 20
    assert (tmp_path / "asked").read_text() == "one"
    await nmstate.keyfiles("two")
    assert (tmp_path / "asked").read_text() == "onetwo"


async def test_only_a_few_run_at_the_same_time(tmp_path: Path) -> None:
    script = f"""
mkdir {tmp_path}/running-$$; ls -d {tmp_path}/running-* | wc -l >> {tmp_path}/counts
sleep 0.05; rmdir {tmp_path}/running-$$; echo 'NetworkManager: []'"""
    nmstate = Nmstatectl(a_program(tmp_path, script), parallel=2)
    await asyncio.gather(*(nmstate.keyfiles(str(number)) for number in range(8)))
    counts = [int(line) for line in (tmp_path / "counts").read_text().split()]
    assert len(counts) == 8
    assert max(counts) <= 2


async def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    program = a_program(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 seconds"):
        await Nmstatectl(program, seconds=0.2).keyfiles(ETHERNET)
    if (tmp_path / "pid").exists():
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


async def test_a_program_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nmstate = Nmstatectl(tmp_path / "nmstatectl")
    assert not nmstate.here()
    with pytest.raises(Conflict, match=f"none at {tmp_path}/nmstatectl, where FIRSTLIGHT_NMSTATECTL says"):
        await nmstate.keyfiles(ETHERNET)
    a_program(tmp_path, "echo 'NetworkManager: []'")
    assert nmstate.here()
    assert await nmstate.keyfiles(ETHERNET) == ()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Conflict, match="none on PATH.*set FIRSTLIGHT_NMSTATECTL.*OpenShift 4.18"):
        await Nmstatectl().keyfiles(ETHERNET)


async def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    path = tmp_path / "nmstatectl"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    with pytest.raises(Conflict, match="cannot be started"):
        await Nmstatectl(path).keyfiles(ETHERNET)


@pytest.mark.parametrize("answer", [b"", b"[]", b"NetworkManager: x", b"NetworkManager: [[a, 1]]", b"\xff", b"{"])
def test_answers_that_are_none(answer: bytes) -> None:
    with pytest.raises(Unavailable, match="cannot be understood"):
        connections(answer)


def test_a_refusal_without_words() -> None:
    assert refusal("[2026-11-15T07:07:34Z INFO  nmstatectl] Nmstate version: 2.2.62\n") == "it gave no reason"
    assert len(refusal("x" * 10_000)) == 600
