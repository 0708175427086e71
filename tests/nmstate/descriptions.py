"""Descriptions of hosts in nmstate's language, one per kind of network people build."""

from typing import Final

ETHERNET: Final = "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n"

STATIC_V4: Final = """
interfaces:
- {name: eth0, type: ethernet, state: up, mtu: 9000,
   ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.5, prefix-length: 24}]}, ipv6: {enabled: false}}
dns-resolver: {config: {server: [192.0.2.1], search: [example.com]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.254, next-hop-interface: eth0, table-id: 254}]}
"""

STATIC_V6: Final = """
interfaces:
- name: eth0
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: "2001:db8::5", prefix-length: 64}]}
dns-resolver: {config: {server: ["2001:db8::1"]}}
routes: {config: [{destination: "::/0", next-hop-address: "2001:db8::ff", next-hop-interface: eth0}]}
"""

DUAL_STACK: Final = """
interfaces:
- name: eth0
  type: ethernet
  state: up
  ipv4: {enabled: true, address: [{ip: 192.0.2.5, prefix-length: 24}]}
  ipv6: {enabled: true, address: [{ip: "2001:db8::5", prefix-length: 64}]}
dns-resolver: {config: {server: [192.0.2.1, "2001:db8::1"]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.254, next-hop-interface: eth0}
  - {destination: "::/0", next-hop-address: "2001:db8::ff", next-hop-interface: eth0, metric: 200}
"""

BOND: Final = """
interfaces:
- {name: eth0, type: ethernet, state: up}
- {name: eth1, type: ethernet, state: up}
- name: bond0
  type: bond
  state: up
  ipv4: {enabled: true, dhcp: true}
  link-aggregation: {mode: active-backup, port: [eth0, eth1], options: {primary: eth0, miimon: 140}}
"""

VLAN_ON_BOND: Final = (
    BOND
    + """- name: bond0.404
  type: vlan
  state: up
  vlan: {base-iface: bond0, id: 404}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.5, prefix-length: 24}]}
"""
)

VLAN: Final = """
interfaces:
- {name: eth0, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
- name: eth0.404
  type: vlan
  state: up
  vlan: {base-iface: eth0, id: 404}
  ipv4: {enabled: true, address: [{ip: 198.51.100.5, prefix-length: 24}]}
"""

BRIDGE: Final = """
interfaces:
- {name: eth0, type: ethernet, state: up}
- name: br0
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: true}
  bridge: {options: {stp: {enabled: false}}, port: [{name: eth0}]}
"""

EVERY: Final = {
    "ethernet": (ETHERNET, ("eth0",)),
    "static IPv4": (STATIC_V4, ("eth0",)),
    "static IPv6": (STATIC_V6, ("eth0",)),
    "dual stack": (DUAL_STACK, ("eth0",)),
    "bond": (BOND, ("eth0", "eth1")),
    "VLAN": (VLAN, ("eth0",)),
    "VLAN on a bond": (VLAN_ON_BOND, ("eth0", "eth1")),
    "bridge": (BRIDGE, ("eth0",)),
}
"""Name → description and the interfaces that are cards."""


def configured(description: str, cards: tuple[str, ...], *, host: int = 0) -> dict[str, object]:
    """As users send it."""
    mapped = [
        {"mac_address": f"02:00:00:00:{host:02x}:{index:02x}", "logical_nic_name": name}
        for index, name in enumerate(cards)
    ]
    return {"network_yaml": description, "mac_interface_map": mapped}
