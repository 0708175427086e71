"""Names of manifests that only the service may use: all that it ever writes, and nothing else."""

import pytest

from firstlight.core.commands.manifest_changes import WRITTEN_BY_THE_SERVICE
from firstlight.core.install.from_records import cluster_inputs, system_settings
from firstlight.core.install.system_manifests import system_manifests
from firstlight.core.model.cluster import ClusterState, DiskEncryption, Platform
from firstlight.core.model.cluster_status import EncryptionMode, PlatformType
from firstlight.core.model.host_status import HostRole
from tests.builders.clusters import a_policy, cluster_state
from tests.builders.hosts import host_state

STAGE = "https://api.stage.openshift.com"
ALONE = cluster_state(
    hosts=[host_state(1, role=HostRole.MASTER)], control_plane_count=1, platform=Platform(type=PlatformType.NONE)
)
WITH_ARBITER = cluster_state(
    hosts=[host_state(number, role=HostRole.ARBITER if number == 3 else HostRole.MASTER) for number in (1, 2, 3)],
    disk_encryption=DiskEncryption(enable_on="all", mode=EncryptionMode.TPM2),
    schedulable_masters=True,
)


def written(state: ClusterState) -> set[str]:
    settings = system_settings(state, policy=a_policy(), service_url=STAGE)
    return {one.name for one in system_manifests(cluster_inputs(state, pull_secret="{}"), settings)}


@pytest.mark.parametrize("state", [ALONE, WITH_ARBITER], ids=["single node", "arbiter"])
def test_everything_the_service_writes_is_its_own(state: ClusterState) -> None:
    names = written(state)
    assert len(names) >= 6
    assert [name for name in sorted(names) if WRITTEN_BY_THE_SERVICE.fullmatch(name) is None] == []


@pytest.mark.parametrize(
    "name",
    [
        "50-masters-chrony.yaml",
        "my-50-masters-chrony-configuration.yaml",
        "cluster-scheduler-02-config.yml.patch_mine",
        "99-openshift-master-encryption.yaml",
        "dnsmasq.yaml",
    ],
)
def test_what_is_alike_is_free(name: str) -> None:
    assert WRITTEN_BY_THE_SERVICE.fullmatch(name) is None
