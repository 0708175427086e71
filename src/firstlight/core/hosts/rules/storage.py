"""Disks: whether there is one to install to, and whether the chosen one will do."""

from firstlight.core.hosts.disks import ISCSI, MULTIPATH, disk_named, eligible_disks, installable_types, paths_of
from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_INVENTORY, NO_MACHINE_NETWORK, change_host, is_day_two, refused
from firstlight.core.hosts.rules.platform import VMWARE
from firstlight.core.model.inventory import Disk, Interface, Inventory
from firstlight.core.model.reports import ReportKind
from firstlight.core.network.addresses import address_of, in_networks
from firstlight.core.rules import SUPPRESSED, Fix, Verdict, errored, passed, pending


def has_min_valid_disks(facts: HostFacts) -> Verdict:
    inventory = facts.reports.inventory
    if inventory is None:
        return NO_INVENTORY
    if not inventory.disks:
        return errored("The inventory of the host lists no disk at all.", cause="no-disks")
    if any(verdict.eligible for verdict in facts.disks):
        return passed("The host has a disk to install to.")
    problems = {verdict.id: verdict.problems for verdict in facts.disks}
    reasons = [
        f"{disk.path or disk.id}: {' '.join((*disk.refusals, *problems.get(disk.id, ())))}" for disk in inventory.disks
    ]
    return refused(
        facts,
        f"The host has no disk to install to. At least {facts.requirements.disk_size_gb} GB on a drive of a supported"
        " type are needed.",
        cause="no-eligible-disk",
        evidence={"needed_gb": facts.requirements.disk_size_gb, "disks": reasons},
    )


def sufficient_installation_disk_speed(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    names = [name for name in (facts.host.installation_disk_id, facts.host.installation_disk_path) if name]
    if not names:
        return errored("No installation disk is chosen, so its speed cannot be judged.", cause="no-installation-disk")
    measured = facts.reports.disk_speeds or {}
    speed = next((measured[name] for name in names if name in measured), None)
    if speed is None:
        return passed("The speed of the installation disk has not been measured yet.")
    if speed.exit_code == 0:
        return passed("The speed of the installation disk has been measured.")
    told = f": {speed.error.rstrip('.')}" if speed.error else " in an earlier attempt"
    return refused(
        facts,
        f"Measuring the speed of the installation disk {names[0]} failed{told}. Check the disk or choose another one.",
        cause="disk-speed-not-measured",
        kind=ReportKind.DISK_SPEEDS,
        evidence={"disk": names[0], "exit_code": speed.exit_code},
        fixes=_other_disk(facts, facts.reports.inventory),
    )


def vsphere_disk_uuid_enabled(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    inventory = facts.reports.inventory
    if inventory is None:
        return NO_INVENTORY
    if inventory.vendor is None or inventory.vendor.manufacturer != VMWARE:
        return SUPPRESSED
    if not inventory.disks:
        return pending("The host has not reported any disk yet.", cause="no-disks")
    types = installable_types(inventory.cpu.architecture, version=cluster.openshift_version)
    candidates = [disk for disk in eligible_disks(inventory.disks, facts.disks) if disk.drive_type in types]
    nameless = [disk.path or disk.id for disk in candidates if not disk.has_uuid]
    if not nameless:
        return passed("The disks show their UUIDs.")
    return refused(
        facts,
        "The virtual machine hides the UUIDs of its disks. Set disk.EnableUUID to TRUE in its advanced settings in"
        " vSphere and start it again.",
        cause="disk-uuid-hidden",
        evidence={"disks": nameless},
    )


def no_skip_installation_disk(facts: HostFacts) -> Verdict:
    chosen = {facts.host.installation_disk_id, facts.host.installation_disk_path} - {""}
    kept = sorted(chosen.intersection(facts.host.skip_formatting_disks))
    if not kept:
        return passed("The installation disk may be formatted.")
    return refused(
        facts,
        f"The installation disk {kept[0]} is among the disks that must not be formatted. Allow that, or choose another"
        " installation disk.",
        cause="installation-disk-kept",
        evidence={"disk": kept[0]},
        fixes=(_allow_formatting(kept), *_other_disk(facts, facts.reports.inventory)),
    )


def no_skip_missing_disk(facts: HostFacts) -> Verdict:
    inventory = facts.reports.inventory
    if inventory is None:
        return NO_INVENTORY
    present = {disk.id for disk in inventory.disks}
    missing = [disk_id for disk_id in facts.host.skip_formatting_disks if disk_id not in present]
    if not missing:
        return passed("All disks that must not be formatted are present.")
    return refused(
        facts,
        f"Disks that must not be formatted are no longer there: {', '.join(missing)}. They may have got other names and"
        " would be wiped. Take them off the list, or attach them again.",
        cause="kept-disk-missing",
        evidence={"missing": missing},
        fixes=(_allow_formatting(missing),),
    )


def no_iscsi_nic_belongs_to_machine_cidr(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if (
        cluster is None
        or (cluster.user_managed_networking and not cluster.is_single_node)
        or cluster.imported
        or is_day_two(facts)
    ):
        return SUPPRESSED
    inventory = facts.reports.inventory
    if inventory is None:
        return NO_INVENTORY
    disk = disk_named(inventory.disks, facts.host.installation_disk_id, facts.host.installation_disk_path)
    paths = [] if disk is None else _iscsi_paths(disk, inventory)
    if not paths:
        return SUPPRESSED
    if not cluster.machine_networks:
        return NO_MACHINE_NETWORK
    for path in paths:
        interface = _interface_with(path.iscsi_host_ip, inventory)
        if interface is None:
            return errored(
                f"The interface through which {path.path or path.id} is reached ({path.iscsi_host_ip or 'no address'})"
                " is not in the inventory.",
                cause="iscsi-interface-unknown",
            )
        if any(in_networks(address, cluster.machine_networks) for address in interface.addresses):
            return refused(
                facts,
                f"The installation disk is reached through {interface.name}, which is in a machine network. Reach iSCSI"
                " disks through an interface of their own: the network of the cluster is set up anew during the"
                " installation.",
                cause="iscsi-in-machine-network",
                evidence={"interface": interface.name, "addresses": list(interface.addresses)},
            )
    return passed("The installation disk is reached outside the machine networks.")


def _iscsi_paths(disk: Disk, inventory: Inventory) -> list[Disk]:
    if disk.drive_type == ISCSI:
        return [disk]
    paths = paths_of(disk, inventory.disks) if disk.drive_type == MULTIPATH else []
    return [path for path in paths if path.drive_type == ISCSI]


def _interface_with(text: str, inventory: Inventory) -> Interface | None:
    address = address_of(text)
    if address is None:
        return None
    return next((found for found in inventory.interfaces if address in map(address_of, found.addresses)), None)


def _other_disk(facts: HostFacts, inventory: Inventory | None) -> tuple[Fix, ...]:
    chosen = {facts.host.installation_disk_id, facts.host.installation_disk_path}
    for disk in eligible_disks(() if inventory is None else inventory.disks, facts.disks):
        if not chosen & {disk.id, disk.path} and disk.id not in facts.host.skip_formatting_disks:
            body = [{"id": disk.id, "role": "install"}]
            return (change_host(f"Install to {disk.path or disk.id}", disks_selected_config=body),)
    return ()


def _allow_formatting(disk_ids: list[str]) -> Fix:
    body = [{"disk_id": disk_id, "skip_formatting": False} for disk_id in disk_ids]
    return change_host("Allow formatting", disks_skip_formatting=body)
