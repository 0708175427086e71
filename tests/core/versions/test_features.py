"""Features: thresholds, platforms, reasons, exclusions, refusals."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.feature_ids import NETWORK_TYPE_FEATURES, PLATFORM_FEATURES, PLATFORM_IDS, FeatureId
from firstlight.core.versions.features import (
    OperatorFeature,
    Target,
    check_features,
    detailed_features,
    features,
    platform_named,
    support_of,
)
from firstlight.core.versions.incompatibilities import EXCLUSIONS, incompatible_with
from firstlight.core.versions.levels import Reason, SupportLevel
from firstlight.core.versions.numbers import parse

F = FeatureId


def a_target(version: str = "4.20", architecture: str = "x86_64", platform: str = "", name: str = "") -> Target:
    return Target(
        version=parse(version),
        architecture=CpuArchitecture(architecture),
        platform=platform_named(platform),
        external_name=name,
    )


def test_without_platform() -> None:
    answer = features(a_target())
    assert len(answer) == 55
    assert F.PLATFORM_MANAGED_NETWORKING not in answer
    assert answer.keys() >= PLATFORM_IDS


@pytest.mark.parametrize("platform", PlatformType)
def test_with_platform(platform: PlatformType) -> None:
    answer = features(a_target(platform=platform))
    assert len(answer) == 50
    assert F.PLATFORM_MANAGED_NETWORKING in answer
    assert not answer.keys() & PLATFORM_IDS


@pytest.mark.parametrize(("version", "architecture"), [("4.9", "arm64"), ("4.11", "s390x"), ("4.10", "multi")])
def test_all_unavailable_without_the_architecture(version: str, architecture: str) -> None:
    target = a_target(version, architecture)
    assert set(features(target).values()) == {SupportLevel.UNAVAILABLE}
    assert support_of(F.CUSTOM_MANIFEST, target=target) == (SupportLevel.UNAVAILABLE, Reason.CPU_ARCHITECTURE)
    with pytest.raises(Invalid, match=f"cannot use the {architecture} architecture .* OpenShift {version}"):
        check_features(frozenset(), target=target)


@pytest.mark.parametrize(
    ("feature", "architecture", "below", "at", "before", "after"),
    [
        (F.SNO, "s390x", "4.12", "4.13", "unavailable", "dev-preview"),
        (F.SNO, "ppc64le", "4.13", "4.14", "dev-preview", "supported"),
        (F.TNA, "x86_64", "4.18", "4.19", "unavailable", "tech-preview"),
        (F.TNA, "x86_64", "4.19", "4.20", "tech-preview", "supported"),
        (F.TNF, "x86_64", "4.19", "4.20", "unavailable", "tech-preview"),
        (F.TNF, "x86_64", "4.21", "4.22", "tech-preview", "supported"),
        (F.NON_STANDARD_HA_CONTROL_PLANE, "x86_64", "4.17", "4.18", "unavailable", "supported"),
        (F.SINGLE_NODE_EXPANSION, "x86_64", "4.10", "4.11", "unavailable", "supported"),
        (F.VIP_AUTO_ALLOC, "x86_64", "4.14", "4.15", "dev-preview", "unavailable"),
        (F.SDN_NETWORK_TYPE, "x86_64", "4.14.71", "4.15.0-rc.1", "supported", "unavailable"),
        (F.CLUSTER_MANAGED_NETWORKING, "arm64", "4.10", "4.11", "unavailable", "supported"),
        (F.DUAL_STACK_VIPS, "x86_64", "4.11", "4.12", "unavailable", "supported"),
        (F.DUAL_STACK_PRIMARY_IPV6, "x86_64", "4.11", "4.12", "unavailable", "tech-preview"),
        (F.USER_MANAGED_LOAD_BALANCER, "x86_64", "4.15", "4.16", "unavailable", "supported"),
        (F.NUTANIX_INTEGRATION, "x86_64", "4.10", "4.11", "unavailable", "dev-preview"),
        (F.NUTANIX_INTEGRATION, "multi", "4.11", "4.12", "dev-preview", "supported"),
        (F.EXTERNAL_PLATFORM, "x86_64", "4.13", "4.14", "unavailable", "supported"),
        (F.EXTERNAL_PLATFORM_OCI, "x86_64", "4.13", "4.14", "unavailable", "supported"),
        (F.LVM, "x86_64", "4.10", "4.11", "unavailable", "dev-preview"),
        (F.LVM, "x86_64", "4.11", "4.12", "dev-preview", "supported"),
        (F.CNV, "arm64", "4.13", "4.14", "unavailable", "dev-preview"),
        (F.MCE, "x86_64", "4.9", "4.10", "unavailable", "supported"),
        (F.MTV, "x86_64", "4.13", "4.14", "unavailable", "supported"),
        (F.OSC, "x86_64", "4.9", "4.10", "unavailable", "supported"),
        (F.NMSTATE, "x86_64", "4.11", "4.12", "unavailable", "supported"),
        (F.OPENSHIFT_AI, "x86_64", "4.11", "4.12", "unavailable", "dev-preview"),
        (F.METALLB, "x86_64", "4.10", "4.11", "unavailable", "supported"),
        (F.LOKI, "x86_64", "4.16", "4.17", "unavailable", "supported"),
        (F.OPENSHIFT_LOGGING, "x86_64", "4.16", "4.17", "unavailable", "supported"),
    ],
)
def test_version_thresholds(feature: F, architecture: str, below: str, at: str, before: str, after: str) -> None:
    assert support_of(feature, target=a_target(below, architecture))[0] == before
    assert support_of(feature, target=a_target(at, architecture))[0] == after


@pytest.mark.parametrize(
    ("version", "platform", "name", "unavailable"),
    [
        ("4.20", "baremetal", "", {F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE}),
        ("4.20", "none", "", {F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE, F.TNA}),
        ("4.22", "none", "", {F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE}),
        (
            "4.20",
            "nutanix",
            "",
            {
                F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE, F.SNO, F.TNA, F.TNF, F.NON_STANDARD_HA_CONTROL_PLANE, F.LVM,
                F.CNV, F.MCE, F.MTV, F.OSC, F.NMSTATE, F.SINGLE_NODE_EXPANSION, F.USER_MANAGED_NETWORKING,
                F.DUAL_STACK_PRIMARY_IPV6,
            },
        ),
        (
            "4.20",
            "vsphere",
            "",
            {
                F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE, F.SNO, F.TNA, F.TNF, F.NON_STANDARD_HA_CONTROL_PLANE, F.LVM,
                F.CNV, F.MTV, F.OSC, F.SINGLE_NODE_EXPANSION, F.DUAL_STACK_PRIMARY_IPV6,
            },
        ),
        (
            "4.20",
            "external",
            "",
            {
                F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE, F.TNA, F.TNF, F.CLUSTER_MANAGED_NETWORKING, F.NMSTATE,
                F.DUAL_STACK_PRIMARY_IPV6,
            },
        ),
        (
            "4.20",
            "external",
            "oci",
            {
                F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE, F.TNA, F.TNF, F.CLUSTER_MANAGED_NETWORKING, F.NMSTATE,
                F.DUAL_STACK_PRIMARY_IPV6, F.FULL_ISO, F.DUAL_STACK_VIPS, F.ODF, F.OPENSHIFT_AI,
            },
        ),
    ],
)  # fmt: skip
def test_platforms(version: str, platform: str, name: str, unavailable: set[F]) -> None:
    answer = features(a_target(version, platform=platform, name=name))
    assert {feature for feature, level in answer.items() if level is SupportLevel.UNAVAILABLE} == unavailable


def test_oci_is_only_oci_on_the_external_platform() -> None:
    assert features(a_target(platform="none", name="oci"))[F.FULL_ISO] is SupportLevel.SUPPORTED
    assert features(a_target(platform="external", name="other"))[F.FULL_ISO] is SupportLevel.SUPPORTED


@pytest.mark.parametrize(
    ("platform", "level"),
    [
        ("external", "supported"),
        ("none", "supported"),
        ("baremetal", "unsupported"),
        ("vsphere", "unsupported"),
        ("nutanix", "unsupported"),
    ],
)
def test_platform_managed_networking(platform: str, level: str) -> None:
    assert support_of(F.PLATFORM_MANAGED_NETWORKING, target=a_target(platform=platform)) == (level, None)


@pytest.mark.parametrize(
    ("feature", "target", "reason"),
    [
        (F.ODF, a_target(architecture="arm64"), Reason.CPU_ARCHITECTURE),
        (F.TNA, a_target("4.18", platform="baremetal"), Reason.OPENSHIFT_VERSION),
        (F.TNA, a_target("4.21", platform="none"), Reason.PLATFORM),
        (F.CNV, a_target(platform="vsphere"), Reason.PLATFORM),
        (F.ODF, a_target(platform="external", name="OCI"), Reason.OCI_DISABLED),
        (F.ODF, a_target(), None),
    ],
)
def test_reason(feature: F, target: Target, reason: Reason | None) -> None:
    assert support_of(feature, target=target)[1] is reason


def test_detailed() -> None:
    operators = {
        F.MTV: OperatorFeature(name="mtv", dependencies=(F.CNV,)),
        F.LOKI: OperatorFeature(name="loki"),
    }
    answer = msgspec.json.decode(msgspec.json.encode(detailed_features(a_target("4.16"), operators=operators)))
    assert len(answer["features"]) == 53
    assert answer["operators"] == [
        {
            "feature-support-level-id": "MTV",
            "support_level": "supported",
            "incompatibilities": ["NUTANIX_INTEGRATION", "VSPHERE_INTEGRATION"],
            "name": "mtv",
            "dependencies": ["CNV"],
        },
        {
            "feature-support-level-id": "LOKI",
            "support_level": "unavailable",
            "reason": "openshiftVersion",
            "incompatibilities": [],
            "name": "loki",
            "dependencies": [],
        },
    ]
    by_id = {each["feature-support-level-id"]: each for each in answer["features"]}
    assert by_id["FULL_ISO"] == {
        "feature-support-level-id": "FULL_ISO",
        "support_level": "supported",
        "incompatibilities": ["EXTERNAL_PLATFORM_OCI"],
    }


EXCLUDED = """
SNO: ODF NUTANIX_INTEGRATION VSPHERE_INTEGRATION CLUSTER_MANAGED_NETWORKING VIP_AUTO_ALLOC USER_MANAGED_LOAD_BALANCER
 NODE_HEALTHCHECK SELF_NODE_REMEDIATION FENCE_AGENTS_REMEDIATION NODE_MAINTENANCE KUBE_DESCHEDULER
