"""The last part of an installation, stage by stage: operators, the router's certificate, OLM, and the word that it is
done. Every stage can be repeated, so a controller that was restarted goes on where the service saw it last."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from firstlight.core import wire
from firstlight.core.wire.words import FinalizingStage
from firstlight.host.controller.documents import OperatorDocument
from firstlight.host.controller.olm import Olm
from firstlight.host.controller.operator_reports import tell_operator
from firstlight.host.controller.operators import CONSOLE, CVO, Standing, console_is_wanted, is_news, standing
from firstlight.host.controller.repeating import TROUBLE, repeat
from firstlight.host.controller.site import INGRESS_NAME, Site

BUNDLE: Final = "ca-bundle.crt"
NAMES: Final = {CVO: "version"}
ORDER: Final[tuple[FinalizingStage, ...]] = (
    "Waiting for cluster operators",
    "Adding router ca",
    "Waiting for olm operators csv initialization",
    "Applying olm manifests",
    "Waiting for olm operators csv",
    "Done",
)
MAY_TIME_OUT: Final = frozenset(ORDER[2:5])


class Finalizing:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._olm = Olm(site)
        self._bell = site.bell()
        for watched in (site.operators, site.versions, site.subscriptions, site.csvs, site.ingress):
            watched.wakes(self._bell)
        self.begun = False
        self.completed = False

    async def run(self) -> None:
        await self._until(self._is_finalizing, about="Waiting for the service to finalize")
        self.begun = True
        await self._stage(ORDER[0], self._builtin_are_available)
        await self._stage(ORDER[1], self._router_ca_is_added)
        await self._until(self._olm.is_known, about="Asking which operators OLM installs")
        if self._olm.wanted:
            await self._stage(ORDER[2], self._olm.is_initialized)
            await self._stage(ORDER[3], self._olm.is_applied)
            await self._stage(ORDER[4], self._olm.is_settled)
            await self._until(self._olm.give_up, about="Giving up on late operators")
        await self._stage(ORDER[5], _nothing_left)
        await self.complete(wire.CompletionParams(is_success=True))

    async def complete(self, report: wire.CompletionParams) -> None:
        """Until the service takes it."""

        async def tell() -> bool:
            await self._site.service.complete(report)
            self.completed = True
            return True

        await self._until(tell, about="Completing the installation")

    def failure(self, info: str) -> wire.CompletionParams:
        """What to complete with when it went wrong: how every operator is."""
        rows = [
            {"name": name, "status": now.status, "status_info": now.info}
            for name, now in ((name, standing(one)) for name, one in sorted(self._site.operators.items.items()))
        ]
        data = {"CLUSTER_OPERATORS_REPORT": msgspec.Raw(msgspec.json.encode(rows))}
        return wire.CompletionParams(is_success=False, error_info=info, data=data)

    # --- stages -------------------------------------------------------------------------------------------------------

    async def _stage(self, stage: FinalizingStage, holds: Callable[[], Awaitable[bool]]) -> None:
        site = self._site

        async def tell() -> bool:
            at = site.cluster.finalizing_stage if site.cluster is not None else ""
            if at in ORDER and ORDER.index(stage) <= ORDER.index(at):
                return True
            await site.service.tell_finalizing(wire.ClusterFinalizingProgress(finalizing_stage=stage))
            return True

        await self._until(tell, about=f"Telling the stage {stage}")

        async def is_over() -> bool:
            cluster = site.cluster
            late = cluster is not None and cluster.finalizing_stage == stage and cluster.stage_timed_out
            try:
                if await holds():
                    return True
            except TROUBLE as trouble:
                if not (late and stage in MAY_TIME_OUT):
                    raise
                site.log.warning(f"The stage {stage} ends in trouble: {trouble}.")
            if late and stage in MAY_TIME_OUT:
                site.log.warning(f"The time for the stage {stage} is over. The installation goes on without.")
                self._olm.was_too_slow(stage)
                return True
            if late:
                site.log.once(stage, f"The time for the stage {stage} is over, but nothing can go on without it.")
            return False

        await self._until(is_over, about=stage)

    async def _until(self, holds: Callable[[], Awaitable[bool]], *, about: str) -> None:
        seconds = self._site.settings.look_seconds
        await repeat(holds, about=about, bell=self._bell, seconds=seconds, log=self._site.log)

    async def _is_finalizing(self) -> bool:
        return self._site.cluster is not None and self._site.cluster.status == "finalizing"

    async def _builtin_are_available(self) -> bool:
        operators = [one for one in await self._site.service.operators() if one.operator_type == "builtin"]
        wanted = [one for one in operators if self._is_wanted(one)]
        for operator in wanted:
            now = self._standing(operator)
            if is_news(operator, now):
                await tell_operator(self._site, operator.name, now)
        # Judged by what the service says now, not by what it was just told.
        names = {one.name for one in wanted}
        waiting = [
            f"{one.name} ({one.status or 'not seen yet'})"
            for one in await self._site.service.operators()
            if one.name in names and one.status != "available"
        ]
        if waiting:
            self._site.log.once("operators", f"Waiting for {', '.join(waiting)}.")
        return not waiting

    def _is_wanted(self, operator: OperatorDocument) -> bool:
        if operator.name == CVO:
            return self._site.settings.check_cluster_version
        if operator.name == CONSOLE:
            return console_is_wanted(self._site.versions.items.get(NAMES[CVO]))
        return True

    def _standing(self, operator: OperatorDocument) -> Standing:
        is_version = operator.name == CVO
        found = self._site.versions.items if is_version else self._site.operators.items
        one = found.get(NAMES.get(operator.name, operator.name))
        return standing(one) if one is not None else Standing(status="progressing")

    async def _router_ca_is_added(self) -> bool:
        found = self._site.ingress.items.get(f"openshift-config-managed/{INGRESS_NAME}")
        bundle = found.data.get(BUNDLE, "") if found is not None else ""
        if not bundle:
            self._site.log.once(INGRESS_NAME, "The router has not published its certificate yet.")
            return False
        await self._site.service.add_ingress_ca(bundle)
        return True


async def _nothing_left() -> bool:
    await asyncio.sleep(0)
    return True
