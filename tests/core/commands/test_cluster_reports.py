"""Words of the controller: the end, its logs, waived checks."""

import pytest

from firstlight.core.commands.cluster_reports import report_completion, report_logs
from firstlight.core.commands.cluster_waivers import keep_ui_settings, waive
from firstlight.core.decision import Decision
from firstlight.core.errors import Invalid
from firstlight.core.model.host_status import LogsState
from tests.builders.clusters import a_cluster, cluster_state
from tests.builders.moments import EARLIER, NOW


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (
            b'[{"name":"console","status":"failed","status_info":"no route"},{"name":"dns"}]',
            "console failed no route; dns",
        ),
        (b'{"unexpected": 1}', '{"unexpected": 1}'),
        (b"[" * 5000, "[" * 2000),
    ],
)
def test_failed_operators_are_told(report: bytes, told: str) -> None:
    (change,) = report_completion(a_cluster(), operators=report).changes
    assert change.event.name == "cluster_operator_report"
    assert change.event.message.endswith(told)


def test_success_is_no_news() -> None:
    assert report_completion(a_cluster(), operators=None).empty


def test_logs_begin_when_they_are_asked_for() -> None:
    asked = report_logs(a_cluster(), logs=LogsState.REQUESTED, now=NOW).cluster
    assert asked is not None
    assert (asked.logs, asked.controller_logs_started_at) == (LogsState.REQUESTED, NOW)
    known = a_cluster(controller_logs_started_at=EARLIER, logs=LogsState.REQUESTED)
    done = report_logs(known, logs=LogsState.COMPLETED, now=NOW).cluster
    assert done is not None
    assert (done.logs, done.controller_logs_started_at) == (LogsState.COMPLETED, EARLIER)
    assert report_logs(done, logs=LogsState.COMPLETED, now=NOW) == Decision()


@pytest.mark.parametrize(
    ("of_cluster", "of_hosts"),
    [
        *[(name, None) for name in ("api-vips-defined", "ingress-vips-defined", "all-hosts-are-ready-to-install")],
        *[(name, None) for name in ("sufficient-masters-count", "pull-secret-set")],
        *[(None, name) for name in ("connected", "has-inventory", "inventory-not-fully-truncated")],
        *[(None, name) for name in ("machine-cidr-defined", "hostname-unique", "hostname-valid")],
    ],
)
def test_some_checks_cannot_be_waived(of_cluster: str | None, of_hosts: str | None) -> None:
    with pytest.raises(Invalid, match=of_cluster or of_hosts):
        waive(
            cluster_state(),
            of_cluster=("no-cidrs-overlapping", of_cluster) if of_cluster else None,
            of_hosts=("has-min-memory", of_hosts) if of_hosts else None,
            now=NOW,
        )


def test_waiving_replaces_only_the_list_named() -> None:
    state = cluster_state(ignored_host_validations=("has-min-memory",))
    cluster = waive(state, of_cluster=("all",), of_hosts=None, now=NOW).cluster
    assert cluster is not None
    assert (cluster.ignored_cluster_validations, cluster.ignored_host_validations) == (("all",), ("has-min-memory",))
    assert "Validations have been ignored for this cluster" in {usage.name for usage in cluster.usages}
    cleared = waive(cluster_state(cluster=cluster), of_cluster=(), of_hosts=(), now=NOW).cluster
    assert cleared is not None
    assert (cleared.ignored_cluster_validations, cleared.ignored_host_validations) == ((), ())


def test_notes_of_the_user_interface() -> None:
    noted = keep_ui_settings(a_cluster(), settings="AI_UI:x").cluster
    assert noted is not None
    assert noted.ui_settings == "AI_UI:x"
    assert keep_ui_settings(noted, settings="AI_UI:x").empty
