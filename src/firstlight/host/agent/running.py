"""The whole agent, put together: one process that registers, polls, works, and shows what it does."""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.model.fingerprint import HEADER, write_fingerprint
from firstlight.core.wire.offers import Offer
from firstlight.host.actions.action import Action, Done, LogsRequest, Site
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.agent.addresses import address_lines
from firstlight.host.agent.board import Board, Picture
from firstlight.host.agent.capping import MOST_PROGRAMS, CappedPrograms
from firstlight.host.agent.console.screen import consoles_of, show
from firstlight.host.agent.delivering import Delivery
from firstlight.host.agent.diagnosis import diagnose
from firstlight.host.agent.installer import installer_on
from firstlight.host.agent.kept_replies import KeptReplies
from firstlight.host.agent.logs.following import INSTALLER_LOG, follow_installer
from firstlight.host.agent.logs.gathering import Gatherer, Gathering
from firstlight.host.agent.logs.live import send_log
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.media import MediaCheck
from firstlight.host.agent.once import Once
from firstlight.host.agent.polling import Ending, Poller
from firstlight.host.agent.registering import REGISTRATION, Registered, register
from firstlight.host.agent.session import ServiceSession
from firstlight.host.agent.stepping import Stepper
from firstlight.host.collect.identity import fingerprint, host_id
from firstlight.host.collect.lab import Lab
from firstlight.host.collect.view import Network, read_network
from firstlight.host.fetching import fetcher
from firstlight.host.keeping import keep, kept
from firstlight.host.programs import ENTER_HOST, LocalPrograms, Programs, host_programs
from firstlight.host.root import Root
from firstlight.host.settings import AgentSettings

OTHER_IMAGE: Final = 75
"""Exit code: start me again from the image named in the file below."""
NEXT_IMAGE: Final = "next-image"
DIAGNOSIS_PAUSE: Final = 30.0
ADDRESS_PAUSE: Final = 20.0


class Machine(Struct, frozen=True, kw_only=True):
    """Whom the agent speaks for and what it can use; tests give a folder and programs of their own."""

    root: Root
    programs: Programs
    host: Programs
    host_id: UUID
    headers: Mapping[str, str] = {}
    network: Callable[[], Network] = read_network
    lab: Lab | None = None
    actions: Mapping[str, Action] = ACTIONS
    wall_clock: Callable[[], float] = time.time
    """Told to the service. Nothing else depends on it: it may jump."""


def this_machine(settings: AgentSettings, *, lab: Lab | None) -> Machine:
    root = Root(settings.place.root)
    network = read_network()
    slots = asyncio.Semaphore(MOST_PROGRAMS)
    own = CappedPrograms(LocalPrograms(), slots)
    forced = settings.dry_run.host_id if settings.dry_run else None
    return Machine(
        root=root,
        programs=own,
        host=CappedPrograms(host_programs(), slots) if settings.place.contained else own,
        host_id=forced or settings.host_id or host_id(root, network.links, lab=lab),
        headers={HEADER: write_fingerprint(fingerprint(root, network.links, lab=lab))},
        lab=lab,
    )


