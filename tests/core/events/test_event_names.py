"""The published catalogue of events, name by name: kind, severity, name, properties other than ids."""

from dataclasses import MISSING, fields
from typing import Final

import pytest

from firstlight.core.events.catalogue import BY_NAME, NAMED_EVENTS
from firstlight.core.events.event import ClusterEvent, Event, HostEvent, InfraEnvEvent

PUBLISHED: Final = """
cluster info after_inactivity_cluster_deregistered
cluster warning api_ingress_vip_timed_out timeout_interval
cluster info api_ingress_vip_updated api_vip ingress_vip
cluster error cancel_install_commit_failed
cluster error cancel_install_start_failed
cluster error cancel_installation_failed error
cluster warning cluster_degraded_OLM_operators_failed failed_operators
cluster error cluster_deregister_failed error
cluster info cluster_deregistered
cluster info cluster_finalizing_stage_updated finalizing_stage
cluster info cluster_installation_canceled
cluster info cluster_installation_completed
cluster critical cluster_installation_failed failure_reason
cluster info cluster_installation_reset
cluster info cluster_logs_uploaded
cluster info cluster_operator_report report
cluster info cluster_operator_status operator_name status status_info
cluster info cluster_prepare_installation_started
cluster info cluster_registration_succeeded cluster_kind
cluster info cluster_status_updated cluster_status status_info
cluster warning cluster_validation_failed failure_message validation_id validation_msg
cluster info cluster_validation_fixed validation_id validation_msg
cluster info clusters_permanently_deleted message
cluster info expired_image_deleted
cluster warning finalizing_stage_timed_out minutes stage
cluster info inactive_clusters_deregistered message
cluster info install_config_applied
cluster warning installation_preparing_timed_out reason
cluster warning prepare_installation_failed error
cluster info proxy_settings_changed
cluster error reset_installation_failed error
cluster info validations_ignored
host warning disk_speed_slower_than_supported fdatasync_duration host_disk
host info host_approved_updated approved_value host_name
host error host_bind_failed message
host info host_bind_succeeded host_name
host info host_boot_logs_uploaded host_name
host info host_bootstrap_set host_name
host error host_cancel_installation_failed error host_name
host info host_deregistered host_name
host info host_discovery_ignition_config_applied host_name
host info host_install_progress_updated event host_name
host info host_installation_cancelled host_name
host info host_installation_reset host_name
host error host_installation_reset_failed error host_name
host info host_installation_started host_name
host info host_installer_args_applied host_name
host info host_logs_uploaded host_name
host error host_media_disconnected
host error host_registration_failed message
host error host_registration_setting_properties_failed
host info host_registration_succeeded host_name
host error host_reset_fetch_failed host_name
host info host_role_updated host_name suggested_role
host error host_set_status_failed error host_name
host warning host_stage_timed_out host_name minutes stage
host info host_status_updated host_name info new_status src_status
host error host_unbind_failed message
host info host_unbind_succeeded host_name
host warning host_validation_failed failure_message host_name validation_id
host info host_validation_fixed host_name validation_id
host info image_status_updated host_name image_status info result
host info quick_disk_format_performed disk_id disk_name host_name
host info quick_disk_format_skipped disk_id disk_name host_name
host info reboots_for_node node_name reboots
host error upgrade_agent_failed agent_image host_name
host info upgrade_agent_finished agent_image host_name
host info upgrade_agent_started agent_image host_name
host info user_required_complete_installation_reset host_name
infra_env info existing_image_reused image_type
infra_env error generate_image_fetch_failed
infra_env error generate_image_format_failed
infra_env error generate_minimal_iso_failed
infra_env info ignition_config_image_generated details
infra_env info image_info_updated details
infra_env error infra_env_deregister_failed error
infra_env info infra_env_deregistered
infra_env info infra_env_registered
infra_env error infra_env_registration_failed error
infra_env error upload_image_failed
"""

ROWS: Final = tuple(tuple(line.split(" ", 3)) for line in PUBLISHED.strip().splitlines())
PARENTS: Final = {"cluster": ClusterEvent, "host": HostEvent, "infra_env": InfraEnvEvent}
IDS: Final = {"cluster_id", "host_id", "infra_env_id"}


def test_same_names() -> None:
    assert len(ROWS) == 80
    assert len(NAMED_EVENTS) == 80
    assert set(BY_NAME) == {row[2] for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2])
def test_same_shape(row: tuple[str, ...]) -> None:
    kind, severity, name, *rest = row
    event = BY_NAME[name]
    assert issubclass(event, PARENTS[kind])
    assert event.level == severity
    assert properties_of(event) == set(rest[0].split() if rest else ())


def properties_of(event: type[Event]) -> set[str]:
    own = [field for field in fields(event) if field.name not in IDS]
    assert all(field.default is MISSING for field in own), "a property must be given"
    return {event.property_names.get(field.name, field.name) for field in own}
