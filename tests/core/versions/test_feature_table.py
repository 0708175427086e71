"""The feature support table as a picture: what changed in it is seen here.

One row per feature; one word per version; one letter per architecture (x86_64, arm64, s390x, ppc64le, multi):
S supported, U unsupported, T tech-preview, D dev-preview, - unavailable.
"""

from typing import Final

import pytest

from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.feature_ids import TITLES, FeatureId
from firstlight.core.versions.feature_rules import FEATURE_RULES
from firstlight.core.versions.features import Target, support_of
from firstlight.core.versions.levels import SupportLevel
from firstlight.core.versions.numbers import parse

VERSIONS: Final = ("4.12", "4.14", "4.16", "4.18", "4.20", "4.22")
ARCHITECTURES: Final = ("x86_64", "arm64", "s390x", "ppc64le", "multi")
LETTERS: Final = {
    SupportLevel.SUPPORTED: "S",
    SupportLevel.UNSUPPORTED: "U",
    SupportLevel.TECH_PREVIEW: "T",
    SupportLevel.DEV_PREVIEW: "D",
    SupportLevel.UNAVAILABLE: "-",
}

TABLE: Final = """
SNO                            SS--S SSSSS SSSSS SSSSS SSSSS SSSSS
TNA                            ----- ----- ----- ----- SSSSS SSSSS
TNF                            ----- ----- ----- ----- TTTTT SSSSS
VIP_AUTO_ALLOC                 DDDDD DDDDD ----- ----- ----- -----
CUSTOM_MANIFEST                SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
SINGLE_NODE_EXPANSION          SS--S SSSSS SSSSS SSSSS SSSSS SSSSS
LVM                            SS--S SS--S SS--S SS--S SS--S SS--S
ODF                            S-SSS S-SSS S-SSS S-SSS S-SSS S-SSS
LSO                            S-SSS S-SSS S-SSS S-SSS S-SSS S-SSS
CNV                            S---S SD--S SD--S SD--S SD--S SD--S
MCE                            SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
MTV                            ----- S---S S---S S---S S---S S---S
OSC                            S---S S---S S---S S---S S---S S---S
NUTANIX_INTEGRATION            S---S S---S S---S S---S S---S S---S
BAREMETAL_PLATFORM             SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
NONE_PLATFORM                  SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
VSPHERE_INTEGRATION            SS--S SS--S SS--S SS--S SS--S SS--S
DUAL_STACK_VIPS                SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
CLUSTER_MANAGED_NETWORKING     SS--S SS--S SS--S SS--S SS--S SS--S
USER_MANAGED_NETWORKING        SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
MINIMAL_ISO                    SS-SS SS-SS SS-SS SS-SS SS-SS SS-SS
FULL_ISO                       SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
EXTERNAL_PLATFORM_OCI          ----- SS--S SS--S SS--S SS--S SS--S
DUAL_STACK                     SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
PLATFORM_MANAGED_NETWORKING    SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
EXTERNAL_PLATFORM              ----- SSSSS SSSSS SSSSS SSSSS SSSSS
OVN_NETWORK_TYPE               SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
SDN_NETWORK_TYPE               SSSSS SSSSS ----- ----- ----- -----
CILIUM_NETWORK_TYPE            SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
CALICO_NETWORK_TYPE            SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
CISCO_ACI_NETWORK_TYPE         SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
NONE_NETWORK_TYPE              SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
NODE_FEATURE_DISCOVERY         DD--D DD--D DD--D DD--D DD--D DD--D
NVIDIA_GPU                     D---D D---D D---D D---D D---D D---D
PIPELINES                      DDDDD DDDDD DDDDD DDDDD DDDDD DDDDD
SERVICEMESH                    DDDDD DDDDD DDDDD DDDDD DDDDD DDDDD
SERVERLESS                     DDDDD DDDDD DDDDD DDDDD DDDDD DDDDD
OPENSHIFT_AI                   D---D D---D D---D D---D D---D D---D
NON_STANDARD_HA_CONTROL_PLANE  ----- ----- ----- S---- S---- S----
AUTHORINO                      D-DDD D-DDD D-DDD D-DDD D-DDD D-DDD
USER_MANAGED_LOAD_BALANCER     ----- ----- SSSSS SSSSS SSSSS SSSSS
NMSTATE                        S---S S---S S---S S---S S---S S---S
AMD_GPU                        D---D D---D D---D D---D D---D D---D
KMM                            DDDDD DDDDD DDDDD DDDDD DDDDD DDDDD
NODE_HEALTHCHECK               SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
SELF_NODE_REMEDIATION          TTTTT TTTTT TTTTT TTTTT TTTTT TTTTT
FENCE_AGENTS_REMEDIATION       SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
NODE_MAINTENANCE               SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
KUBE_DESCHEDULER               SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
CLUSTER_OBSERVABILITY          SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
NUMA_RESOURCES                 SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
OADP                           SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
METALLB                        SSSSS SSSSS SSSSS SSSSS SSSSS SSSSS
DUAL_STACK_PRIMARY_IPV6        TTTTT TTTTT TTTTT TTTTT TTTTT TTTTT
LOKI                           ----- ----- ----- SSSSS SSSSS SSSSS
OPENSHIFT_LOGGING              ----- ----- ----- SSSSS SSSSS SSSSS
"""

ROWS: Final = {row[0]: row[1:] for row in (line.split() for line in TABLE.strip().splitlines())}


def test_every_feature_has_a_row_a_rule_and_a_title() -> None:
    ids = {feature.value for feature in FeatureId}
    assert len(ids) == 56
    assert set(ROWS) == set(FEATURE_RULES) == set(TITLES) == ids


@pytest.mark.parametrize("feature", FeatureId)
def test_levels(feature: FeatureId) -> None:
    words = ["".join(letter(feature, version, architecture) for architecture in ARCHITECTURES) for version in VERSIONS]
    assert words == ROWS[feature]


def letter(feature: FeatureId, version: str, architecture: str) -> str:
    target = Target(version=parse(version), architecture=CpuArchitecture(architecture))
    return LETTERS[support_of(feature, target=target)[0]]
