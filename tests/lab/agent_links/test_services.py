"""Leases, names and time from real servers: dnsmasq and chronyd in namespaces of their own."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from firstlight.core.steps.leases import parse_dhcp
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.programs import LocalPrograms
from tests.agent_sites import a_site, output_of, text
from tests.namespaces import Bridge, inside, program_or_skip
from tests.peers import private_folder

API_MAC, INGRESS_MAC = "00:1a:4a:11:22:33", "00:1a:4a:44:55:66"


@dataclass(frozen=True, kw_only=True)
class Lab:
    network: Bridge
    host: str
    service: str
    folder: Path
    """The host's own files, and the servers' ones."""


def until(true: Callable[[], bool], *, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not become true in time"
        time.sleep(0.1)


@contextmanager
def dnsmasq(lab: Lab) -> Iterator[None]:
    """DHCP for the two virtual addresses, DNS for a few names."""
    program = program_or_skip("dnsmasq", package="dnsmasq-base")
    log = lab.folder / "dnsmasq.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *("ip", "netns", "exec", lab.service, program, "--keep-in-foreground", "--conf-file=/dev/null"),
                *(
                    "--no-resolv",
                    "--no-hosts",
                    "--user=root",
                    "--log-facility=-",
                    "--interface=eth0",
                    "--bind-interfaces",
                ),
                *(f"--pid-file={lab.folder}/dnsmasq.pid", f"--dhcp-leasefile={lab.folder}/leases"),
                *("--dhcp-range=192.0.2.100,192.0.2.150,1h", f"--dhcp-host={API_MAC},192.0.2.105"),
                *("--domain=lab.example", "--dhcp-authoritative"),
                *("--host-record=web.lab.example,192.0.2.5,fd09::5", "--cname=www.lab.example,web.lab.example"),
                *("--address=/apps.prod.lab.example/192.0.2.6", "--ptr-record=1.2.0.192.in-addr.arpa,ntp.lab.example"),
                *("--host-record=prod.other.example,192.0.2.77", "--local=/example/"),
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: b"started" in log.read_bytes() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def lab(network: Bridge) -> Iterator[Lab]:
    host = network.plug("one", "192.0.2.20/24", mac="52:54:00:00:00:01")
    service = network.plug("svc", "192.0.2.1/24", mac="52:54:00:00:00:fe")
    with private_folder("lab-services") as folder:
        (folder / "etc").mkdir()
        (folder / "etc/resolv.conf").write_text(
            "search other.example\nnameserver 192.0.2.1\noptions timeout:1 attempts:2\n"
        )
        (folder / "etc/hosts").write_text("192.0.2.88 fixed.lab.example\n")
        made = Lab(network=network, host=host, service=service, folder=folder)
        with dnsmasq(made):
            yield made


def leased(lab: Lab, **more: str) -> Any:
    wanted = {"interface": "eth0", "api_vip_mac": API_MAC, "ingress_vip_mac": INGRESS_MAC, **more}
    return inside(lab.host, lambda: ACTIONS["dhcp-lease-allocate"].run((text(wanted),), a_site()))


def test_leases_are_taken_and_kept(lab: Lab) -> None:
    """The reserved address and one of the range; with the old lease given, the same ones again."""
    first = leased(lab)
    report = output_of(first)
    assert report["api_vip_address"] == "192.0.2.105"
    assert report["ingress_vip_address"].startswith("192.0.2.1")
    leases = parse_dhcp(first.output)  # as the service reads it
    assert 'interface "api"' in leases.api_lease
    assert 'option domain-name "lab.example"' in leases.ingress_lease
    again = output_of(leased(lab, api_vip_lease=leases.api_lease, ingress_vip_lease=leases.ingress_lease))
    assert again["ingress_vip_address"] == report["ingress_vip_address"]
    assert API_MAC in (lab.folder / "leases").read_text()
    links = lab.network.run(lab.host, "ip", "-br", "link")
    assert "api" not in links
    assert "ingress" not in links


def test_no_link_no_lease(lab: Lab) -> None:
    lonely = lab.network.plug("lonely", "10.1.1.1/24")
    wanted = text({"interface": "nothing", "api_vip_mac": API_MAC, "ingress_vip_mac": INGRESS_MAC})
    done = inside(lonely, lambda: ACTIONS["dhcp-lease-allocate"].run((wanted,), a_site()))
    assert done.exit_code == -1
    assert "nothing" in done.error
    assert not done.output


def resolved(lab: Lab, *names: str) -> dict[str, tuple[list[str], list[str], list[str]]]:
    wanted = text({"domains": [{"domain_name": name} for name in names]})
    done = inside(lab.host, lambda: ACTIONS["domain-resolution"].run((wanted,), a_site(lab.folder)))
    return {
        row["domain_name"]: (row["ipv4_addresses"], row["ipv6_addresses"], row["cnames"])
        for row in output_of(done)["resolutions"]
    }


def test_names_lead_where_the_server_says(lab: Lab) -> None:
    expected: dict[str, tuple[list[str], list[str], list[str]]] = {
        "www.lab.example": (["192.0.2.5"], ["fd09::5"], ["web.lab.example."]),
        "api.apps.prod.lab.example.": (["192.0.2.6"], [], ["api.apps.prod.lab.example."]),
        "nobody.lab.example": ([], [], []),
        "prod": (["192.0.2.77"], [], ["prod.other.example."]),
        "prod.": ([], [], []),
        "fixed.lab.example": (["192.0.2.88"], [], ["fixed.lab.example."]),
    }
    assert resolved(lab, *expected) == expected


@contextmanager
def chronyd(lab: Lab, machine: str, name: str, *lines: str) -> Iterator[Path]:
    """A clock daemon that never touches the clock; its command socket."""
    program = program_or_skip("chronyd", package="chrony")
    folder = lab.folder / name
    folder.mkdir(mode=0o750)
    socket = folder / "command.sock"
    settings = [f"pidfile {folder}/pid", f"bindcmdaddress {socket}", "cmdport 0", "user root", *lines]
    (folder / "conf").write_text("\n".join(settings) + "\n")
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["ip", "netns", "exec", machine, program, "-d", "-x", "-f", str(folder / "conf")],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: socket.exists() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield socket
    finally:
        process.terminate()
        process.wait(10)


def test_time_servers_are_added_and_named(lab: Lab) -> None:
    """The server of the laboratory becomes synced under its name; one that does not exist is unreachable."""
    with (
        chronyd(lab, lab.service, "server", "local stratum 8", "allow", "port 123"),
        chronyd(lab, lab.host, "client") as socket,
    ):
        chronyc = lab.folder / "chronyc"
        chronyc.write_text(f'#!/bin/sh\nexec /usr/bin/chronyc -h {socket} "$@"\n')
        chronyc.chmod(0o755)
        host = _Renamed(chronyc)
        wanted = text({"ntp_source": "192.0.2.1, 192.0.2.99,bad;name"})
        states: dict[str, str] = {}

        def synced() -> bool:
            done = inside(lab.host, lambda: ACTIONS["ntp-synchronizer"].run((wanted,), a_site(lab.folder, host=host)))
            states.clear()
            states.update({row["source_name"]: row["source_state"] for row in output_of(done)["ntp_sources"]})
            return states.get("ntp.lab.example") == "synced"

        until(synced, seconds=60)
        assert states == {"ntp.lab.example": "synced", "192.0.2.99": "unreachable"}


class _Renamed(LocalPrograms):
    """The host's chronyc, told where the laboratory's daemon listens."""

    def __init__(self, chronyc: Path) -> None:
        super().__init__()
        self._chronyc = chronyc

    async def run(self, *command: str, **options: Any) -> Any:
        assert command[0] == "chronyc"
        return await super().run(str(self._chronyc), *command[1:], **options)
