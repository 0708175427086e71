"""The whole inventory: every collector once, into one document that is the same as long as the machine is."""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from firstlight.core import wire
from firstlight.host.collect.bmc import collect_bmc, no_bmc
from firstlight.host.collect.boot import collect_boot
from firstlight.host.collect.cpu import collect_cpu
from firstlight.host.collect.disks import Disks, collect_disks, is_readable, lab_disk
from firstlight.host.collect.gpus import collect_gpus
from firstlight.host.collect.hostname import choose_hostname
from firstlight.host.collect.interfaces import MOST_ROUTES, PHYSICAL, collect_interfaces, collect_routes
from firstlight.host.collect.memory import collect_memory
from firstlight.host.collect.mounts import read_mounts
from firstlight.host.collect.pretending import pretended
from firstlight.host.collect.sectors import bootable_disks
from firstlight.host.collect.tpm import tpm_version
from firstlight.host.collect.truncation import Found, Limits, encode, fit, read_limits
from firstlight.host.collect.vendor import collect_vendor
from firstlight.host.collect.view import View
from firstlight.host.links.rows import MAIN_TABLE

NO_LIMITS: Final = Limits()
BIOS_NAMES: Final = "/usr/sbin/biosdevname"
MOST_BIOS_NAMES: Final = 64
BIOS_NAME_SECONDS: Final = 5.0


async def inventory_document(view: View, arguments: Sequence[str] = ()) -> bytes:
    """The JSON text of the inventory, within the limits that the step's arguments name."""
    return encode(await collect_inventory(view, limits=read_limits(arguments)))


async def collect_inventory(view: View, *, limits: Limits = NO_LIMITS) -> wire.Inventory:
    """What this machine is made of. Reading thousands of small files is done beside the event loop."""
    base, disks, found = await asyncio.to_thread(_read, view, limits)
    vendor, (bmc_v4, bmc_v6), listed, interfaces = await asyncio.gather(
        collect_vendor(view),
        view.bmc.get(lambda: collect_bmc(view)) if view.dry_run is None else no_bmc(),
        _with_what_disks_say(view, disks),
        _with_bios_names(view, base.interfaces or ()),
    )
    whole = replace(
        base, system_vendor=vendor, bmc_address=bmc_v4, bmc_v6address=bmc_v6, disks=listed, interfaces=interfaces
    )
    if view.dry_run is not None:
        whole = pretended(whole, dry_run=view.dry_run)
        found = replace(found, interfaces=len(whole.interfaces or ()))
    return fit(whole, found=found, limits=limits)


def _read(view: View, limits: Limits) -> tuple[wire.Inventory, tuple[wire.Disk, ...], Found]:
    """All that is in files and kernel tables."""
    network = view.network()
    mounts = read_mounts(view.root)
    interfaces, routes = collect_interfaces(view, network), collect_routes(network)
    name = (view.lab.hostname if view.lab else "") or view.root.line("/proc/sys/kernel/hostname") or ""
    if view.lab is None:
        disks = collect_disks(view.root, mounts=mounts, smallest=limits.disk_min_size)
    else:
        own = tuple(lab_disk(view.root, disk) for disk in view.lab.disks)
        disks = Disks(listed=own, found=len(own))
    inventory = wire.Inventory(
        hostname=choose_hostname(name, interfaces),
        cpu=collect_cpu(view),
        memory=collect_memory(view),
        interfaces=interfaces,
        routes=routes,
        boot=collect_boot(view, mounts=mounts or ()),
        gpus=collect_gpus(view),
        tpm_version=tpm_version(view.root),
    )
    main = sum(route.table == MAIN_TABLE for route in network.routes) if len(routes) >= MOST_ROUTES else 0
    return inventory, disks.listed, Found(disks=disks.found, interfaces=len(network.links), routes=main)


async def _with_what_disks_say(view: View, disks: tuple[wire.Disk, ...]) -> tuple[wire.Disk, ...]:
    if view.lab is not None:
        return disks
    bootable, health = await asyncio.gather(
        bootable_disks(view.root, [disk.path for disk in disks if is_readable(disk)]),
        view.health.of(view.programs, disks),
    )
    return tuple(replace(disk, bootable=disk.path in bootable, smart=health.get(disk.path, "")) for disk in disks)


async def _with_bios_names(view: View, interfaces: tuple[wire.Interface, ...]) -> tuple[wire.Interface, ...]:
    """Names by place on the board, from a program that most systems no longer have."""
    if not view.root.exists(BIOS_NAMES):
        return interfaces
    names: dict[str, str] = {}
    for interface in [found for found in interfaces if found.type == PHYSICAL][:MOST_BIOS_NAMES]:
        outcome = await view.programs.run("biosdevname", "-i", interface.name, limit=BIOS_NAME_SECONDS, keep=4_096)
        names[interface.name] = outcome.text.strip() if outcome.succeeded else ""
    return tuple(replace(found, biosdevname=names.get(found.name, "")) for found in interfaces)
