"""What hosts' transitions tell besides the change of status."""

from firstlight.core.events.event import Event
from firstlight.core.events.host import DiskFormatPerformed, DiskFormatSkipped, HostResetNeedsUser
from firstlight.core.hosts.situation import HostSituation
from firstlight.core.hosts.triggers import Identity
from firstlight.core.steps.arguments import saves_partitions
from firstlight.core.steps.occasion import boot_device_of


def disk_formats(facts: HostSituation) -> tuple[Event, ...]:
    """The installation begins: which disks lose their boot sector, and which keep it because the user asked."""
    host, who = facts.host, Identity(facts.host, facts.reports)
    inventory = facts.reports.inventory
    names = {disk.id: disk.name for disk in inventory.disks} if inventory is not None else {}
    spared = {*host.skip_formatting_disks, *((boot_device_of(host),) if saves_partitions(host.installer_args) else ())}
    return tuple(
        (DiskFormatSkipped if disk_id in spared else DiskFormatPerformed)(
            host_id=who.host_id,
            infra_env_id=who.infra_env_id,
            cluster_id=who.cluster_id,
            host_name=who.host_name,
            disk_name=names.get(disk_id, ""),
            disk_id=disk_id,
        )
        for disk_id in host.disks_to_be_formatted
    )


def must_boot_again(facts: HostSituation) -> tuple[Event, ...]:
    """A reset host runs no agent that could reboot it: its user has to."""
    who = Identity(facts.host, facts.reports)
    return (
        HostResetNeedsUser(
            host_id=who.host_id, infra_env_id=who.infra_env_id, cluster_id=who.cluster_id, host_name=who.host_name
        ),
    )
