"""Arguments for the writer of the disk: what the user asked for, what the disk needs, what the network needs."""

from typing import Final

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host import Host
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.inventory import Disk, Interface, Inventory
from firstlight.core.steps.arguments import lies_in
from firstlight.core.steps.decoding import network_around, number_of_address

MAINFRAME_VENDOR: Final = "ibm/s390"
MAINFRAME_GUEST: Final = "KVM/Linux"
MAINFRAME_KEPT: Final = ("rd.neednet", "zfcp.allow_lun_scan", "rd.znet", "rd.dasd", "rd.zfcp")
MAINFRAME_KEPT_ADDRESSES: Final = ("ip", "nameserver")
MAINFRAME_OVERRIDE: Final = "ai.ip_cfg_override=1"


def installer_arguments(
    state: ClusterState, host: Host, *, inventory: Inventory, infra_env: InfraEnv | None
) -> tuple[str, ...]:
    """In this order: the user's, those of a mainframe, those of the disk, those of the network."""
    cluster = state.cluster
    arguments = list(host.installer_args)
    oracle = cluster.platform.type is PlatformType.EXTERNAL and cluster.platform.external_name == "oci"
    told = any(argument.startswith("ip=") for argument in arguments)
    told = told or (cluster.is_day_two and not cluster.machine_networks and not oracle)
    told = _add_mainframe(arguments, inventory) or told
    disk = installation_disk(host, inventory)
    if disk is not None:
        _add_disk(arguments, disk, inventory, told=told)
        told = told or (oracle and disk.drive_type == "iSCSI")
    if infra_env is not None and infra_env.static_network:
        if "--copy-network" not in arguments and "-n" not in arguments:
            arguments.append("--copy-network")
    elif not told:
        _add_network(arguments, inventory, cluster, networks=_machine_networks(state))
    return tuple(arguments)


def installation_disk(host: Host, inventory: Inventory) -> Disk | None:
    names = {host.installation_disk_id, host.installation_disk_path} - {""}
    return next((disk for disk in inventory.disks if names & {disk.id, disk.by_path, disk.path}), None)


def _append(arguments: list[str], kernel_argument: str) -> None:
    if kernel_argument not in arguments:
        arguments += ["--append-karg", kernel_argument]


def _add_mainframe(arguments: list[str], inventory: Inventory) -> bool:
    """Devices of a mainframe exist only as long as the command line names them. True: addresses were taken over too."""
    vendor = inventory.vendor
    if vendor is None or vendor.manufacturer.lower() != MAINFRAME_VENDOR:
        return False
    if vendor.product_name.endswith(MAINFRAME_GUEST):
        return False
    words = inventory.boot.command_line.split()
    override = any(word.lower() == MAINFRAME_OVERRIDE for word in words)
    kept = MAINFRAME_KEPT + (MAINFRAME_KEPT_ADDRESSES if override else ())
    for word in words:
        if word.lower().partition("=")[0] in kept:
            _append(arguments, word)
    return override


def _add_disk(arguments: list[str], disk: Disk, inventory: Inventory, *, told: bool) -> None:
    if disk.drive_type == "Multipath":
        _append(arguments, "rw")
        _append(arguments, "rd.multipath=default")
        for path in inventory.disks:
            if path.drive_type == "iSCSI" and disk.name in path.holders:
                _add_iscsi(arguments, path, inventory, told=told)
    elif disk.drive_type == "iSCSI":
        _add_iscsi(arguments, disk, inventory, told=told)
    elif disk.drive_type == "RAID":
        _append(arguments, "rd.md=1")
        _append(arguments, "rd.auto=1")


def _add_iscsi(arguments: list[str], disk: Disk, inventory: Inventory, *, told: bool) -> None:
    _append(arguments, "rd.iscsi.firmware=1")
    number = number_of_address(disk.iscsi_host_ip)
    if told or number is None:
        return
    for interface in inventory.interfaces:
        if any(number_of_address(address) == number for address in interface.addresses):
            _append(arguments, _dhcp(interface, "dhcp" if number[0] == 4 else "dhcp6"))
            return


def _dhcp(interface: Interface, words: str) -> str:
    return f"ip={interface.mac.replace(':', '-')}:{words}"


def _machine_networks(state: ClusterState) -> tuple[str, ...]:
    """The cluster's; without any, those of the node the others start from."""
    if state.cluster.machine_networks or state.cluster.is_day_two:
        return state.cluster.machine_networks
    for member in state.hosts:
        inventory = member.reports.inventory
        if member.host.bootstrap and inventory is not None:
            found = [network_around(address) for nic in inventory.interfaces for address in nic.addresses]
            versions = (6, 4) if state.cluster.primary_ip_stack == 6 else (4, 6)
            known = [network for network in found if network is not None]
            return tuple(network[0] for version in versions for network in known if network[1] == version)[:1]
    return ()


def _add_network(arguments: list[str], inventory: Inventory, cluster: Cluster, *, networks: tuple[str, ...]) -> None:
    primary = network_around(networks[0]) if networks else None
    if primary is None:
        return
    words = "dhcp" if primary[1] == 4 else "dhcp6"
    if is_dual_stack(cluster):
        words = "dhcp,dhcp6"
    for interface in inventory.interfaces:
        if any(lies_in(address, network=primary) for address in interface.addresses):
            _append(arguments, _dhcp(interface, words))


def is_dual_stack(cluster: Cluster) -> bool:
    lists = (
        cluster.machine_networks,
        cluster.service_networks,
        tuple(network.cidr for network in cluster.cluster_networks),
    )
    return any({":" in cidr for cidr in networks} == {True, False} for networks in lists)
