"""Static network of discovered hosts: checking what a user sends, and the files a host needs to apply it.

A host finds its own part by the MAC addresses of its interfaces; names in the description are only logical.
YAML is parsed by the caller: the description arrives as text (to keep) and as a document (to look into).
"""

import io
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import Document, is_mapping, is_sequence, mapping, sequence, to_text
from firstlight.core.install.inputs import HostFile, Value
from firstlight.core.install.keyfiles import Keyfile, connecting_by_itself, require_plain_name
from firstlight.core.install.static_network_files import (
    COMMON_SCRIPT,
    COMMON_SCRIPT_PATH,
    SCRIPT_OF,
    SCRIPT_PATH,
    UNIT_NAME,
    AppliedBy,
    full_iso_unit,
)
from firstlight.core.network.mac_addresses import is_mac_address
from firstlight.core.versions.numbers import at_least

FOLDER: Final = "/etc/assisted/network"
# Names the kernel or udev give by themselves need no mapping.
PREDICTABLE: Final = re.compile(r"en[PsvxXbucaipod]")
# Values under these keys are words of nmstate, never interface names, even when an interface has such a name.
WORDS: Final = frozenset({"type", "state", "mode", "identifier", "link-aggregation-mode", "protocol"})
SECRET_MODE: Final = 0o600
NMSTATE_FROM: Final = "4.18"
"""The first OpenShift line whose live system applies descriptions by itself."""


class MacMapping(Value, frozen=True, kw_only=True, order=True):
    mac_address: str
    logical_nic_name: str


class HostNetwork(Value, frozen=True, kw_only=True, order=True):
    """One host: its description as the user wrote it, and which interface each logical name means."""

    network_yaml: str
    mac_interface_map: tuple[MacMapping, ...]


class StaticNetwork(Value, frozen=True, kw_only=True):
    """The folders of all described hosts, and who on the host makes use of them."""

    files: tuple[HostFile, ...]
    applied_by: AppliedBy

    @property
    def scripts(self) -> tuple[HostFile, HostFile]:
        return (
            HostFile(path=SCRIPT_PATH, content=SCRIPT_OF[self.applied_by].encode(), mode=0o755),
            HostFile(path=COMMON_SCRIPT_PATH, content=COMMON_SCRIPT.encode(), mode=0o755),
        )


class NetworkDelivery(Value, frozen=True, kw_only=True):
    """What an image carries so that a host configures itself before the agent starts."""

    files: tuple[HostFile, ...]
    unit_name: str
    unit: str


def require_valid(network: HostNetwork, document: object, *, position: int) -> None:
    """Check one host; `document` is its parsed YAML. Raises Invalid naming host, interface and way out."""
    host = f"Static network configuration {position + 1}"
    mapped = network.mac_interface_map
    if not mapped:
        raise Invalid(f"{host} maps no MAC address to an interface. Add at least one entry to mac_interface_map.")
    for entry in mapped:
        if not is_mac_address(entry.mac_address):
            raise Invalid(f"{host}: {entry.mac_address!r} is not a MAC address like 02:00:00:80:12:14.")
        if not entry.logical_nic_name:
            raise Invalid(f"{host}: MAC address {entry.mac_address} is mapped to an empty interface name.")
    require_unique(host, "MAC address", [entry.mac_address.lower() for entry in mapped])
    require_unique(host, "interface name", [entry.logical_nic_name for entry in mapped])
    if not is_mapping(document):
        raise Invalid(f"{host}: network_yaml is not a YAML mapping. Describe the host as nmstate does.")
    if unmapped := unmapped_names(network, document):
        raise Invalid(
            f"{host}: no MAC address is mapped to {', '.join(unmapped)}. Add each to mac_interface_map, "
            "or give the interface `identifier: mac-address`."
        )


