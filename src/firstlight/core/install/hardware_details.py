"""What inspection would find out about a bare-metal host, known already: the cluster need not inspect its own nodes."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from firstlight.core.install.documents import Document, mapping, to_text
from firstlight.core.install.kube_objects import Manifest
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState, hostname_of
from firstlight.core.model.inventory import Disk, Interface, Inventory
from firstlight.core.network.addresses import in_networks, is_dual_stack, version_of

STATUS_ANNOTATION: Final = "baremetalhost.metal3.io/status"
MEBIBYTE: Final = 1024 * 1024


def hardware_of(state: ClusterState) -> dict[str, Document]:
    """Host name → status, for every host whose inventory is known."""
    found = ((host, host.reports.inventory) for host in state.hosts)
    return {
        hostname_of(host.host, host.reports): status(host, inventory, networks=state.cluster.machine_networks)
        for host, inventory in found
        if inventory is not None
    }


def status(host: HostState, inventory: Inventory, *, networks: tuple[str, ...]) -> Document:
    vendor, cpu = inventory.vendor, inventory.cpu
    hardware: Document = {
        "hostname": hostname_of(host.host, host.reports),
        "ramMebibytes": inventory.memory.physical_bytes // MEBIBYTE,
        "cpu": {
            "arch": cpu.architecture,
            "model": cpu.model_name,
            "clockMegahertz": cpu.frequency,
            "flags": list(cpu.flags),
            "count": cpu.count,
        },
        "nics": [entry for interface in inventory.interfaces for entry in cards(interface, networks=networks)],
        "storage": [storage(disk) for disk in inventory.disks],
    }
    if vendor is not None:
        hardware["systemVendor"] = {
            "manufacturer": vendor.manufacturer,
            "productName": vendor.product_name,
            "serialNumber": vendor.serial_number,
        }
    return {"hardware": hardware, "poweredOn": True}


def cards(interface: Interface, *, networks: tuple[str, ...]) -> Iterator[Document]:
    """One entry, or one per family where the cluster uses both."""
    families = (4, 6) if is_dual_stack(networks) else (None,)
    chosen = [address_for(interface, networks=networks, family=family) for family in families]
    for address in dict.fromkeys(one for one in chosen if one) or [""]:
        yield {
            "name": interface.name,
            "model": f"{interface.vendor} {interface.product}".strip(),
            "mac": interface.mac,
            "ip": address,
            "speedGbps": interface.speed_mbps // 1024,
        }


def address_for(interface: Interface, *, networks: tuple[str, ...], family: int | None) -> str:
    """Without prefix length; one inside a machine network is better than the first."""
    known = [address.partition("/")[0] for address in interface.addresses]
    known = [address for address in known if family is None or version_of(address) == family]
    return next((address for address in known if in_networks(address, networks)), known[0] if known else "")


def storage(disk: Disk) -> Document:
    return {
        "name": disk.by_path or disk.path,
        "vendor": disk.vendor,
        "model": disk.model,
        "sizeBytes": disk.size_bytes,
        "wwn": disk.wwn,
        "hctl": disk.hctl,
        "serialNumber": disk.serial,
        "rotational": disk.drive_type == "HDD",
    }


def with_hardware(manifest: Manifest, known: dict[str, Document]) -> Manifest:
    """The manifest of a bare-metal host with what is known of it; any other as it is."""
    document = manifest.documents[0] if len(manifest.documents) == 1 else {}
    metadata = mapping(document.get("metadata"))
    found = known.get(str(metadata.get("name")))
    if document.get("kind") != "BareMetalHost" or found is None:
        return manifest
    annotations = {**mapping(metadata.get("annotations")), STATUS_ANNOTATION: to_text(found)}
    filled: Document = {
        **document,
        "metadata": {**metadata, "annotations": annotations},
        # These machines run the cluster already: its operator must never provision them.
        "spec": {**mapping(document.get("spec")), "externallyProvisioned": True},
    }
    return replace(manifest, content=to_text(filled), documents=(filled,))
