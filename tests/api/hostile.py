"""Replies of agents, good and evil, from a seed: the same ten thousand on every run."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from tests.api.machines import SYNCED, a_document
from tests.builders.moments import host_id

DEEP: Final = "[" * 100_000 + "]" * 100_000
SCALARS: Final[tuple[object, ...]] = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**400,
    1.5,
    -0.0,
    1e308,
    "",
    "a",
    "\x00",
    "\u202e\ufffe",
    "x" * 9_000,
    "../../etc/passwd",
    "%s%n{0}{{",
    "192.0.2.1/99",
    "::ffff:1.2.3.4%eth0",
    "fe80::1%",
    [],
    {},
    [[]],
    {"a": {"a": {"a": []}}},
    [None] * 50,
)
LITERALS: Final = ("NaN", "Infinity", "-Infinity", "1e999", "01", "\\x", '"\\ud800"', '"\\u0000"', "tru", "'a'", DEEP)
STEPS: Final = (
    "inventory",
    "connectivity-check",
    "free-network-addresses",
    "dhcp-lease-allocate",
    "api-vip-connectivity-check",
    "tang-connectivity-check",
    "ntp-synchronizer",
    "installation-disk-speed-check",
    "container-image-availability",
    "domain-resolution",
    "stop-installation",
    "logs-gather",
    "upgrade-agent",
    "download-boot-artifacts",
    "reboot-for-reclaim",
    "verify-vips",
    "install",
    "execute",
    "nonsense",
)
EXIT_CODES: Final = (0, 0, 0, 0, 0, 0, 1, 2, -1, 124, 125, 255, 256, 2**63 - 1)


def good_output(step: str, random: Random) -> object:
    """What a decent agent answers."""
    number = random.randint(1, 3)
    peer = {
        "host_id": str(host_id(random.randint(1, 4))),
        "l2_connectivity": [
            {
                "outgoing_nic": "enp1s0",
                "outgoing_ip_address": "192.0.2.11",
                "remote_ip_address": f"192.0.2.1{number}",
                "remote_mac": "52:54:00:aa:00:02",
                "successful": True,
            }
        ],
        "l3_connectivity": [
            {
                "outgoing_nic": "enp1s0",
                "remote_ip_address": f"192.0.2.1{number}",
                "successful": True,
                "average_rtt_ms": random.random() * 200,
                "packet_loss_percentage": random.random() * 100,
            }
        ],
        "mtu_report": None,
    }
    lease = 'lease {\n  interface "api";\n  fixed-address 192.0.2.100;\n}'
    outputs: dict[str, object] = {
        "inventory": a_document(number, hostname=f"host-{random.randint(1, 9)}"),
        "connectivity-check": {"remote_hosts": [peer]},
        "free-network-addresses": [{"network": "192.0.2.0/24", "free_addresses": ["192.0.2.9", "192.0.2.10"]}],
        "dhcp-lease-allocate": {
            "api_vip_address": "192.0.2.100",
            "ingress_vip_address": "192.0.2.101",
            "api_vip_lease": lease,
            "ingress_vip_lease": lease,
        },
        "api-vip-connectivity-check": {"is_success": True, "url": "http://a:22624/config/worker", "ignition": "{}"},
        "tang-connectivity-check": {"is_success": True, "tang_server_response": None},
        "ntp-synchronizer": SYNCED,
        "installation-disk-speed-check": {"io_sync_duration": random.randint(1, 50), "path": "/dev/sda"},
        "container-image-availability": {"images": [{"name": f"i{number}", "result": "success", "size_bytes": 1e8}]},
        "domain-resolution": {
            "resolutions": [{"domain_name": "api.east.example.com", "ipv4_addresses": ["192.0.2.5"], "cnames": None}]
        },
        "upgrade-agent": {"agent_image": "a:2", "result": "success"},
        "verify-vips": [{"vip": "192.0.2.5", "vip_type": "api", "verification": "succeeded"}],
    }
    return outputs.get(step, "")


def bent(value: object, random: Random) -> object:
    """The same document with something wrong in one place."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(sorted(value))
        changed: dict[str, Any] = dict(value)
        if random.random() < 0.1:
            del changed[key]
        elif random.random() < 0.1:
            changed[key.upper()] = changed.pop(key)
        else:
            changed[key] = bent(value[key], random)
        return changed
    if isinstance(value, list) and value and random.random() < 0.7:
        items = list(value)
        items[random.randrange(len(items))] = bent(random.choice(items), random)
        return items * random.choice((1, 1, 1, 40))
    return random.choice(SCALARS)


def output_text(step: str, random: Random) -> str:
    good = good_output(step, random)
    text = good if isinstance(good, str) else json.dumps(good)
    kind = random.random()
    if kind < 0.35:
        return text
    if kind < 0.75:
        return json.dumps(bent(bent(good, random), random))
    if kind < 0.85:
        at = random.randrange(len(text) + 1)
        return text[:at] + random.choice(LITERALS) + text[at:]
    if kind < 0.95:
        return text[: random.randrange(len(text) + 1)]
    return random.choice((*LITERALS, "", "\x00", "null", "[]", "{}", '"', "\ufeff{}"))


def envelope(random: Random) -> bytes:
    """The body of one request."""
    step = random.choice(STEPS)
    body: dict[str, object] = {
        "step_type": step,
        "step_id": f"{step}-1",
        "output": output_text(step, random),
        "exit_code": random.choice(EXIT_CODES),
        "error": random.choice(("", "", "it failed", "already in use", "\x00", "e" * 20_000)),
    }
    kind = random.random()
    if kind < 0.9:
        return json.dumps(body).encode()
    if kind < 0.94:
        return json.dumps(bent(body, random)).encode()
    if kind < 0.97:
        raw = bytearray(json.dumps(body).encode())
        for _ in range(random.randint(1, 4)):
            raw[random.randrange(len(raw))] = random.randrange(256)
        return bytes(raw)
    return random.choice((b"", b"\xff\xfe", DEEP.encode(), b"NaN", b"null", b"[]", b'{"output": "\xc3\x28"}'))


def envelopes(seed: int, *, count: int) -> Iterator[tuple[int, bytes]]:
    """(index of the machine that sends it, body)."""
    random = Random(seed)
    for _ in range(count):
        yield random.randrange(4), envelope(random)


def many_disks(count: int) -> dict[str, Any]:
    disk = a_document()["disks"][0]
    return a_document(disks=[disk | {"id": f"/dev/disk/by-id/{n}", "name": f"sd{n}"} for n in range(count)])


def oversized() -> Iterator[tuple[str, Callable[[], object]]]:
    """Reports that are right in form and far too much."""
    nic = a_document()["interfaces"][0]
    yield "15,000 disks", lambda: many_disks(15_000)
    yield "a mebibyte of host name", lambda: a_document(hostname="h" * 2**20)
    yield (
        "a mebibyte of flags",
        lambda: a_document(cpu={"architecture": "x86_64", "count": 8, "flags": ["f" * 60] * 17_000}),
    )
    yield "5,000 interfaces", lambda: a_document(interfaces=[nic | {"name": f"eth{n}"} for n in range(5_000)])
    yield (
        "20,000 addresses",
        lambda: a_document(
            interfaces=[nic | {"ipv4_addresses": [f"10.{n >> 8 & 255}.{n & 255}.1/8" for n in range(20_000)]}]
        ),
    )
    yield "100,000 routes", lambda: a_document(routes=[{"interface": "a", "destination": "0.0.0.0"}] * 100_000)