def require_unique(host: str, what: str, values: Sequence[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise Invalid(f"{host}: {what} {value} appears twice in mac_interface_map. Keep one of them.")


def unmapped_names(network: HostNetwork, document: object) -> list[str]:
    """Sorted, each once."""
    names = {entry.logical_nic_name for entry in network.mac_interface_map}
    return sorted(set(unmapped_interfaces(mapping(document), names)))


def unmapped_interfaces(document: Document, mapped: set[str]) -> Iterator[str]:
    """Ethernet interfaces and bond ports that nothing ties to a network card."""
    interfaces = [mapping(one) for one in sequence(document.get("interfaces"))]
    self_identified = {str(one.get("name")) for one in interfaces if one.get("identifier") == "mac-address"}
    tied = mapped | self_identified
    for interface in interfaces:
        if interface.get("type") == "ethernet":
            wanted = [interface.get("name")]
        elif interface.get("type") == "bond":
            ports = mapping(interface.get("link-aggregation"))
            wanted = [*sequence(ports.get("port")), *sequence(ports.get("slaves"))]
        else:
            continue
        yield from (str(name) for name in wanted if str(name) not in tied and PREDICTABLE.match(str(name)) is None)


def policy(network: HostNetwork, document: Document) -> Document:
    """The description as nmstate's policy language has it: interfaces are captured by MAC, names are looked up."""
    captures = {f"iface{index}": entry for index, entry in enumerate(network.mac_interface_map)}
    lookups = {
        entry.logical_nic_name: f"{{{{ capture.{name}.interfaces.0.name }}}}" for name, entry in captures.items()
    }
    return {
        "capture": {
            name: f'interfaces.mac-address == "{entry.mac_address.upper()}"' for name, entry in captures.items()
        },
        "desiredState": renamed(with_explicit_addressing(document), lookups),
    }


def with_explicit_addressing(document: Document) -> Document:
    """Say out loud that a static interface asks no DHCP server: nmstate would otherwise keep what is there."""
    interfaces = sequence(document.get("interfaces"))
    if not interfaces:
        return document
    return {**document, "interfaces": [static_interface(mapping(one)) for one in interfaces]}


def static_interface(interface: Document) -> Document:
    changed = dict(interface)
    for family, defaults in (("ipv4", {"dhcp": False}), ("ipv6", {"dhcp": False, "autoconf": False})):
        if is_mapping(interface.get(family)):
            changed[family] = {**defaults, **mapping(interface[family])}
    return changed


def renamed(value: object, lookups: Mapping[str, str]) -> object:
    if is_mapping(value):
        return {key: item if key in WORDS else renamed(item, lookups) for key, item in mapping(value).items()}
    if is_sequence(value):
        return [renamed(item, lookups) for item in sequence(value)]
    return lookups.get(value, value) if isinstance(value, str) else value


def applied_by(openshift_version: str) -> AppliedBy:
    """A version nobody knows is taken for an old one: connections work everywhere."""
    newer = bool(openshift_version) and at_least(openshift_version, NMSTATE_FROM)
    return AppliedBy.NMSTATE if newer else AppliedBy.KEYFILES


def described_network(networks: Sequence[HostNetwork], documents: Sequence[Document]) -> StaticNetwork:
    """One folder per host for OpenShift 4.18 and later, where nmstate applies the description on the host."""
    files: list[HostFile] = []
    for index, (network, document) in enumerate(zip(networks, documents, strict=True)):
        described = to_text(policy(network, document))
        files += [mac_table(network, index), _file(index, f"ymlFile{index}.yml", described)]
    return StaticNetwork(files=tuple(files), applied_by=AppliedBy.NMSTATE)


def connected_network(networks: Sequence[HostNetwork], keyfiles: Sequence[Sequence[Keyfile]]) -> StaticNetwork:
    """One folder per host for OpenShift before 4.18; `keyfiles` are what nmstate made of each description."""
    files: list[HostFile] = []
    for index, (network, connections) in enumerate(zip(networks, keyfiles, strict=True)):
        files.append(mac_table(network, index))
        for one in sorted(map(require_plain_name, connections)):
            files.append(_file(index, one.name, connecting_by_itself(one.content)))
    return StaticNetwork(files=tuple(files), applied_by=AppliedBy.KEYFILES)


def mac_table(network: HostNetwork, index: int) -> HostFile:
    lines = sorted(f"{entry.mac_address.upper()}={entry.logical_nic_name}\n" for entry in network.mac_interface_map)
    return _file(index, "mac_interface.ini", "".join(lines))


def _file(index: int, name: str, content: str) -> HostFile:
    return HostFile(path=f"{FOLDER}/host{index}/{name}", content=content.encode(), mode=SECRET_MODE)


def full_iso_delivery(network: StaticNetwork) -> NetworkDelivery:
    """The hosts' files with the scripts and the unit that make use of them."""
    return NetworkDelivery(
        files=(*network.files, *network.scripts), unit_name=UNIT_NAME, unit=full_iso_unit(network.applied_by)
    )


def network_tar(files: Sequence[HostFile]) -> bytes:
    """The files as an uncompressed tar, for whoever boots the host in a way of their own."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for one in files:
            entry = tarfile.TarInfo(one.path)
            entry.size, entry.mode = len(one.content), one.mode
            archive.addfile(entry, io.BytesIO(one.content))
    return buffer.getvalue()
