"""What answers look like once encoded: which keys vanish, which never do."""

import json
from uuid import UUID

import msgspec
import pytest

from firstlight.core import wire

ID = UUID("f1a57e51-0000-4000-8000-000000000001")
STAMP = "2026-11-15T00:00:00.000Z"


def a_host(**changes: object) -> wire.Host:
    host = wire.Host(
        kind="Host",
        id=ID,
        href=f"/api/assisted-install/v2/infra-envs/{ID}/hosts/{ID}",
        status="discovering-unbound",
        status_info="",
        status_updated_at=wire.NEVER,
        stage_started_at=wire.NEVER,
        stage_updated_at=wire.NEVER,
        progress_stages=None,
        logs_collected_at=wire.NEVER,
        logs_started_at=wire.NEVER,
        updated_at=wire.NEVER_STORED,
        created_at=wire.NEVER_STORED,
        deleted_at=None,
        checked_in_at=wire.NEVER,
        registered_at=wire.NEVER,
    )
    return msgspec.structs.replace(host, **changes)


def a_cluster(**changes: object) -> wire.Cluster:
    cluster = wire.Cluster(
        kind="Cluster",
        id=ID,
        href=f"/api/assisted-install/v2/clusters/{ID}",
        image_info=wire.ImageInfo(created_at=wire.NEVER_STORED, expires_at=wire.NEVER),
        api_vips=None,
        ingress_vips=None,
        status="insufficient",
        status_info="Cluster is not ready for install",
        status_updated_at=STAMP,
        hosts=None,
        updated_at=wire.NEVER_STORED,
        created_at=wire.NEVER_STORED,
        deleted_at=None,
        install_started_at=wire.NEVER,
        install_completed_at=wire.NEVER,
        host_networks=None,
        controller_logs_collected_at=wire.NEVER,
        controller_logs_started_at=wire.NEVER,
        monitored_operators=None,
        operator_bundles=None,
        cluster_networks=None,
        service_networks=None,
        machine_networks=None,
        last_installation_preparation=wire.LastInstallationPreparation(),
    )
    return msgspec.structs.replace(cluster, **changes)


def encoded(document: msgspec.Struct) -> dict[str, object]:
    return json.loads(msgspec.json.encode(document))


NULL_WHEN_EMPTY = {
    "api_vips", "ingress_vips", "cluster_networks", "service_networks", "machine_networks", "host_networks", "hosts",
    "monitored_operators", "operator_bundles", "deleted_at",
}  # fmt: skip
CLUSTER_DATES = {
    "controller_logs_collected_at", "controller_logs_started_at", "install_started_at", "install_completed_at",
    "status_updated_at",
}  # fmt: skip
HOST_DATES = {
    "checked_in_at", "logs_collected_at", "logs_started_at", "registered_at", "stage_started_at", "stage_updated_at",
    "status_updated_at",
}  # fmt: skip


def test_an_empty_cluster_has_exactly_what_clients_need() -> None:
    document = encoded(a_cluster())
    always = {"kind", "id", "href", "image_info", "status", "status_info", "created_at", "updated_at"}
    assert set(document) == always | NULL_WHEN_EMPTY | CLUSTER_DATES | {"last-installation-preparation"}
    assert {key for key, value in document.items() if value is None} == NULL_WHEN_EMPTY
    assert document["last-installation-preparation"] == {}
    assert document["install_completed_at"] == "0001-01-01T00:00:00.000Z"
    assert document["created_at"] == "0001-01-01T00:00:00Z"


def test_an_unbound_host_has_no_cluster_key() -> None:
    document = encoded(a_host())
    assert "cluster_id" not in document
    assert "inventory" not in document
    assert set(document) >= HOST_DATES
    assert {key for key, value in document.items() if value is None} == {"progress_stages", "deleted_at"}


@pytest.mark.parametrize(
    "flag",
    [
        "vip_dhcp_allocation",
        "user_managed_networking",
        "schedulable_masters",
        "schedulable_masters_forced_true",
        "imported",
    ],
)
def test_nullable_booleans_are_sent_even_when_false(flag: str) -> None:
    assert encoded(a_cluster(**{flag: False}))[flag] is False
    assert flag not in encoded(a_cluster())


@pytest.mark.parametrize("flag", ["pull_secret_set", "org_soft_timeouts_enabled"])
def test_plain_booleans_vanish_when_false(flag: str) -> None:
    assert flag not in encoded(a_cluster(**{flag: False}))
    assert encoded(a_cluster(**{flag: True}))[flag] is True


@pytest.mark.parametrize(("field", "empty"), [("name", ""), ("control_plane_count", 0), ("ready_host_count", 0)])
def test_empty_values_vanish(field: str, empty: object) -> None:
    assert field not in encoded(a_cluster(**{field: empty}))


def test_a_registered_host_is_a_host_with_a_command() -> None:
    fields = {name: getattr(a_host(), name) for name in wire.Host.__struct_fields__}
    command = wire.NextStepRunnerCommand(args=("{}",), retry_seconds=60)
    document = encoded(wire.HostRegistrationResponse(**fields, next_step_runner_command=command))
    assert document.pop("next_step_runner_command") == {"args": ["{}"], "retry_seconds": 60}
    assert document == encoded(a_host())


def test_an_operator_always_has_its_lists() -> None:
    operator = wire.MonitoredOperator(status_updated_at=wire.NEVER, bundles=None, source_bundles=None, name="cvo")
    assert encoded(operator) == {
        "status_updated_at": wire.NEVER,
        "bundles": None,
        "source_bundles": None,
        "name": "cvo",
    }


def test_an_error_document() -> None:
    error = wire.Error(code="409", href="", id=409, kind="Error", reason="text")
    assert msgspec.json.encode(error) == b'{"code":"409","href":"","id":409,"kind":"Error","reason":"text"}'


def test_dashed_names() -> None:
    ignored = wire.IgnoredValidations(cluster_validation_ids='["all"]', host_validation_ids="[]")
    assert encoded(ignored) == {"cluster-validation-ids": '["all"]', "host-validation-ids": "[]"}
