"""Overrides, the ingress certificate and logs, as decisions."""

import json
from typing import Any

import pytest

from firstlight.core.commands import installation_files as files
from firstlight.core.commands.cluster_waivers import waive
from firstlight.core.commands.manifest_changes import KnownManifest, ManifestName, require_new_name, require_target
from firstlight.core.decision import Decision
from firstlight.core.errors import Invalid
from firstlight.core.install.manifests import Folder
from firstlight.core.model.cluster import Operator
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, OperatorKind
from firstlight.core.model.host_status import LogsState
from firstlight.core.model.policy import Policy
from tests.builders.clusters import a_cluster, cluster_state
from tests.builders.hosts import host_state
from tests.builders.moments import EARLIER, INFRA_ENV_ID, NOW, host_id

KEY = (INFRA_ENV_ID, host_id(1))
OVERRIDE = json.dumps({"networking": {"networkType": "Cilium"}})
IGNITION = json.dumps({"ignition": {"version": "3.1.0"}})


def override(text: str, **cluster: Any) -> Decision:
    return files.override_install_config(cluster_state(**cluster), text, policy=Policy(), now=NOW)


def test_an_override_is_taken_and_only_its_keys_are_told() -> None:
    olm = Operator(name="lso", kind=OperatorKind.OLM)
    decision = override(OVERRIDE, operators=(olm,))
    assert decision.cluster is not None
    assert decision.cluster.install_config_overrides == OVERRIDE
    assert olm in decision.cluster.operators
    assert any(operator.kind is OperatorKind.BUILTIN for operator in decision.cluster.operators)
    (change,) = decision.changes
    assert (change.before, change.after) == ({"keys": []}, {"keys": ["networking"]})


def test_the_same_override_is_nothing_and_an_empty_one_forgets() -> None:
    assert override(OVERRIDE, install_config_overrides=OVERRIDE) == Decision()
    forgotten = override("", install_config_overrides=OVERRIDE).cluster
    assert forgotten is not None
    assert forgotten.install_config_overrides == ""


def test_a_grown_cluster_waits_for_no_operators() -> None:
    decision = override(OVERRIDE, kind=ClusterKind.ADD_HOSTS, status=ClusterStatus.ADDING_HOSTS, operators=())
    assert decision.cluster is not None
    assert decision.cluster.operators == ()


def test_an_unknown_network_type_is_refused() -> None:
    with pytest.raises(Invalid, match="unknown networkType 'Carrier pigeon'"):
        override(json.dumps({"networking": {"networkType": "Carrier pigeon"}}))


@pytest.mark.parametrize("status", sorted(ClusterStatus))
def test_the_ingress_certificate_is_taken_at_the_end(status: ClusterStatus) -> None:
    cluster = a_cluster(status=status)
    if status not in (ClusterStatus.FINALIZING, ClusterStatus.INSTALLED):
        with pytest.raises(Invalid, match="only while it is finalizing"):
            files.complete_kubeconfig(cluster, now=NOW)
        return
    decision = files.complete_kubeconfig(cluster, now=NOW)
    assert decision.cluster is not None
    assert decision.cluster.kubeconfig_complete
    assert files.complete_kubeconfig(decision.cluster, now=NOW) == Decision()


def test_a_host_s_ignition_is_overridden_and_restored() -> None:
    state = host_state(1)
    host = files.override_ignition(state, IGNITION, now=NOW).hosts[KEY]
    assert host.ignition_override == IGNITION
    assert files.override_ignition(host_state(host=host), IGNITION, now=NOW) == Decision()
    assert files.override_ignition(host_state(host=host), "", now=NOW).hosts[KEY].ignition_override == ""
    with pytest.raises(Invalid):
        files.override_ignition(state, '{"ignition": {}}', now=NOW)


def test_every_host_log_is_told() -> None:
    decision = files.take_host_logs(host_state(1, logs_collected_at=EARLIER), now=NOW)
    host = decision.hosts[KEY]
    assert (host.logs, host.logs_collected_at) == (LogsState.COLLECTING, NOW)
    assert [change.event.name for change in decision.changes] == ["host_logs_uploaded"]


def test_only_the_first_controller_log_is_told() -> None:
    first = files.take_controller_logs(a_cluster(), now=EARLIER)
    assert [change.event.name for change in first.changes] == ["cluster_logs_uploaded"]
    assert first.cluster is not None
    second = files.take_controller_logs(first.cluster, now=NOW)
    assert second.changes == ()
    assert second.cluster is not None
    assert second.cluster.controller_logs_collected_at == NOW


@pytest.mark.parametrize("before", sorted(LogsState))
@pytest.mark.parametrize("after", sorted(set(LogsState) - {LogsState.NONE}))
def test_progress_with_logs(before: LogsState, after: LogsState) -> None:
    decision = files.report_host_logs(host_state(1, logs=before, logs_started_at=EARLIER), logs=after, now=NOW)
    if before is after and after is not LogsState.REQUESTED:
        assert decision == Decision()
        return
    host = decision.hosts[KEY]
    assert host.logs is after
    assert host.logs_started_at == (NOW if after is LogsState.REQUESTED else EARLIER)


def test_waiving_what_is_waived_already_is_nothing() -> None:
    state = cluster_state(ignored_host_validations=("all",))
    assert waive(state, of_cluster=None, of_hosts=("all",), now=NOW) == Decision()


def test_manifests_of_the_service_are_its_own() -> None:
    name = ManifestName(Folder.MANIFESTS, "90-site.yaml")
    ours = [KnownManifest(name, is_users=False)]
    with pytest.raises(Invalid, match="writes the manifest"):
        require_new_name(name, ours)
    with pytest.raises(Invalid, match="writes the manifest"):
        require_target(name, ours)