class Agent:
    def __init__(self, settings: AgentSettings, machine: Machine, log: Log, *, registers: bool = True) -> None:
        """Without `registers` somebody else has done it: the program ends when it would have to."""
        self.settings = settings
        self.machine = machine
        self.log = log
        self._registers = registers
        self._offer = Offer()
        self._taken_up = False
        self._boot_id = machine.root.line("/proc/sys/kernel/random/boot_id") or "unknown"
        self._session = ServiceSession(settings, root=machine.root, fingerprint=machine.headers)
        self._once = Once(settings.place.state, boot_id=self._boot_id)
        self.board = Board(
            Picture(
                service_url=settings.url,
                infra_env_id=settings.infra_env_id,
                host_id=machine.host_id,
                hostname=(machine.root.line("/proc/sys/kernel/hostname") or "").strip(),
                version=settings.agent_version,
            )
        )
        self._delivery = Delivery(
            self._session,
            host_id=machine.host_id,
            once=self._once,
            log=log,
            clock=time.monotonic,
            notes=KeptReplies(settings.place.state, boot_id=self._boot_id, clock=time.monotonic),
        )
        self._stepper = Stepper(
            machine.actions,
            self._site(machine.host_id),
            delivery=self._delivery,
            once=self._once,
            media=MediaCheck(Root(Path("/nowhere")) if settings.dry_run else machine.root),
            log=log,
            told=lambda steps: self.board.change(steps=steps),
        )

    async def run(self) -> int:
        """The exit code. Ends only when it is told to."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._session)
            stack.push_async_callback(self._stepper.stop)
            log_file = self.machine.root.path(INSTALLER_LOG)
            followed = follow_installer(log_file, self.log.tail, secrets=(self.settings.token,))
            for work in (self._watch_addresses(), self._explain_trouble(), followed, *self._consoles()):
                stack.push_async_callback(_end, asyncio.create_task(work))
            return await self._live()

    async def _live(self) -> int:
        known = await self._resumed()
        while True:
            if known is None:
                known = await register(
                    self._session,
                    host_id=self.machine.host_id,
                    infra_env_id=self.settings.infra_env_id,
                    interval=self.settings.interval,
                    board=self.board,
                    log=self.log,
                )
                self._keep(known)
                if self._is_replaced(known):
                    return OTHER_IMAGE
            ending = await self._poll(known)
            self.log.info("Polling has ended.", reason=ending.name.lower())
            if ending is not Ending.REGISTER or not self._registers:
                self.board.change(state="ending")
                return 0
            known = None

    async def _poll(self, known: Registered) -> Ending:
        self._offer = known.offer
        self._delivery.host_id = known.host_id
        self._delivery.memory.forget()
        self._stepper.site = self._site(known.host_id)
        if not self._taken_up:
            self._taken_up = True
            await self._stepper.take_up()
        self.board.change(host_id=known.host_id, short_code=known.offer.short_code)
        poller = Poller(
            self._session,
            delivery=self._delivery,
            stepper=self._stepper,
            board=self.board,
            log=self.log,
            wait_seconds=known.offer.wait_seconds,
            installer_runs=self._installer_runs,
            rebooted=self._is_rebooted,
            clock=time.monotonic,
            wall_clock=self.machine.wall_clock,
        )
        sending = None
        if known.offer.live_log:
            sending = asyncio.create_task(send_log(self._session, self.log.tail, host_id=known.host_id))
        try:
            return await poller.run()
        finally:
            if sending is not None:
                await _end(sending)

    # --- beginnings and ends ------------------------------------------------------------------------------------------

    async def _resumed(self) -> Registered | None:
        """The registration of an earlier life, if registering again would do harm: services take it for a reboot."""
        if not self._registers:
            return Registered(host_id=self.machine.host_id, infra_env_id=self.settings.infra_env_id)
        found = kept(self.settings.place.state / REGISTRATION, Registered)
        if found is None or found.boot_id != self._boot_id or found.infra_env_id != self.settings.infra_env_id:
            return None
        begun = any(step.step_type == "install" for step, _ in self._once.unsettled)
        if begun or self._once.has_succeeded("install") or await self._is_installed():
            self.log.info("This machine is being installed, or is about to reboot: it does not register again.")
            return found
        return None

    async def _is_installed(self) -> bool:
        """Whether an installer runs, or has done its work."""
        found = await installer_on(self.machine.host)
        return found.presence == "running" or (found.presence == "ended" and found.exit_code == 0)

    def _keep(self, known: Registered) -> None:
        try:
            keep(self.settings.place.state / REGISTRATION, replace(known, boot_id=self._boot_id))
        except OSError as reason:
            self.log.warning("The registration could not be noted on this machine.", reason=reason)

    def _is_replaced(self, known: Registered) -> bool:
        """The service wants another image, and whoever started us can start it. Tried once for each image."""
        if not self.settings.place.launched or known.image in ("", self.settings.agent_version):
            return False
        path = self.settings.place.state / NEXT_IMAGE
        try:
            if path.exists() and path.read_text() == known.image:
                return False
            path.write_text(known.image)
        except OSError as reason:
            self.log.warning("The image of the next agent could not be noted.", reason=reason)
            return False
        self.log.info("The service wants another image of the agent.", image=known.image)
        return True

    def _is_rebooted(self) -> bool:
        marker = self.settings.dry_run.reboot_marker if self.settings.dry_run else None
        return marker is not None and marker.exists()

    async def _installer_runs(self) -> bool:
        if "install" in self._stepper.running:
            return True
        return (await installer_on(self.machine.host)).presence == "running"

    # --- what works beside --------------------------------------------------------------------------------------------

    def _site(self, known_as: UUID) -> Site:
        settings, machine = self.settings, self.machine
        return Site(
            root=machine.root,
            programs=machine.programs,
            host=machine.host,
            fetch=fetcher(root=machine.root, environment=settings.proxies),
            service_url=settings.url,
            infra_env_id=settings.infra_env_id,
            host_id=known_as,
            token=settings.token,
            agent_image=settings.agent_version,
            ca_certificate=settings.ca_certificate,
            insecure=settings.insecure,
            proxies=settings.proxies,
            lab=machine.lab,
            dry_run=settings.dry_run,
            gather_logs=self._gather_logs,
        )

    async def _gather_logs(self, request: LogsRequest) -> Done:
        how = Gathering(
            folder=self.machine.root.path("/var/log"),
            temporary=self.machine.root.path("/tmp"),  # noqa: S108 - where the installer's own script works
            enter=ENTER_HOST if self.settings.place.contained else (),
            secrets=(self.settings.token,),
            piece_bytes=self._offer.log_piece_bytes,
        )
        return await Gatherer(self._session, request, how=how, log=self.log).run()

    def _consoles(self) -> tuple[Coroutine[None, None, None], ...]:
        root = self.machine.root
        names = consoles_of(self.settings.place.consoles, root=root)
        if not names:
            return ()
        return (show(self.board, self.log.tail, consoles=names, path=lambda name: str(root.path(name))),)

    async def _watch_addresses(self) -> None:
        while True:
            self.board.change(addresses=address_lines(self.machine.network()))
            await asyncio.sleep(ADDRESS_PAUSE)

    async def _explain_trouble(self) -> None:
        """Look for the reason whenever the service is away or refuses, and at most twice a minute."""
        while True:
            news = self.board.news
            if self.board.picture.trouble:
                try:
                    checks = await diagnose(self.settings, root=self.machine.root, host_id=self.machine.host_id)
                except Exception as reason:  # a page without reasons is better than none
                    self.log.failure("The reason could not be looked for.", reason)
                    checks = ()
                if self.board.picture.trouble and checks != self.board.picture.checks:
                    for check in checks:
                        if check.passed is False:
                            self.log.warning(f"{check.name}: {check.sentence}. {check.fix}")
                    self.board.change(checks=checks)
                await asyncio.sleep(DIAGNOSIS_PAUSE)
            else:
                await news.wait()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def run_until_told(agent: Agent) -> int:
    """Run; SIGTERM and SIGINT end it in order."""
    working = asyncio.ensure_future(agent.run())
    loop = asyncio.get_running_loop()
    for order in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(order, working.cancel)
    try:
        return await working
    except asyncio.CancelledError:
        agent.log.info("The agent was told to end.")
        return 0


def log_folder(settings: AgentSettings) -> Path:
    return settings.place.root / "var/log"
