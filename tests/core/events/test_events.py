"""Events render their sentence, keep their properties, and become rows."""

import string
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from firstlight.core.events.catalogue import METRICS_EVENTS, NAMED_EVENTS, RATE_LIMITS, rate_limits
from firstlight.core.events.cluster import ClusterInstallationFailed, ClustersDeletedForGood, ClusterStatusUpdated
from firstlight.core.events.event import Category, Event, Severity
from firstlight.core.events.host import HostBindFailed, HostRegistered, HostRegistrationFailed, HostStatusUpdated
from firstlight.core.events.metrics import NicSpeed
from firstlight.core.events.recorded import Recorded, record

CLUSTER = UUID("11111111-1111-1111-1111-111111111111")
HOST = UUID("22222222-2222-2222-2222-222222222222")
INFRA_ENV = UUID("33333333-3333-3333-3333-333333333333")
NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)

SAMPLES: dict[str, object] = {"str": "given", "int": 7, "bool": True, "float": 1.5}


def an_event(kind: type[Event]) -> Event:
    """Any event with every field filled."""
    ids = {"cluster_id": CLUSTER, "host_id": HOST, "infra_env_id": INFRA_ENV}
    own = {field.name: SAMPLES[field.type.__name__] for field in fields(kind) if field.name not in ids}
    return kind(**ids, **own)


@pytest.mark.parametrize("kind", [*NAMED_EVENTS, *METRICS_EVENTS], ids=lambda kind: kind.__name__)
def test_every_event_renders_and_stores(kind: type[Event]) -> None:
    event = an_event(kind)
    assert event.message
    assert "{" not in event.message
    assert event.message == event.message.strip()
    row = record(event, now=NOW)
    assert msgspec.json.decode(msgspec.json.encode(row), type=Recorded) == row


@pytest.mark.parametrize("kind", NAMED_EVENTS, ids=lambda kind: kind.__name__)
def test_template_uses_only_own_fields(kind: type[Event]) -> None:
    blanks = {name for _, name, _, _ in string.Formatter().parse(kind.template) if name}
    assert blanks <= {field.name for field in fields(kind)}
    assert kind.category is Category.USER


def test_message_and_props() -> None:
    event = HostRegistered(host_id=HOST, infra_env_id=INFRA_ENV, host_name="worker-{0}")
    assert event.message == "Host worker-{0}: successfully registered"
    assert event.props() == {"host_name": "worker-{0}"}
    assert (event.cluster_id, event.host_id, event.infra_env_id) == (None, HOST, INFRA_ENV)
    assert event.severity is Severity.INFO


def test_text_is_called_message_on_the_wire() -> None:
    event = HostRegistrationFailed(host_id=HOST, infra_env_id=INFRA_ENV, text="no room")
    assert event.message == "no room"
    assert event.props() == {"message": "no room"}
    failed = HostBindFailed(host_id=HOST, infra_env_id=INFRA_ENV, cluster_id=CLUSTER, text="no room")
    assert failed.message == f"Host {HOST} could not be bound to cluster {CLUSTER}: no room"
    assert ClustersDeletedForGood(cluster_id=CLUSTER, text="3 clusters").props() == {"message": "3 clusters"}


@pytest.mark.parametrize(
    ("status", "severity"),
    [
        ("disconnected", Severity.WARNING),
        ("insufficient", Severity.WARNING),
        ("installing-pending-user-action", Severity.WARNING),
        ("error", Severity.ERROR),
        ("known", Severity.INFO),
        ("insufficient-unbound", Severity.INFO),
        ("disconnected-unbound", Severity.INFO),
        ("installed", Severity.INFO),
    ],
)
def test_host_status_severity(status: str, severity: Severity) -> None:
    event = HostStatusUpdated(
        host_id=HOST, infra_env_id=INFRA_ENV, host_name="a", src_status="discovering", new_status=status, info=""
    )
    assert event.severity is severity
    assert event.message == f"Host a: status changed from discovering to {status}"
    assert record(event, now=NOW).severity is severity


def test_only_a_failed_installation_is_critical() -> None:
    assert [kind for kind in NAMED_EVENTS if kind.level is Severity.CRITICAL] == [ClusterInstallationFailed]


def test_metrics_have_no_name_and_a_key_for_message() -> None:
    assert {kind.template for kind in METRICS_EVENTS} == {
        "cluster.installation.results",
        "host.stage.duration",
        "host.mem.cpu",
        "disk.size.type",
        "nic.speed",
        "host_monitor.slow_host",
        "cluster_monitor.slow_cluster",
    }
    assert all(kind.name == "" and kind.category is Category.METRICS for kind in METRICS_EVENTS)
    row = record(NicSpeed(host_id=HOST, infra_env_id=INFRA_ENV, host_result="done", nic_speed=1000), now=NOW)
    assert (row.name, row.message, row.category) == ("", "nic.speed", Category.METRICS)
    assert row.props == {"host_result": "done", "nic_speed": 1000}


def test_an_event_cannot_change() -> None:
    event = HostRegistered(host_id=HOST, infra_env_id=INFRA_ENV, host_name="a")
    with pytest.raises(FrozenInstanceError):
        event.host_name = "b"


def test_a_property_must_be_given() -> None:
    with pytest.raises(TypeError, match="host_name"):
        HostRegistered(host_id=HOST, infra_env_id=INFRA_ENV)


def test_recorded_row() -> None:
    event = ClusterStatusUpdated(cluster_id=CLUSTER, cluster_status="ready", status_info="Ready to install")
    row = record(
        event, now=NOW, actor="admin", request_id=HOST, before={"status": "insufficient"}, after={"status": "ready"}
    )
    assert msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(row, seq=9))) == {
        "seq": 9,
        "event_time": "2026-08-01T12:00:00Z",
        "name": "cluster_status_updated",
        "severity": "info",
        "message": "The cluster is now ready: Ready to install",
        "props": {"cluster_status": "ready", "status_info": "Ready to install"},
        "cluster_id": str(CLUSTER),
        "request_id": str(HOST),
        "actor": "admin",
        "before": {"status": "insufficient"},
        "after": {"status": "ready"},
    }


def test_rate_limits() -> None:
    hour = timedelta(hours=1)
    assert dict(RATE_LIMITS) == {
        "upgrade_agent_started": hour,
        "upgrade_agent_finished": hour,
        "upgrade_agent_failed": hour,
    }
    merged = rate_limits({"upgrade_agent_failed": timedelta(minutes=5), "host_deregistered": 2 * hour})
    assert merged["upgrade_agent_failed"] == timedelta(minutes=5)
    assert merged["upgrade_agent_started"] == hour
    assert merged["host_deregistered"] == 2 * hour
