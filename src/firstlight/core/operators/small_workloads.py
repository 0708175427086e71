"""Operators that ask one core and one GiB of every host: migration toolkit and sandboxed containers."""

from collections.abc import Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.machines import CLUSTER_IS_FINE, X86_ONLY, has_room, too_old, wrong_architecture
from firstlight.core.operators.spec import (
    NOTHING,
    Candidate,
    ClusterRule,
    Document,
    Group,
    HostRule,
    Membership,
    Need,
    OperatorSpec,
    Preflight,
    Setting,
)
from firstlight.core.rules import Verdict
from firstlight.core.versions.feature_ids import FeatureId

OWN_NEED: Final = Need(cpu_cores=1, ram_mib=1024)
MIGRATION: Final = "Migration Toolkit for Virtualization"
SANDBOXES: Final = "OpenShift sandboxed containers"


def need(candidate: Candidate, _setting: Setting) -> Need:
    return NOTHING if candidate.host.effective_role is HostRole.ARBITER else OWN_NEED


def preflight(_setting: Setting) -> Preflight:
    return Preflight(master=OWN_NEED, worker=OWN_NEED)


def room_for(title: str) -> HostRule:
    def rule(candidate: Candidate, setting: Setting) -> Verdict:
        return has_room(candidate, need=need(candidate, setting), title=title)

    return rule


def on_x86_since(title: str, version: str) -> ClusterRule:
    def rule(_hosts: Sequence[HostState], setting: Setting) -> Verdict:
        refused = wrong_architecture(setting, title=title, allowed=X86_ONLY)
        return refused or too_old(setting, title=title, since=version) or CLUSTER_IS_FINE

    return rule


def forklift(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    controller = {
        "apiVersion": "forklift.konveyor.io/v1beta1",
        "kind": "ForkliftController",
        "metadata": {"name": "forklift-controller", "namespace": "openshift-mtv"},
        "spec": {"olm_managed": True},
    }
    return (controller,)


def kata(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    configuration = {
        "apiVersion": "kataconfiguration.openshift.io/v1",
        "kind": "KataConfig",
        "metadata": {"name": "cluster-kataconfig", "namespace": "openshift-sandboxed-containers-operator"},
        "spec": {"enablePeerPods": False, "logLevel": "info"},
    }
    return (configuration,)


MTV: Final = OperatorSpec(
    name="mtv",
    title=MIGRATION,
    feature=FeatureId.MTV,
    namespace="openshift-mtv",
    subscription="mtv-operator",
    timeout_minutes=60,
    dependencies=("cnv",),
    memberships=(Membership(bundle="virtualization"),),
    group=Group(name="migration"),
    need=need,
    preflight=preflight,
    host_rule=room_for(MIGRATION),
    cluster_rule=on_x86_since(MIGRATION, "4.14"),
    resources=forklift,
)
OSC: Final = OperatorSpec(
    name="osc",
    title=SANDBOXES,
    feature=FeatureId.OSC,
    namespace="openshift-sandboxed-containers-operator",
    subscription="sandboxed-containers-operator",
    timeout_minutes=60,
    dependencies=("node-feature-discovery",),
    group=Group(name="sandboxed-containers-operator-group"),
    need=need,
    preflight=preflight,
    host_rule=room_for(SANDBOXES),
    cluster_rule=on_x86_since(SANDBOXES, "4.10"),
    resources=kata,
)
SPECS: Final = (MTV, OSC)
