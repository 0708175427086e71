"""The installer as a process: settings in, one run through the phases of its role, signals, an exit code out."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.host.actions.action import Unfetched
from firstlight.host.installer.log import FILE, Log
from firstlight.host.installer.memory import Memory
from firstlight.host.installer.pace import Pace
from firstlight.host.installer.phases import flow_of, go
from firstlight.host.installer.reporting import Reporter
from firstlight.host.installer.run import InstallationFailed, Run
from firstlight.host.installer.service import Service
from firstlight.host.installer.settings import InstallerSettings, installer_settings
from firstlight.host.installer.starting import forget_if_told
from firstlight.host.programs import LocalPrograms, host_programs
from firstlight.host.root import Root

BOOTSTRAP: Final = "bootstrap"
FAILED: Final = 1
STOPPED: Final = 143
"""As a shell would say it: ended by SIGTERM."""
FLUSH_SECONDS: Final = 1800.0
STOP_SECONDS: Final = 3.0
"""Podman waits five seconds before it kills."""
BOOT_ID: Final = "/proc/sys/kernel/random/boot_id"


def install(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    settings = installer_settings(arguments, environment)
    root = Root(settings.place.root)
    log = Log(root.path(FILE), secrets=(settings.token,))
    try:
        return asyncio.run(_live(settings, root, log))
    finally:
        log.close()


async def _live(settings: InstallerSettings, root: Root, log: Log) -> int:
    pace = Pace(
        scale=settings.time_scale, stage_seconds=settings.stage_seconds, longest_wait=settings.longest_wait_seconds
    )
    try:
        service = Service(settings, root=root, pace=pace)
    except Unfetched as reason:
        log.error(str(reason))
        return FAILED
    reporter = Reporter(service, log, infra_env_id=settings.infra_env_id, host_id=settings.host_id)
    memory = Memory(
        settings.place.state,
        run=f"{settings.cluster_id} {settings.host_id} {settings.role}",
        boot_id=root.line(BOOT_ID) or "",
    )
    async with service, asyncio.TaskGroup() as background:
        delivering = background.create_task(reporter.deliver(), name="deliver")
        run = Run(
            settings=settings,
            root=root,
            host=host_programs() if settings.place.contained else LocalPrograms(),
            service=service,
            reporter=reporter,
            memory=memory,
            log=log,
            pace=pace,
            background=background,
            tasks=[delivering],
        )
        try:
            return await _until_told(run)
        finally:
            for task in run.tasks:
                task.cancel()


async def _until_told(run: Run) -> int:
    """Exit code of the run; a signal stops it with its children, and what was told is still delivered."""
    installing = asyncio.ensure_future(_install(run))
    told: list[int] = []

    def stop(number: int) -> None:
        told.append(number)
        installing.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        return await installing
    except asyncio.CancelledError:
        if not told:
            raise
        run.log.warning("The installer was told to stop; started again, it goes on from here.")
        last = run.reporter.last
        if last is not None:
            run.tell(last.stage, "The installer was stopped on this host.")
        await run.reporter.flush(limit=STOP_SECONDS)
        return STOPPED


async def _install(run: Run) -> int:
    try:
        await forget_if_told(run)
        await go(run, flow_of(run.settings))
        await run.reporter.flush(limit=run.pace.seconds(FLUSH_SECONDS))
    except InstallationFailed as failure:
        return await _fail(run, str(failure))
    except OSError as reason:
        return await _fail(run, f"The installer cannot work on this host: {reason}.")
    except Exception as reason:
        run.log.failure("The installer met something nobody foresaw.", reason)
        return await _fail(run, f"The installer met something nobody foresaw: {type(reason).__name__}: {reason}")
    run.log.info("The installer has done its work.")
    return 0


async def _fail(run: Run, sentence: str) -> int:
    run.log.error(sentence)
    if run.settings.role != BOOTSTRAP:
        # Who tries this host again wants it done from the start. What a bootstrap began goes on without its installer.
        try:
            run.memory.forget()
        except OSError as reason:
            # Perhaps the very reason of the failure, which the user must hear of all the same.
            run.log.warning("What was done so far cannot be struck out.", reason=reason)
    run.tell("Failed", sentence)
    await run.reporter.flush(limit=run.pace.seconds(FLUSH_SECONDS))
    return FAILED
