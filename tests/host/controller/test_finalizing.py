"""The last part of an installation against a service that keeps score: order, restarts, limits and the final word."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firstlight.host.controller.documents import ClusterDocument, ClusterProgress
from firstlight.host.controller.finalizing import ORDER, Finalizing
from firstlight.host.controller.objects import (
    Capabilities,
    ClusterOperator,
    Condition,
    ConfigMap,
    Metadata,
    OperatorState,
)
from firstlight.host.controller.operators import TIMED_OUT
from firstlight.host.controller.site import INGRESS_NAME, Site
from tests.host.agent.scripted import Asked, Said, Script, document
from tests.host.controller.sites import CLUSTER, site_at

pytestmark = pytest.mark.anyio
PATH = f"/api/assisted-install/v2/clusters/{CLUSTER}"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Score:
    """A service: operators as they were reported, stages in their order, and what else it was told."""

    def __init__(self, *, olm: bool = False, late: frozenset[str] = frozenset()) -> None:
        self.operators: dict[str, Any] = {
            "console": {"name": "console", "operator_type": "builtin"},
            "cvo": {"name": "cvo", "operator_type": "builtin"},
        }
        if olm:
            where = {"namespace": "storage", "subscription_name": "lvms"}
            self.operators["lvm"] = {"name": "lvm", "operator_type": "olm", "status": "progressing", **where}
        self.stages: list[str] = []
        self.late = late
        self.ingress: list[str] = []
        self.completions: list[Any] = []
        self.site: Site | None = None

    def __call__(self, asked: Asked) -> Said:
        path = asked.path.removeprefix(PATH)
        if path == "/monitored-operators":
            if asked.method == "PUT":
                self.operators[asked.json()["name"]] |= asked.json()
            return document(list(self.operators.values()))
        if path == "/progress":
            self.reach(asked.json()["finalizing_stage"])
        elif path == "/uploads/ingress-cert":
            self.ingress.append(asked.json())
        elif path == "/actions/complete-installation":
            self.completions.append(asked.json())
        elif path == "/downloads/files":
            return document([])
        elif path == "/downloads/credentials":
            return document({"reason": "not now"}, status=503)
        return document({})

    def reach(self, stage: str) -> None:
        self.stages.append(stage)
        self.look(stage)

    def look(self, stage: str) -> None:
        assert self.site is not None
        progress = ClusterProgress(finalizing_stage=stage, finalizing_stage_timed_out=stage in self.late)
        cluster = ClusterDocument(id=CLUSTER, status="finalizing", progress=progress)
        self.site.heard(cluster, ())


def an_operator(name: str, *, available: bool = True, capabilities: tuple[str, ...] | None = None) -> ClusterOperator:
    conditions = (Condition(type="Available", status=str(available), message=f"{name} says so"),)
    state = OperatorState(conditions=conditions, capabilities=Capabilities(enabled_capabilities=capabilities))
    return ClusterOperator(metadata=Metadata(name=name), status=state)


async def finalized(
    score: Score, folder: Path, *, at: str = "", console: bool = True, script: Script | None = None
) -> Finalizing:
    """A whole run in a cluster whose operators are there and whose router has a certificate."""
    async with site_at(script or score, folder, check_cluster_version=True) as (site, _):
        score.site = site
        capabilities = None if console else ("Ingress",)
        site.versions.items = {"version": an_operator("version", capabilities=capabilities)}
        site.operators.items = {"console": an_operator("console")} if console else {}
        bundle = ConfigMap(metadata=Metadata(name=INGRESS_NAME), data={"ca-bundle.crt": "PEM"})
        site.ingress.items = {f"openshift-config-managed/{INGRESS_NAME}": bundle}
        finalizing = Finalizing(site)
        score.look(at)
        async with asyncio.timeout(60):
            await finalizing.run()
        return finalizing


async def test_the_whole_order(tmp_path: Path) -> None:
    score = Score()
    finalizing = await finalized(score, tmp_path)
    assert score.stages == [ORDER[0], ORDER[1], ORDER[5]]
    assert score.ingress == ["PEM"]
    assert score.operators["console"]["status"] == "available"
    assert score.operators["cvo"]["status_info"] == "version says so"
    assert score.completions == [{"is_success": True}]
    assert finalizing.completed


async def test_a_service_that_is_away_whenever_something_new_is_asked(tmp_path: Path) -> None:
    """In each stage, each kind of call fails once: none of them may be the last one."""
    score = Score(olm=True, late=frozenset(ORDER[2:5]))
    seen: set[tuple[str, str, int]] = set()

    def moody(asked: Asked) -> Said:
        call = (asked.method, asked.path, len(score.stages))
        if call in seen:
            return score(asked)
        seen.add(call)
        return document({"reason": "starting"}, status=503)

    await finalized(score, tmp_path, script=moody)
    assert score.stages == list(ORDER)
    assert score.completions == [{"is_success": True}]


async def test_a_restarted_controller_tells_no_earlier_stage(tmp_path: Path) -> None:
    score = Score()
    await finalized(score, tmp_path, at=ORDER[1])
    assert score.stages == [ORDER[5]]
    assert score.completions == [{"is_success": True}]


async def test_a_cluster_without_console_does_not_wait_for_it(tmp_path: Path) -> None:
    score = Score()
    await finalized(score, tmp_path, console=False)
    assert "status" not in score.operators["console"]


async def test_an_operator_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    """Its subscription never brings anything; the time of all three stages that wait for it is over."""
    score = Score(olm=True, late=frozenset(ORDER[2:5]))
    await finalized(score, tmp_path)
    assert score.stages == list(ORDER)
    assert (score.operators["lvm"]["status"], score.operators["lvm"]["status_info"]) == ("failed", TIMED_OUT)
    assert score.completions == [{"is_success": True}]


async def test_the_report_of_a_failure(tmp_path: Path) -> None:
    async with site_at(Score(), tmp_path) as (site, _):
        site.operators.items = {"b": an_operator("b", available=False), "a": an_operator("a")}
        report = json.loads(msgspec.json.encode(Finalizing(site).failure("too late")))
    assert (report["is_success"], report["error_info"]) == (False, "too late")
    assert report["data"]["CLUSTER_OPERATORS_REPORT"] == [
        {"name": "a", "status": "available", "status_info": "a says so"},
        {"name": "b", "status": "failed", "status_info": "b says so"},
    ]
