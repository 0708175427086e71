"""The way of each kind of host through its installation: named phases in order, each behind it once it has ended.

A phase that was cut off begins again, and every phase is written so that this does no harm.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from firstlight.host.installer.boot_order import set_boot_order
from firstlight.host.installer.bootstrap import (
    bring_controller,
    fetch_bootstrap,
    lay_over,
    let_masters_in,
    name_host,
    overlay_node_image,
    restart_network,
    start_services,
)
from firstlight.host.installer.cleaning import clean_disk, format_disks
from firstlight.host.installer.existing_root import install_beside
from firstlight.host.installer.ignitions import fetch_ignition, merge_single_node
from firstlight.host.installer.leaving import leave, send_logs
from firstlight.host.installer.registry_copy import copy_registry
from firstlight.host.installer.run import INSTALL_FOLDER, Run
from firstlight.host.installer.settings import InstallerSettings
from firstlight.host.installer.skip_reboot import skip_mco_reboot
from firstlight.host.installer.waits import (
    PREPARE_CLIENT,
    prepare_client,
    wait_for_bootkube,
    wait_for_controller,
    wait_for_etcd,
    wait_for_late_workers,
    wait_for_machine_configs,
    wait_for_masters,
    wait_for_two_masters,
)
from firstlight.host.installer.watching import watch_ignition
from firstlight.host.installer.writing import write_image


class Phase(Struct, frozen=True, kw_only=True):
    name: str
    act: Callable[[Run], Awaitable[None]]
    of_disk: bool = False
    """Done only for the disk it was done on: another installation disk needs it anew."""
    every_start: bool = False
    """Begins something that ends with the process."""

    def key(self, settings: InstallerSettings) -> str:
        return f"{self.name} {settings.boot_device}" if self.of_disk else self.name


async def announce(run: Run) -> None:
    run.tell("Starting installation", run.settings.role)


async def make_folder(run: Run) -> None:
    await run.must("mkdir", "-p", INSTALL_FOLDER)


async def announce_installing(run: Run) -> None:
    run.tell("Installing", run.settings.role if run.settings.is_single_node else run.node_role)


async def watch_others(run: Run) -> None:
    async def watch() -> None:
        try:
            await watch_ignition(run)
        except Exception as reason:
            # It only tells about others: the installation of this host goes on without it.
            run.log.failure("The other hosts are no longer watched.", reason)

    run.tasks.append(run.background.create_task(watch(), name="watch-ignition"))


async def write(run: Run) -> None:
    await (install_beside if run.settings.coreos_image else write_image)(run)


START: Final = (
    Phase(name="format-disks", act=format_disks),
    Phase(name="announce", act=announce),
    Phase(name="clean-disk", act=clean_disk, of_disk=True),
    Phase(name="make-folder", act=make_folder),
)
INSTALLING: Final = Phase(name="installing", act=announce_installing)
FETCH_BOOTSTRAP: Final = Phase(name="fetch-bootstrap-ignition", act=fetch_bootstrap)
LAY_OVER: Final = Phase(name="lay-over-bootstrap", act=lay_over)
NAME_HOST: Final = Phase(name="name-host", act=name_host)
SERVICES: Final = (
    Phase(name="bring-controller", act=bring_controller),
    Phase(name="overlay-node-image", act=overlay_node_image),
    Phase(name="start-services", act=start_services),
)
WRITE: Final = Phase(name="write-image", act=write, of_disk=True)
SKIP_REBOOT: Final = Phase(name="skip-machine-config-reboot", act=skip_mco_reboot, of_disk=True)
BOOT_ORDER: Final = Phase(name="set-boot-order", act=set_boot_order, of_disk=True)
COPY_REGISTRY: Final = Phase(name="copy-registry", act=copy_registry, of_disk=True)
END: Final = (Phase(name="send-logs", act=send_logs), Phase(name="reboot", act=leave))
FETCH: Final = Phase(name="fetch-ignition", act=fetch_ignition)

BOOTSTRAP: Final = (
    *START,
    FETCH_BOOTSTRAP,
    LAY_OVER,
    Phase(name="ssh-key", act=let_masters_in),
    NAME_HOST,
    Phase(name="restart-network", act=restart_network),
    *SERVICES,
    Phase(name="watch-other-hosts", act=watch_others, every_start=True),
    INSTALLING,
    FETCH,
    WRITE,
    SKIP_REBOOT,
    BOOT_ORDER,
    COPY_REGISTRY,
    Phase(name=PREPARE_CLIENT, act=prepare_client, every_start=True),
    Phase(name="wait-for-masters", act=wait_for_masters),
    Phase(name="wait-for-bootkube", act=wait_for_bootkube),
    Phase(name="wait-for-etcd", act=wait_for_etcd),
    Phase(name="wait-for-controller", act=wait_for_controller),
    Phase(name="wait-for-late-workers", act=wait_for_late_workers),
    Phase(name="wait-for-machine-configs", act=wait_for_machine_configs),
    *END,
)
MASTER: Final = (*START, INSTALLING, FETCH, WRITE, SKIP_REBOOT, BOOT_ORDER, COPY_REGISTRY, *END)
WORKER: Final = (
    *START,
    INSTALLING,
    FETCH,
    WRITE,
    Phase(name="wait-for-control-plane", act=wait_for_two_masters),
    SKIP_REBOOT,
    BOOT_ORDER,
    *END,
)
SINGLE_NODE: Final = (
    *START,
    INSTALLING,
    FETCH_BOOTSTRAP,
    LAY_OVER,
    NAME_HOST,
    *SERVICES,
    Phase(name="wait-for-bootkube", act=wait_for_bootkube),
    Phase(name="merge-ignition", act=merge_single_node),
    WRITE,
    BOOT_ORDER,
    COPY_REGISTRY,
    *END,
)


def flow_of(settings: InstallerSettings) -> tuple[Phase, ...]:
    """Day-2 hosts take the way of their role; a cluster that runs already keeps none of them waiting."""
    if settings.is_single_node:
        return SINGLE_NODE
    return {"bootstrap": BOOTSTRAP, "worker": WORKER}.get(settings.role, MASTER)


async def go(run: Run, phases: tuple[Phase, ...]) -> None:
    """From where an earlier start was cut off to the end. Raises `InstallationFailed`."""
    done = frozenset(run.memory.done)
    for phase in phases:
        key = phase.key(run.settings)
        if key in done and (not phase.every_start or phases[-1].key(run.settings) in done):
            continue
        run.log.info("A phase begins.", phase=phase.name, again="yes" if run.memory.begun == key else "")
        run.memory.begin(key)
        await phase.act(run)
        run.memory.finish(key)
