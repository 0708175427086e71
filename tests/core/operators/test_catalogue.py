"""Which operators there are, and how a wish becomes a set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid, NotFound
from firstlight.core.model.cluster import Operator
from firstlight.core.model.cluster_status import OperatorKind, OperatorStatus
from firstlight.core.operators.bundles import bundle_named, bundles_of, list_bundles
from firstlight.core.operators.catalogue import (
    OPERATORS,
    BundleRequest,
    OperatorRequest,
    builtin_operators,
    has_console,
    monitored_operators,
    operator_named,
    resolve,
    supported_names,
    with_dependencies,
)
from firstlight.core.versions.feature_ids import FeatureId
from tests.builders.clusters import a_cluster, a_policy

# name: namespace, subscription, minutes, dependencies
CATALOGUE: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "lso": ("openshift-local-storage", "local-storage-operator", 70, ()),
    "odf": ("openshift-storage", "odf-operator", 30, ("lso",)),
    "cnv": ("openshift-cnv", "hco-operatorhub", 60, ()),
    "lvm": ("openshift-storage", "lvms-operator", 30, ()),
    "mce": ("multicluster-engine", "multicluster-engine", 60, ()),
    "mtv": ("openshift-mtv", "mtv-operator", 60, ("cnv",)),
    "node-feature-discovery": ("openshift-nfd", "nfd", 30, ()),
    "nvidia-gpu": ("nvidia-gpu-operator", "gpu-operator-certified", 30, ("node-feature-discovery",)),
    "amd-gpu": ("openshift-amd-gpu", "amd-gpu-operator", 30, ("node-feature-discovery", "kmm")),
    "kmm": ("openshift-kmm", "kernel-module-management", 30, ()),
    "pipelines": ("openshift-operators", "openshift-pipelines-operator-rh", 30, ()),
    "servicemesh": ("openshift-operators", "servicemeshoperator", 30, ()),
    "serverless": ("openshift-serverless", "serverless-operator", 30, ()),
    "authorino": ("openshift-operators", "authorino-operator", 30, ()),
    "openshift-ai": ("redhat-ods-operator", "rhods-operator", 30, ()),
    "osc": (
        "openshift-sandboxed-containers-operator",
        "sandboxed-containers-operator",
        60,
        ("node-feature-discovery",),
    ),
    "nmstate": ("openshift-nmstate", "kubernetes-nmstate-operator", 60, ()),
    "node-healthcheck": ("openshift-workload-availability", "node-healthcheck-operator", 30, ()),
    "self-node-remediation": ("openshift-workload-availability", "self-node-remediation", 30, ("node-healthcheck",)),
    "fence-agents-remediation": (
        "openshift-workload-availability",
        "fence-agents-remediation",
        30,
        ("node-healthcheck",),
    ),
    "node-maintenance": ("openshift-workload-maintenance", "node-maintenance-operator", 30, ()),
    "kube-descheduler": ("openshift-kube-descheduler-operator", "cluster-kube-descheduler-operator", 30, ()),
    "cluster-observability": (
        "openshift-cluster-observability-operator",
        "cluster-observability-operator",
        30,
        ("openshift-logging",),
    ),
    "openshift-logging": ("openshift-logging", "cluster-logging", 30, ("loki",)),
    "loki": ("openshift-operators-redhat", "loki-operator", 30, ()),
    "numaresources": ("openshift-numaresources", "numaresources-operator", 30, ()),
    "oadp": ("openshift-adp", "redhat-oadp-operator", 30, ()),
    "metallb": ("metallb-system", "metallb-operator", 30, ()),
}
VIRTUALIZATION = (
    "cluster-observability",
    "cnv",
    "fence-agents-remediation",
    "kube-descheduler",
    "loki",
    "metallb",
    "mtv",
    "nmstate",
    "node-healthcheck",
    "node-maintenance",
    "numaresources",
    "oadp",
    "openshift-logging",
)
ONLY_SEVERAL_NODES = {"fence-agents-remediation", "kube-descheduler", "node-healthcheck", "node-maintenance"}
AI = ("authorino", "odf", "openshift-ai", "pipelines", "serverless", "servicemesh")


def test_the_catalogue_is_whole() -> None:
    found = {
        name: (spec.namespace, spec.subscription_name("4.18.0"), spec.timeout_minutes, spec.dependencies)
        for name, spec in OPERATORS.items()
    }
    assert found == CATALOGUE
    assert list(supported_names()) == sorted(CATALOGUE)


def test_features_and_rules_are_distinct() -> None:
    assert len({spec.feature for spec in OPERATORS.values()}) == len(OPERATORS)
    assert len({spec.rule_id for spec in OPERATORS.values()}) == len(OPERATORS)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("4.11.5", "odf-lvm-operator"),
        ("4.12.0", "lvms-operator"),
        ("4.12.0-rc.1", "lvms-operator"),
        ("", "lvms-operator"),
    ],
)
def test_the_volume_manager_changed_its_name(version: str, name: str) -> None:
    assert OPERATORS["lvm"].subscription_name(version) == name


def test_old_names_still_work() -> None:
    assert operator_named("ocs") is OPERATORS["odf"]


def test_unknown_operators_are_refused_by_name() -> None:
    with pytest.raises(Invalid, match="'no-such' is not supported"):
        operator_named("no-such")


def names(operators: tuple[Operator, ...]) -> dict[str, bool]:
    """Name → whether it is there only for others."""
    return {operator.name: operator.dependency_only for operator in operators}


def test_dependencies_come_along() -> None:
    found = resolve([OperatorRequest("ocs", "p"), OperatorRequest("amd-gpu")], [], a_cluster())
    assert names(found) == {
        "amd-gpu": False,
        "kmm": True,
        "lso": True,
        "node-feature-discovery": True,
        "odf": False,
    }
    odf = found[-1]
    assert odf == Operator(
        name="odf",
        kind=OperatorKind.OLM,
        namespace="openshift-storage",
        subscription_name="odf-operator",
        properties="p",
        timeout_seconds=1800,
    )


def test_what_was_a_dependency_may_be_wished_for() -> None:
    assert names(resolve([OperatorRequest("odf"), OperatorRequest("lso")], [], a_cluster()))["lso"] is False


def test_dependencies_of_dependencies() -> None:
    assert with_dependencies(["cluster-observability"], single_node=False) == [
        "cluster-observability",
        "loki",
        "openshift-logging",
    ]


def test_on_one_node_models_need_volumes() -> None:
    assert names(resolve([OperatorRequest("openshift-ai")], [], a_cluster(control_plane_count=1))) == {
        "lvm": True,
        "openshift-ai": False,
    }
    assert names(resolve([OperatorRequest("openshift-ai")], [], a_cluster())) == {"openshift-ai": False}


def test_a_new_wish_replaces_the_whole_set_and_keeps_what_is_known() -> None:
    known = Operator(name="odf", kind=OperatorKind.OLM, status=OperatorStatus.AVAILABLE, version="4.18")
    gone = Operator(name="cnv", kind=OperatorKind.OLM)
    found = resolve([OperatorRequest("odf")], [], a_cluster(operators=(known, gone)))
    assert names(found) == {"lso": True, "odf": False}
    assert (found[1].status, found[1].version) == (OperatorStatus.AVAILABLE, "4.18")
    assert resolve([], [], a_cluster(operators=(known, gone))) == ()


def test_bundles_are_opened_at_once() -> None:
    found = resolve([OperatorRequest("cnv", "x")], [BundleRequest("virtualization")], a_cluster())
    sources = {operator.name: operator.source_bundles for operator in found}
    assert sources == dict.fromkeys(VIRTUALIZATION, ("virtualization",))
    assert {operator.properties for operator in found if operator.name == "cnv"} == {"x"}
    assert not any(operator.dependency_only for operator in found)


def test_bundles_may_be_wished_for_twice_and_together() -> None:
    requests = [
        BundleRequest("openshift-ai", ("nvidia-gpu",)),
        BundleRequest("openshift-ai"),
        BundleRequest("virtualization"),
    ]
    found = {operator.name: operator for operator in resolve([], requests, a_cluster())}
    assert found["nvidia-gpu"].source_bundles == ("openshift-ai",)
    assert found["odf"].source_bundles == ("openshift-ai",)
    assert found["lso"].source_bundles == ()
    assert found["lso"].dependency_only


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (BundleRequest("nothing"), "'nothing' does not exist"),
        (BundleRequest("openshift-ai", ("odf",)), "'odf' is not optional"),
        (BundleRequest("virtualization", ("nvidia-gpu",)), "Optional there: none"),
        (BundleRequest("openshift-ai", ("no-such",)), "'no-such' is not optional"),
    ],
)
def test_wrong_bundles_are_refused(request_: BundleRequest, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        resolve([], [request_], a_cluster())


@given(st.lists(st.sampled_from(sorted(CATALOGUE)), max_size=6), st.booleans())
def test_resolving_twice_changes_nothing(wished: list[str], single: bool) -> None:
    cluster = a_cluster(control_plane_count=1 if single else 3)
    once = resolve([OperatorRequest(name) for name in wished], [], cluster)
    again = resolve([OperatorRequest(operator.name) for operator in once if not operator.dependency_only], [], cluster)
    assert once == again
    found = {operator.name for operator in once}
    for name in found:
        assert set(OPERATORS[name].depends_on(single_node=single)) <= found


@pytest.mark.parametrize(
    ("overrides", "console"),
    [
        ("", True),
        ("{}", True),
        ("broken", True),
        ('{"capabilities":null}', True),
        ('{"capabilities":{"baselineCapabilitySet":"vCurrent"}}', True),
        ('{"capabilities":{"baselineCapabilitySet":"None"}}', False),
        ('{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["Storage"]}}', False),
        ('{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["Console"]}}', True),
    ],
)
def test_the_console_can_be_left_out(overrides: str, *, console: bool) -> None:
    assert has_console(overrides) is console
    found = builtin_operators(a_cluster(install_config_overrides=overrides), a_policy())
    assert [operator.name for operator in found] == (["console"] if console else [])


def test_builtin_operators_keep_what_is_known() -> None:
    known = Operator(name="console", kind=OperatorKind.BUILTIN, status=OperatorStatus.PROGRESSING)
    policy = a_policy(check_cluster_version=True)
    console, version = builtin_operators(a_cluster(operators=(known,)), policy)
    assert console is known
    assert version == Operator(name="cvo", kind=OperatorKind.BUILTIN, timeout_seconds=3600)


def test_everything_the_cluster_waits_for() -> None:
    found = monitored_operators([OperatorRequest("lso")], [], a_cluster(), policy=a_policy())
    assert [operator.name for operator in found] == ["console", "lso"]


def test_bundles() -> None:
    virtualization, ai = list_bundles()
    assert (virtualization.id, virtualization.title) == ("virtualization", "Virtualization")
    assert virtualization.operators == VIRTUALIZATION
    assert virtualization.optional_operators == ()
    assert (ai.id, ai.operators, ai.optional_operators) == ("openshift-ai", AI, ("amd-gpu", "nvidia-gpu"))


def test_bundles_on_one_node() -> None:
    virtualization, ai = list_bundles(single_node=True)
    assert set(virtualization.operators) == set(VIRTUALIZATION) - ONLY_SEVERAL_NODES
    assert ai.operators == ("lvm", "openshift-ai")


@pytest.mark.parametrize(
    ("missing", "ids", "optional"),
    [
        (FeatureId.MTV, ["openshift-ai"], ("amd-gpu", "nvidia-gpu")),
        (FeatureId.ODF, ["virtualization"], ()),
        (FeatureId.AMD_GPU, ["virtualization", "openshift-ai"], ("nvidia-gpu",)),
    ],
)
def test_what_is_not_available_is_not_offered(missing: FeatureId, ids: list[str], optional: tuple[str, ...]) -> None:
    found = list_bundles(is_available=lambda feature: feature is not missing)
    assert [bundle.id for bundle in found] == ids
    assert found[-1].optional_operators == optional


def test_one_bundle() -> None:
    assert bundle_named("openshift-ai") == list_bundles()[1]
    with pytest.raises(NotFound, match="'none' does not exist"):
        bundle_named("none")


def test_bundles_of_an_operator() -> None:
    assert bundles_of("cnv") == ("virtualization",)
    assert bundles_of("nvidia-gpu") == ("openshift-ai",)
    assert bundles_of("lso") == bundles_of("console") == ()
