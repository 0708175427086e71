"""Operators that OLM installs: what their subscriptions came to, the objects that use them, and their failures.

Each operator's objects are applied as soon as that operator is there; none waits for another.
"""

import time
from collections.abc import Sequence
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.wire.words import FinalizingStage
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.controller.applying import apply_text
from firstlight.host.controller.documents import CustomManifest, OperatorDocument
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.objects import Csv, InstallPlan, KubeObject
from firstlight.host.controller.operator_reports import tell_operator
from firstlight.host.controller.operators import TIMED_OUT, Standing, csv_of, csv_standing, is_news, is_settled
from firstlight.host.controller.site import OLM, Site

FAILED_SECONDS: Final = 300.0
"""OLM tries again by itself; what stays failed for so long is failed."""
PATIENCE_LOOKS: Final = 15
APPLYING: Final[FinalizingStage] = "Applying olm manifests"
MARKETPLACE_JOBS: Final = "/apis/batch/v1/namespaces/openshift-marketplace/jobs"


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _JobStatus(msgspec.Struct):
    conditions: tuple[_Condition, ...] | None = None


class _Job(KubeObject, frozen=True, kw_only=True):
    status: _JobStatus = msgspec.field(default_factory=_JobStatus)


class _Jobs(msgspec.Struct):
    items: tuple[_Job, ...] | None = None


class _Plans(msgspec.Struct):
    items: tuple[InstallPlan, ...] | None = None


class Olm:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._applied: set[str] = set()
        self._failed_since: dict[str, float] = {}
        self._manifests: tuple[CustomManifest, ...] | None = None
        self._needs_objects = True
        self.wanted = False
        """Whether there are any, once that is known."""

    def was_too_slow(self, stage: FinalizingStage) -> None:
        """Objects that could not be applied in their time are tried as long as there is time, but not waited for."""
        self._needs_objects = self._needs_objects and stage != APPLYING

    async def is_known(self) -> bool:
        self.wanted = bool(await self._operators())
        return True

    async def is_initialized(self) -> bool:
        """Every subscription installed something. Objects of those that did are applied meanwhile."""
        operators = await self._operators()
        waiting = [one for one in operators if self._csv(one) is None and not is_settled(one)]
        await self._apply(operators)
        if waiting:
            self._site.log.once("olm", f"Waiting for the subscriptions of {_listed(waiting)}.")
            await self._repair(waiting)
        return not waiting

    async def is_applied(self) -> bool:
        """Objects of every operator that runs are applied; those of another come as soon as it does."""
        operators = await self._operators()
        await self._apply(operators)
        return self._has_all_objects(operators)

    async def is_settled(self) -> bool:
        operators = await self._operators()
        await self._apply(operators)
        for operator in operators:
            now = self._standing(operator)
            if is_news(operator, now):
                await tell_operator(self._site, operator.name, now)
        return self._has_all_objects(operators) and all(is_settled(one) for one in await self._operators())

    async def give_up(self) -> bool:
        """What is still on its way when the time is over has failed."""
        for operator in await self._operators():
            if not is_settled(operator):
                await tell_operator(self._site, operator.name, Standing(status="failed", info=TIMED_OUT))
        return True

    # --- pieces -------------------------------------------------------------------------------------------------------

    async def _operators(self) -> list[OperatorDocument]:
        return [one for one in await self._site.service.operators() if one.operator_type == "olm"]

    def _csv(self, operator: OperatorDocument) -> Csv | None:
        site = self._site
        return csv_of(operator, subscriptions=site.subscriptions.items, csvs=site.csvs.items)

    def _standing(self, operator: OperatorDocument) -> Standing:
        csv = self._csv(operator)
        if csv is None or csv.status.phase != "Failed":
            self._failed_since.pop(operator.name, None)
            failed_for = 0.0
        else:
            now = time.monotonic()
            failed_for = now - self._failed_since.setdefault(operator.name, now)
        patience = min(FAILED_SECONDS, PATIENCE_LOOKS * self._site.settings.look_seconds)
        return csv_standing(csv, failed_for=failed_for, patience=patience)

    def _has_all_objects(self, operators: Sequence[OperatorDocument]) -> bool:
        running = {one.name for one in operators if self._standing(one).status == "available"}
        missing = sorted({one.name for key, one in self._keyed() if one.name in running and key not in self._applied})
        if missing and not self._needs_objects:
            self._site.log.once("objects", f"Apply the objects of {', '.join(missing)} by hand; they came too late.")
        return not missing or not self._needs_objects

    def _keyed(self) -> list[tuple[str, CustomManifest]]:
        return [(f"{place}/{one.name}", one) for place, one in enumerate(self._manifests or ())]

    async def _apply(self, operators: Sequence[OperatorDocument]) -> None:
        """What can be applied by now."""
        if self._manifests is None:
            self._manifests = await self._site.service.custom_manifests()
        there = {one.name for one in operators if self._csv(one) is not None}
        names = {one.name for one in operators}
        # What is named after no operator of ours waits for nobody.
        due = [(key, one) for key, one in self._keyed() if one.name in there or one.name not in names]
        due = [(key, one) for key, one in due if key not in self._applied]
        if not due:
            return
        async with await self._site.as_admin() as admin:
            for key, one in due:
                await self._apply_one(admin, key, one)

    async def _apply_one(self, admin: Kube, key: str, manifest: CustomManifest) -> None:
        try:
            count = await apply_text(admin, manifest.content.decode("utf-8", "replace"))
        except (Refused, Unreachable, Invalid) as trouble:
            self._site.log.once(key, f"The objects of {manifest.name} are not applied yet: {trouble}.")
            return
        self._applied.add(key)
        self._site.log.info(f"{count} objects of {manifest.name} are applied.")

    async def _repair(self, waiting: Sequence[OperatorDocument]) -> None:
        """Catalogues that were asked too early leave failed jobs and plans behind, which OLM never repeats."""
        async with await self._site.as_admin() as admin:
            jobs = await admin.find(_Jobs, MARKETPLACE_JOBS)
            for job in (jobs.items if jobs is not None else None) or ():
                if any(one.type == "Failed" and one.status == "True" for one in job.status.conditions or ()):
                    query = {"propagationPolicy": "Background"}
                    await admin.ask("DELETE", f"{MARKETPLACE_JOBS}/{job.metadata.name}", query=query)
                    self._site.log.info(f"The failed job {job.metadata.name} is removed, so that OLM tries again.")
            for operator in waiting:
                await self._remove_failed_plans(admin, operator)

    async def _remove_failed_plans(self, admin: Kube, operator: OperatorDocument) -> None:
        path = f"{OLM}/namespaces/{operator.namespace}/installplans"
        plans = await admin.find(_Plans, path)
        for plan in (plans.items if plans is not None else None) or ():
            owned = any(owner.name == operator.subscription_name for owner in plan.metadata.owner_references)
            if owned and plan.status.phase == "Failed":
                await admin.ask("DELETE", f"{path}/{plan.metadata.name}")
                self._site.log.info(f"The failed plan {plan.metadata.name} is removed, so that OLM tries again.")


def _listed(operators: Sequence[OperatorDocument]) -> str:
    return ", ".join(operator.name for operator in operators)