TNA: NUTANIX_INTEGRATION VSPHERE_INTEGRATION EXTERNAL_PLATFORM EXTERNAL_PLATFORM_OCI
TNF: NUTANIX_INTEGRATION VSPHERE_INTEGRATION EXTERNAL_PLATFORM EXTERNAL_PLATFORM_OCI
NON_STANDARD_HA_CONTROL_PLANE: NUTANIX_INTEGRATION VSPHERE_INTEGRATION
CLUSTER_MANAGED_NETWORKING: SNO USER_MANAGED_NETWORKING EXTERNAL_PLATFORM_OCI NONE_PLATFORM EXTERNAL_PLATFORM
USER_MANAGED_NETWORKING: CLUSTER_MANAGED_NETWORKING NUTANIX_INTEGRATION BAREMETAL_PLATFORM USER_MANAGED_LOAD_BALANCER
VIP_AUTO_ALLOC: SNO EXTERNAL_PLATFORM_OCI NONE_PLATFORM EXTERNAL_PLATFORM USER_MANAGED_LOAD_BALANCER
USER_MANAGED_LOAD_BALANCER: EXTERNAL_PLATFORM EXTERNAL_PLATFORM_OCI NONE_PLATFORM NUTANIX_INTEGRATION
 USER_MANAGED_NETWORKING VIP_AUTO_ALLOC DUAL_STACK DUAL_STACK_VIPS DUAL_STACK_PRIMARY_IPV6 SNO
