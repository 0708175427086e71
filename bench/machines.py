"""Machines for the load generator: a 10 KB inventory each, and truthful answers to every step."""

import json
import random
from typing import Any
from uuid import UUID

FLAGS = [f"flag{number}" for number in range(120)]


def address_of(host: int) -> str:
    """Up to seven hundred machines in 192.0.0.0/22, none of them at the VIPs 192.0.2.5 and 192.0.2.6."""
    return f"192.0.{1 + host // 240}.{10 + host % 240}"


def inventory(index: int, host: int) -> dict[str, object]:
    """Eight disks, two interfaces; `host` numbers the machines of one cluster."""
    mac = f"52:54:{index >> 8 & 255:02x}:{index & 255:02x}:00:{host:02x}"
    disks = [
        {
            "id": f"/dev/disk/by-id/wwn-0x{index:08x}{host:04x}{disk:04x}",
            "by_id": f"/dev/disk/by-id/wwn-0x{index:08x}{host:04x}{disk:04x}",
            "by_path": f"/dev/disk/by-path/pci-0000:00:1f.2-ata-{disk}",
            "name": f"sd{chr(97 + disk)}",
            "path": f"/dev/sd{chr(97 + disk)}",
            "drive_type": "SSD",
            "size_bytes": 480_000_000_000,
            "model": "BENCH SSD MODEL 480",
            "serial": f"S{index:06d}{host:03d}{disk}",
            "vendor": "BENCH",
            "wwn": f"0x{index:08x}{host:04x}{disk:04x}",
            "hctl": f"{disk}:0:0:0",
            "has_uuid": True,
            "installation_eligibility": {"eligible": True, "not_eligible_reasons": None},
            "smart": "x" * 450,
        }
        for disk in range(8)
    ]
    return {
        "hostname": f"host-{index}-{host}",
        "bmc_address": "0.0.0.0",
        "boot": {"current_boot_mode": "uefi", "command_line": "BOOT_IMAGE=/vmlinuz console=tty1\n"},
        "cpu": {"architecture": "x86_64", "count": 16, "frequency": 3200, "model_name": "Bench CPU", "flags": FLAGS},
        "disks": disks,
        "gpus": [],
        "interfaces": [
            {
                "name": "enp1s0",
                "type": "physical",
                "mac_address": mac,
                "mtu": 1500,
                "has_carrier": True,
                "flags": ["up", "broadcast", "multicast", "running"],
                "ipv4_addresses": [f"{address_of(host)}/22"],
                "ipv6_addresses": [],
                "speed_mbps": 25000,
                "vendor": "0x1af4",
                "product": "0x1041",
            },
            {
                "name": "enp2s0",
                "type": "physical",
                "mac_address": mac[:-2] + f"{128 + host:02x}",
                "mtu": 1500,
                "has_carrier": False,
                "flags": ["up"],
                "ipv4_addresses": [],
                "ipv6_addresses": [],
            },
        ],
        "memory": {"physical_bytes": 64 << 30, "usable_bytes": 63 << 30, "physical_bytes_method": "dmidecode"},
        "routes": [
            {"interface": "enp1s0", "destination": "0.0.0.0", "gateway": "192.0.0.1", "family": 2, "metric": 100}
        ],
        "system_vendor": {"manufacturer": "Bench", "product_name": "Rack", "serial_number": f"SN{index}-{host}"},
        "tpm_version": "2.0",
    }


class Machine:
    """One simulated host of a cluster of `size`."""

    __slots__ = ("host_id", "index", "infra_env_id", "inventory_text", "number", "path", "randomness")

    def __init__(self, index: int, number: int, infra_env_id: str) -> None:
        self.index = index
        self.number = number
        self.infra_env_id = infra_env_id
        self.host_id = str(UUID(int=(index << 16) + number + (0xBE << 120)))
        self.path = f"/api/assisted-install/v2/infra-envs/{infra_env_id}/hosts/{self.host_id}"
        self.inventory_text = json.dumps(inventory(index, number))
        self.randomness = random.Random(index * 100 + number)

    def answer(self, step: dict[str, Any]) -> bytes:
        """The reply to one instruction; round-trip times differ every time."""
        kind = str(step["step_type"])
        arguments: list[str] = step.get("args") or [""]
        first = arguments[0]
        output = getattr(self, "_" + kind.replace("-", "_"), self._nothing)(first)
        return json.dumps({"step_type": kind, "step_id": step.get("step_id", ""), "output": output}).encode()

    def _nothing(self, _: str) -> str:
        return ""

    def _inventory(self, _: str) -> str:
        return self.inventory_text

    def _connectivity_check(self, argument: str) -> str:
        peers = json.loads(argument)
        return json.dumps({"remote_hosts": [self._peer(peer) for peer in peers]})

    def _peer(self, peer: dict[str, Any]) -> dict[str, object]:
        layer2: list[dict[str, object]] = []
        layer3: list[dict[str, object]] = []
        for nic in peer["nics"]:
            for address in nic["ip_addresses"]:
                layer2.append(
                    {
                        "outgoing_ip_address": address_of(self.number),
                        "outgoing_nic": "enp1s0",
                        "remote_ip_address": address,
                        "remote_mac": nic["mac"],
                        "successful": True,
                    }
                )
                rtt = round(self.randomness.uniform(0.1, 0.9), 3)
                layer3.append({"average_rtt_ms": rtt, "remote_ip_address": address, "successful": True})
        return {"host_id": peer["host_id"], "l2_connectivity": layer2, "l3_connectivity": layer3, "mtu_report": None}

    def _free_network_addresses(self, argument: str) -> str:
        networks = json.loads(argument)
        return json.dumps(
            [{"network": cidr, "free_addresses": [f"192.0.2.{n}" for n in range(100, 250)]} for cidr in networks]
        )

    def _ntp_synchronizer(self, _: str) -> str:
        return json.dumps({"ntp_sources": [{"source_name": "ntp.example.com", "source_state": "synced"}]})

    def _domain_resolution(self, argument: str) -> str:
        names = [item["domain_name"] for item in json.loads(argument)["domains"]]
        return json.dumps(
            {
                "resolutions": [
                    {
                        "domain_name": name,
                        "ipv4_addresses": [] if "NoWildcard" in name else ["192.0.2.100"],
                        "ipv6_addresses": [],
                        "cnames": [],
                    }
                    for name in names
                ]
            }
        )

    def _verify_vips(self, argument: str) -> str:
        return json.dumps([{**item, "verification": "succeeded"} for item in json.loads(argument)])
