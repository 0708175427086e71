"""One life of the controller: start, loops, and the end that the service tells."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Final

from firstlight.host.controller.bells import Bell
from firstlight.host.controller.departing import live_alone, live_with_departing_service
from firstlight.host.controller.finalizing import Finalizing
from firstlight.host.controller.kube.access import Access, from_kubeconfig, in_cluster
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.log import Log
from firstlight.host.controller.logs import send_last_logs, send_logs_for_ever
from firstlight.host.controller.readiness import cluster_proxies, invoker_of, tell_readiness
from firstlight.host.controller.reboots import Reboots
from firstlight.host.controller.repeating import repeat
from firstlight.host.controller.service import RefusedIt, Service
from firstlight.host.controller.settings import AGENT_INSTALLER, ControllerSettings
from firstlight.host.controller.site import Site
from firstlight.host.controller.tending import tending
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root

OVER: Final = frozenset({"installed", "error", "cancelled", "adding-hosts"})
FAILED: Final = frozenset({"error", "cancelled"})
READY_SECONDS: Final = 1.0
LAST_WORD_SECONDS: Final = 90.0
"""When the cluster is installed, what the controller is about to say is still said."""
FINAL: Final = frozenset({401, 404})
REFUSALS: Final = 3
"""So often in a row is meant seriously: what stands before a service that restarts may say so, too."""
Act = Callable[[], Awaitable[bool]]


class Controller:
    def __init__(self, settings: ControllerSettings, access: Access, *, log: Log, root: Root) -> None:
        self._settings = settings
        self._access = access
        self._log = log
        self._root = root
        self._refusals = 0

    async def run(self) -> None:
        """Ends when the installation does, one way or the other."""
        async with Kube(self._access) as kube:
            proxies: dict[str, str] = {}
            origin: list[str] = []

            async def look_around() -> bool:
                proxies.update(await cluster_proxies(kube))
                origin.append(await invoker_of(kube))
                return True

            await self._until(look_around, about="Reading the cluster's proxies and its origin")
            invoker = origin[-1]
            async with Service(self._settings, root=self._root, proxies=proxies) as service:
                site = Site(self._settings, log=self._log, kube=kube, service=service, invoker=invoker)
                if invoker != AGENT_INSTALLER:
                    await self._live(site)
                elif site.is_single_node:
                    await live_alone(site)
                else:
                    await live_with_departing_service(site)

    async def _live(self, site: Site) -> None:
        finalizing, reboots = Finalizing(site), Reboots(site)
        # Certificates first: without them no node can show a sign of life.
        early: list[Coroutine[None, None, None]] = [watch.run() for watch in site.watched]
        tasks = [asyncio.create_task(one) for one in early]
        try:
            if not await self._become_ready(site):
                return
            last = [asyncio.create_task(one) for one in (finalizing.run(), reboots.run())]
            tasks += [asyncio.create_task(one) for one in (*tending(site), send_logs_for_ever(site))]
            await self._outlook(site)
            status = site.cluster.status if site.cluster is not None else ""
            await self._last_word(site, finalizing, last, status=status)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _become_ready(self, site: Site) -> bool:
        """False when the service does not know the cluster any more."""
        known = True

        async def ready() -> bool:
            nonlocal known
            try:
                return await tell_readiness(site)
            except RefusedIt as refusal:
                if not self.is_over(refusal):
                    raise
                known = False
                return True

        await repeat(ready, about="Becoming ready", bell=Bell(), seconds=READY_SECONDS, log=self._log)
        return known

    async def _outlook(self, site: Site) -> None:
        """Ask the service for ever, until it says how the installation ended or will not talk to us any more."""

        async def look() -> bool:
            try:
                cluster = await site.service.cluster()
                hosts = await site.service.hosts()
            except RefusedIt as refusal:
                if self.is_over(refusal):
                    return True
                raise
            self._refusals = 0
            site.heard(cluster, hosts)
            return cluster.status in OVER

        await self._until(look, about="Looking at the cluster in the service")

    def is_over(self, refusal: RefusedIt) -> bool:
        self._refusals = self._refusals + 1 if refusal.status in FINAL else 0
        if self._refusals >= REFUSALS:
            self._log.warning(f"The installation is given up: {refusal}.")
            return True
        return False

    async def _last_word(
        self, site: Site, finalizing: Finalizing, last: list["asyncio.Task[None]"], *, status: str
    ) -> None:
        failed = status in FAILED
        if status == "installed":
            await asyncio.wait(last, timeout=LAST_WORD_SECONDS)
        for task in last:
            task.cancel()
        await asyncio.gather(*last, return_exceptions=True)
        if status == "error" and finalizing.begun and site.cluster is not None:
            report = finalizing.failure(site.cluster.status_info)
            await asyncio.wait([asyncio.create_task(finalizing.complete(report))], timeout=LAST_WORD_SECONDS)
        self._log.info("The installation is over.", status=status)
        if not status:
            return
        try:
            await send_last_logs(site, failed=failed, root=self._root, programs=LocalPrograms())
        except OSError as trouble:
            # No room for them: another life would not find any either.
            self._log.warning(f"The last logs cannot be sent: {trouble}.")

    async def _until(self, act: Act, *, about: str) -> None:
        await repeat(act, about=about, bell=Bell(), seconds=self._settings.look_seconds, log=self._log)


def run_controller(
    settings: ControllerSettings, environment: Mapping[str, str], *, root: Root, log_file: Path | None
) -> int:
    """The exit code: zero also when the installation failed, because another life would change nothing."""
    log = Log(file=log_file, secrets=(settings.token,))
    given = settings.kubeconfig
    access = (
        in_cluster(environment, root=root) if given is None else from_kubeconfig(given.read_text(), folder=given.parent)
    )

    async def live() -> None:
        task = asyncio.create_task(Controller(settings, access, log=log, root=root).run())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)
        await task

    try:
        asyncio.run(live())
    except asyncio.CancelledError:
        log.info("Somebody ended the controller.")
        return 1
    return 0