DUAL_STACK: USER_MANAGED_LOAD_BALANCER
DUAL_STACK_VIPS: EXTERNAL_PLATFORM_OCI USER_MANAGED_LOAD_BALANCER
DUAL_STACK_PRIMARY_IPV6: USER_MANAGED_LOAD_BALANCER EXTERNAL_PLATFORM EXTERNAL_PLATFORM_OCI NUTANIX_INTEGRATION
 VSPHERE_INTEGRATION
FULL_ISO: EXTERNAL_PLATFORM_OCI
LVM: NUTANIX_INTEGRATION VSPHERE_INTEGRATION ODF
ODF: SNO LVM EXTERNAL_PLATFORM_OCI
CNV: NUTANIX_INTEGRATION VSPHERE_INTEGRATION
MTV: NUTANIX_INTEGRATION VSPHERE_INTEGRATION
OSC: NUTANIX_INTEGRATION VSPHERE_INTEGRATION
MCE: NUTANIX_INTEGRATION
NMSTATE: NUTANIX_INTEGRATION EXTERNAL_PLATFORM EXTERNAL_PLATFORM_OCI
OPENSHIFT_AI: EXTERNAL_PLATFORM_OCI
PLATFORM_MANAGED_NETWORKING: BAREMETAL_PLATFORM VSPHERE_INTEGRATION NUTANIX_INTEGRATION
CUSTOM_MANIFEST:
OADP:
"""


@pytest.mark.parametrize("row", EXCLUDED.replace("\n ", " ").strip().splitlines(), ids=lambda row: row.split(":")[0])
def test_exclusions_of_a_current_version(row: str) -> None:
    feature, others = row.split(":")
    assert set(incompatible_with(F(feature), version=parse("4.22"))) == set(others.split())


@pytest.mark.parametrize(
    ("one", "other", "lifted", "still"),
    [
        (F.SNO, F.DUAL_STACK_PRIMARY_IPV6, "4.19", "4.18"),
        (F.TNA, F.NONE_PLATFORM, "4.22", "4.21"),
        (F.DUAL_STACK, F.VSPHERE_INTEGRATION, "4.13", "4.12"),
        (F.LVM, F.VIP_AUTO_ALLOC, "4.15", "4.14"),
        (F.LVM, F.CLUSTER_MANAGED_NETWORKING, "4.15", "4.14"),
    ],
)
def test_exclusions_lifted(one: F, other: F, lifted: str, still: str) -> None:
    assert other in incompatible_with(one, version=parse(still))
    assert other not in incompatible_with(one, version=parse(lifted))


@given(st.sampled_from(FeatureId), st.sampled_from(["4.9", "4.12", "4.14", "4.18", "4.22"]))
def test_exclusion_is_symmetrical_and_never_of_itself(feature: F, version: str) -> None:
    others = incompatible_with(feature, version=parse(version))
    assert feature not in others
    assert all(feature in incompatible_with(other, version=parse(version)) for other in others)


def test_network_types_exclude_each_other() -> None:
    types = set(NETWORK_TYPE_FEATURES.values())
    assert len(types) == 6
    for each in types:
        assert set(incompatible_with(each, version=parse("4.14"))) == types - {each}


PAIRS = [
    (each.feature, other)
    for each in EXCLUSIONS
    if not each.below
    for other in each.against
    # These two have no version in common.
    if {each.feature, other} != {F.VIP_AUTO_ALLOC, F.USER_MANAGED_LOAD_BALANCER}
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_check_refuses_each_pair(one: F, other: F) -> None:
    ended = {F.VIP_AUTO_ALLOC, F.SDN_NETWORK_TYPE} & {one, other}
    target = a_target("4.14" if ended else "4.22")
    check_features(frozenset({one}), target=target)
    check_features(frozenset({other}), target=target)
    with pytest.raises(Invalid, match=r"You cannot use .* because it's not compatible with .* one of the two\."):
        check_features(frozenset({one, other}), target=target)


@pytest.mark.parametrize(
    ("active", "target", "sentence"),
    [
        (
            {F.LVM, F.ODF},
            a_target(),
            "You cannot use Logical Volume Manager Storage because it's not compatible with OpenShift Data Foundation."
            " Choose one of the two.",
        ),
        (
            {F.ODF},
            a_target(architecture="arm64"),
            "You cannot use OpenShift Data Foundation because it's not compatible with the arm64 architecture."
            " Leave it out or choose another architecture.",
        ),
        (
            {F.VIP_AUTO_ALLOC},
            a_target("4.15.3"),
            "You cannot use VIP allocation by DHCP because it's not compatible with OpenShift 4.15.3."
            " Leave it out or choose another version.",
        ),
        (
            {F.MCE},
            a_target(platform="nutanix"),
            "You cannot use Multicluster Engine because it's not compatible with the platform nutanix."
            " Leave it out or choose another platform.",
        ),
        (
            {F.FULL_ISO},
            a_target(platform="external", name="oci"),
            "You cannot use Full ISO because it's not compatible with the platform oci."
            " Leave it out or choose another platform.",
        ),
    ],
)
def test_check_refuses(active: set[F], target: Target, sentence: str) -> None:
    with pytest.raises(Invalid, match=f"^{re.escape(sentence)}$"):
        check_features(frozenset(active), target=target)


@pytest.mark.parametrize(
    ("active", "target"),
    [
        (set[F](), a_target("4.9")),
        ({F.SNO, F.NONE_PLATFORM, F.USER_MANAGED_NETWORKING, F.LVM, F.OVN_NETWORK_TYPE}, a_target(platform="none")),
        ({F.BAREMETAL_PLATFORM, F.CLUSTER_MANAGED_NETWORKING, F.ODF, F.LSO, F.CNV}, a_target(platform="baremetal")),
        ({F.TNF, F.SELF_NODE_REMEDIATION, F.NVIDIA_GPU}, a_target(platform="baremetal")),
        ({F.PLATFORM_MANAGED_NETWORKING}, a_target(platform="vsphere")),
    ],
)
def test_check_accepts(active: set[F], target: Target) -> None:
    check_features(frozenset(active), target=target)


@pytest.mark.parametrize("platform", PlatformType)
def test_platform_names(platform: PlatformType) -> None:
    assert platform_named(platform.value) is platform
    assert PLATFORM_FEATURES[platform] in PLATFORM_IDS


def test_unknown_platform() -> None:
    assert platform_named("") is None
    with pytest.raises(Invalid, match="The platform 'aws' is not known"):
        platform_named("aws")
