"""What users and the controller may change about an installation's documents: overrides, certificate, logs."""

import json
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from firstlight.core.clusters.usages import with_usages
from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Invalid
from firstlight.core.events.cluster import ClusterLogsUploaded, InstallConfigApplied
from firstlight.core.events.host import DiscoveryIgnitionApplied, HostLogsUploaded
from firstlight.core.events.own import ClusterChanged, HostChanged
from firstlight.core.hosts.triggers import Identity
from firstlight.core.install import ignition
from firstlight.core.install.documents import mapping
from firstlight.core.install.overrides import parse_override
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import ClusterStatus, OperatorKind
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import LogsState
from firstlight.core.model.policy import Policy
from firstlight.core.operators.catalogue import builtin_operators
from firstlight.core.roles import key_of
from firstlight.core.validate.trust_bundle import check_trust_bundle

NETWORK_TYPES: Final = ("OpenShiftSDN", "OVNKubernetes", "CiscoACI", "Cilium", "Calico", "None", "")
AT_THE_END: Final = frozenset({ClusterStatus.FINALIZING, ClusterStatus.INSTALLED})


def require_override(text: str) -> None:
    """Refuse an override with an unknown key, or whose result no installer would take."""
    document = parse_override(text)
    check_trust_bundle(str(document.get("additionalTrustBundle", "")))
    network_type = mapping(document.get("networking")).get("networkType", "")
    if network_type not in NETWORK_TYPES:
        known = ", ".join(name for name in NETWORK_TYPES if name)
        raise Invalid(f"The install-config override has the unknown networkType {network_type!r}. Use one of {known}.")


def override_install_config(state: ClusterState, text: str, *, policy: Policy, now: datetime) -> Decision:
    """Take an override, or forget it when the text is empty. Values may be secret, so only keys are recorded."""
    require_override(text)
    before = state.cluster
    if before.install_config_overrides == text:
        return Decision()
    cluster = replace(before, install_config_overrides=text, updated_at=now)
    if not cluster.is_day_two:
        chosen = tuple(operator for operator in cluster.operators if operator.kind is OperatorKind.OLM)
        cluster = replace(cluster, operators=(*builtin_operators(cluster, policy), *chosen))
    return Decision(
        cluster=with_usages(cluster, state.hosts),
        changes=(
            Change(
                event=InstallConfigApplied(cluster_id=cluster.id),
                before={"keys": _keys(before.install_config_overrides)},
                after={"keys": _keys(text)},
            ),
        ),
    )


def _keys(text: str) -> list[str]:
    return sorted(mapping(json.loads(text))) if text.strip() else []


def require_end(cluster: Cluster) -> None:
    if cluster.status not in AT_THE_END:
        raise Invalid(
            f"Cluster {cluster.name} is {cluster.status}; its ingress certificate is taken only while it is finalizing "
            "or installed."
        )


def complete_kubeconfig(cluster: Cluster, *, now: datetime) -> Decision:
    """The ingress certificate is part of the kubeconfig from now on."""
    require_end(cluster)
    if cluster.kubeconfig_complete:
        return Decision()
    return Decision(
        cluster=replace(cluster, kubeconfig_complete=True, updated_at=now),
        changes=(
            Change(
                event=ClusterChanged(cluster_id=cluster.id, fields="kubeconfig"),
                before={"kubeconfig_complete": False},
                after={"kubeconfig_complete": True},
            ),
        ),
    )


def override_ignition(state: HostState, text: str, *, now: datetime) -> Decision:
    """Take an override of the host's own Ignition, or forget it when the text is empty."""
    if text.strip():
        ignition.parse(text)
    host = state.host
    if host.ignition_override == text:
        return Decision()
    return Decision(
        hosts={key_of(state): replace(host, ignition_override=text, updated_at=now)},
        changes=(
            Change(
                event=DiscoveryIgnitionApplied(
                    host_id=host.id,
                    infra_env_id=host.infra_env_id,
                    cluster_id=host.cluster_id,
                    host_name=_name(state),
                ),
                before={"overridden": bool(host.ignition_override)},
                after={"overridden": bool(text)},
            ),
        ),
    )


def take_host_logs(state: HostState, *, now: datetime) -> Decision:
    """Logs of a host arrived."""
    host = state.host
    taken = replace(host, logs=LogsState.COLLECTING, logs_collected_at=now)
    event = HostLogsUploaded(
        host_id=host.id, infra_env_id=host.infra_env_id, cluster_id=host.cluster_id, host_name=_name(state)
    )
    return Decision(hosts={key_of(state): taken}, changes=(Change(event=event, after={"logs": taken.logs.value}),))


def take_controller_logs(cluster: Cluster, *, now: datetime) -> Decision:
    """Logs of the controller arrived; it sends them again and again, and only the first time is worth telling."""
    first = cluster.controller_logs_collected_at is None
    taken = replace(cluster, logs=LogsState.COLLECTING, controller_logs_collected_at=now)
    told = Change(event=ClusterLogsUploaded(cluster_id=cluster.id), after={"logs": taken.logs.value})
    return Decision(cluster=taken, changes=(told,) if first else ())


def report_host_logs(state: HostState, *, logs: LogsState, now: datetime) -> Decision:
    """How far a host is with its logs."""
    host = state.host
    if logs is host.logs and logs is not LogsState.REQUESTED:
        return Decision()
    started = now if logs is LogsState.REQUESTED else host.logs_started_at
    event = HostChanged(
        host_id=host.id,
        infra_env_id=host.infra_env_id,
        cluster_id=host.cluster_id,
        host_name=_name(state),
        fields="logs",
    )
    return Decision(
        hosts={key_of(state): replace(host, logs=logs, logs_started_at=started)},
        changes=(Change(event=event, before={"logs": host.logs.value}, after={"logs": logs.value}),),
    )


def _name(state: HostState) -> str:
    return Identity(state.host, state.reports).host_name
