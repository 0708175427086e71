"""One call for each operation that succeeds, one for each refusal that is not the same everywhere."""

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus, OperatorStatus
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus
from firstlight.server.ports.database import LostRace
from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, UNKNOWN, ready_cluster
from tests.api.files import a_prepared_cluster, console
from tests.builders.clusters import an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, host_state, some_reports
from tests.builders.inventories import an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id
from tests.clients.certificates import a_certificate
from tests.store.stored import host_writes
from tests.usecases.preparing import put_manifest

Scene = Callable[[World], Awaitable[object]]
C, H = ClusterStatus, HostStatus

MANIFEST: Final = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n"
IGNITION: Final = json.dumps({"ignition": {"version": "3.1.0"}})


# --- scenes -----------------------------------------------------------------------------------------------------------


def cluster(status: ClusterStatus, host_status: HostStatus | None = None, **changes: Any) -> Scene:
    async def stored(world: World) -> None:
        wanted: dict[str, Any] = {"role": HostRole.MASTER}
        if host_status is not None:
            wanted["status"] = host_status
        if changes.get("kind") is ClusterKind.ADD_HOSTS:
            wanted["kind"] = HostKind.DAY_TWO
        three = tuple(host_state(number, peers=(1, 2, 3), **wanted) for number in (1, 2, 3))
        await ready_cluster(world, cluster_state(hosts=three, status=status, **changes))

    return stored


def prepared(status: ClusterStatus = C.INSTALLED, **changes: Any) -> Scene:
    """The files of an installation are there."""

    async def stored(world: World) -> None:
        await a_prepared_cluster(world, status=status, operators=console(OperatorStatus.AVAILABLE), **changes)

    return stored


async def ready(world: World) -> None:
    await ready_cluster(world)


async def pooled(world: World) -> None:
    """The infra-env belongs to nobody, so hosts can leave."""
    state = cluster_state()
    await ready_cluster(world, replace(state, infra_envs={INFRA_ENV_ID: an_infra_env(cluster_id=None)}))


async def empty(world: World) -> None:
    """A cluster and an infra-env that have no hosts."""
    state = cluster_state(hosts=())
    await ready_cluster(world, replace(state, infra_envs={INFRA_ENV_ID: an_infra_env(cluster_id=None)}))


async def unbound(world: World) -> None:
    """A host that waits for a cluster, and a cluster without hosts."""
    await empty(world)
    alone = host_state(1, host=a_pool_host(1))
    await world.store.commit(*host_writes(alone))


async def twins(world: World) -> None:
    """Two hosts that tell the same MAC address."""
    await ready_cluster(world, cluster_state(hosts=(host_state(1), host_state(2, reports=some_reports(1)))))


async def with_manifest(world: World) -> None:
    await ready_cluster(world)
    await put_manifest(world, CLUSTER_ID, "50-one.yaml", MANIFEST)


def contended(scene: Scene) -> Scene:
    """Whatever is decided, somebody else has written first."""

    async def lost(*_: object) -> None:
        raise LostRace(None, "Somebody else wrote first.")

    async def stored(world: World) -> None:
        await scene(world)
        setattr(world.store, "commit", lost)  # noqa: B010 - the store has no such wish of its own

    return stored


installing = cluster(C.INSTALLING, H.INSTALLING)
day_two = cluster(C.ADDING_HOSTS, kind=ClusterKind.ADD_HOSTS)


# --- calls ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """`body` as JSON unless it is bytes already; `path` replaces parameters of the path."""

    body: Any = None
    query: str = ""
    scene: Scene = ready
    path: dict[str, object] = field(default_factory=dict[str, object])
    content_type: str = "application/json"


def uploaded(content: bytes = b"log", *, name: str = "upfile") -> bytes:
    head = f'--xx\r\nContent-Disposition: form-data; name="{name}"; filename="logs.tar.gz"\r\n\r\n'
    return head.encode() + content + b"\r\n--xx--\r\n"


MULTIPART: Final = "multipart/form-data; boundary=xx"
PATH: Final = {
    "cluster_id": CLUSTER_ID,
    "infra_env_id": INFRA_ENV_ID,
    "host_id": host_id(1),
    "validation_id": "container-images-available",
    "operator_name": "lso",
    "id": "virtualization",
}
NEW_CLUSTER: Final = {
    "name": "west",
    "openshift_version": "4.18",
    "base_dns_domain": "example.com",
    "pull_secret": PULL_SECRET,
}
FOREIGN: Final = {
    "name": "far",
    "api_vip_dnsname": "api.far.example.com",
    "openshift_cluster_id": str(UNKNOWN),
    "openshift_version": "4.18",
}
NEW_MANIFEST: Final = {"file_name": "51-two.yaml", "content": base64.b64encode(MANIFEST).decode()}
RENAMED: Final = {"file_name": "50-one.yaml", "folder": "manifests", "updated_file_name": "52-three.yaml"}
NEW_EVENT: Final = {
    "name": "seen",
    "cluster_id": str(CLUSTER_ID),
    "severity": "info",
    "category": "user",
    "message": "Something was seen.",
    "event_time": "2026-01-01T00:00:00.000Z",
}
REPORT: Final = {"name": "console", "status": "available", "status_info": "Fine."}
LOGS: Final = f"logs_type=host&infra_env_id={INFRA_ENV_ID}&host_id={host_id(1)}"
SEEN: Final = {"host_id": str(UUID(int=7, version=4)), "discovery_agent_version": "1"}
INVENTORY: Final = {"step_type": "inventory", "step_id": "inventory-1", "output": json.dumps({"hostname": "one"})}
FIRST_MAC: Final = an_inventory(1).interfaces[0].mac
BOOT_SCRIPT: Final = f"file_name=ipxe-script&ipxe_script_type=boot-order-control&mac={FIRST_MAC}"
STAGE: Final = {"current_stage": "Starting installation"}

SUCCESS: Final[dict[str, Ask]] = {
    "v2ListClusters": Ask(),
    "v2RegisterCluster": Ask(NEW_CLUSTER),
    "V2GetClusterDefaultConfig": Ask(),
    "v2RegisterDisconnectedCluster": Ask({"name": "apart", "openshift_version": "4.20"}),
    "v2ImportCluster": Ask(
        {"name": "far", "api_vip_dnsname": "api.far.example.com", "openshift_cluster_id": str(UNKNOWN)}
    ),
    "v2DeregisterCluster": Ask(),
    "v2GetCluster": Ask(),
    "V2UpdateCluster": Ask({"name": "west"}),
    "TransformClusterToAddingHosts": Ask(scene=cluster(C.INSTALLED, H.INSTALLED)),
    "TransformClusterToDay2": Ask(scene=cluster(C.INSTALLED, H.INSTALLED)),
    "V2CancelInstallation": Ask(scene=installing),
    "v2CompleteInstallation": Ask({"is_success": True}, scene=prepared(C.FINALIZING)),
    "v2InstallCluster": Ask(),
    "v2ResetCluster": Ask(scene=installing),
    "V2GetCredentials": Ask(scene=prepared()),
    "V2DownloadClusterCredentials": Ask(query="file_name=kubeconfig-noingress", scene=prepared()),
    "V2GetPresignedForClusterCredentials": Ask(query="file_name=kubeconfig-noingress", scene=prepared()),
    "V2DownloadClusterFiles": Ask(query="file_name=master.ign", scene=prepared()),
    "V2GetPresignedForClusterFiles": Ask(query="file_name=master.ign", scene=prepared()),
    "ListClusterHosts": Ask(query="role=master&with-inventory=true"),
    "v2GetIgnoredValidations": Ask(),
    "v2SetIgnoredValidations": Ask({"host-validation-ids": '["ntp-synced"]'}),
    "v2GetClusterInstallConfig": Ask(),
    "v2UpdateClusterInstallConfig": Ask('{"fips": true}'),
    "V2DownloadClusterLogs": Ask(query="logs_type=all"),
    "V2UploadLogs": Ask(uploaded(), query=LOGS, content_type=MULTIPART),
    "v2UpdateClusterLogsProgress": Ask({"logs_state": "collecting"}),
    "V2DeleteClusterManifest": Ask(query="file_name=50-one.yaml", scene=with_manifest),
    "V2ListClusterManifests": Ask(scene=with_manifest),
    "V2UpdateClusterManifest": Ask(RENAMED, scene=with_manifest),
    "V2PutClusterManifest": Ask(RENAMED, scene=with_manifest),
    "V2CreateClusterManifest": Ask(NEW_MANIFEST),
    "v2DownloadClusterManifest": Ask(query="file_name=50-one.yaml", scene=with_manifest),
    "V2ListOfClusterOperators": Ask(),
    "v2ReportMonitoredOperatorStatus": Ask(REPORT, scene=prepared(C.FINALIZING)),
    "v2GetPreflightRequirements": Ask(),
    "v2UpdateClusterFinalizingProgress": Ask(
        {"finalizing_stage": "Waiting for cluster operators"}, scene=prepared(C.FINALIZING)
    ),
    "GetClusterSupportedPlatforms": Ask(),
    "V2GetClusterUISettings": Ask(),
    "V2UpdateClusterUISettings": Ask("AI_UI:{}"),
    "v2UploadClusterIngressCert": Ask(a_certificate(), scene=prepared(C.FINALIZING)),
    "v2ListComponentVersions": Ask(),
    "V2ListManagedDomains": Ask(),
    "v2ListEvents": Ask(query=f"cluster_id={CLUSTER_ID}&limit=5"),
    "v2TriggerEvent": Ask(NEW_EVENT),
    "v2DownloadHostIgnition": Ask(scene=prepared()),
    "ListInfraEnvs": Ask(),
    "RegisterInfraEnv": Ask({"name": "rack", "pull_secret": PULL_SECRET}),
    "DeregisterInfraEnv": Ask(scene=empty),
    "GetInfraEnv": Ask(),
    "UpdateInfraEnv": Ask({"image_type": "minimal-iso"}),
    "v2DownloadInfraEnvFiles": Ask(query="file_name=discovery.ign"),
    "GetInfraEnvPresignedFileURL": Ask(query="file_name=ipxe-script"),
    "GetInfraEnvDownloadURL": Ask(),
    "DownloadMinimalInitrd": Ask(),
    "v2ListHosts": Ask(),
    "v2RegisterHost": Ask(SEEN),
    "v2DeregisterHost": Ask(),
    "v2GetHost": Ask(),
    "v2UpdateHost": Ask({"host_name": "renamed"}),
    "BindHost": Ask({"cluster_id": str(CLUSTER_ID)}, scene=unbound),
    "v2InstallHost": Ask(scene=day_two),
    "v2ResetHost": Ask(scene=cluster(C.ADDING_HOSTS, H.INSTALLING, kind=ClusterKind.ADD_HOSTS)),
    "v2ResetHostValidation": Ask(),
    "UnbindHost": Ask(scene=pooled),
    "v2GetHostIgnition": Ask(scene=prepared()),
    "v2UpdateHostIgnition": Ask({"config": IGNITION}),
    "v2UpdateHostInstallerArgs": Ask({"args": ["--append-karg", "quiet"]}),
    "v2GetNextSteps": Ask(query="timestamp=1"),
    "v2PostStepReply": Ask(INVENTORY),
    "v2UpdateHostLogsProgress": Ask({"logs_state": "collecting"}),
    "v2UpdateHostInstallProgress": Ask(STAGE, scene=installing),
    "RegenerateInfraEnvSigningKey": Ask(),
    "v2ListSupportedOpenshiftVersions": Ask(query="only_latest=true"),
    "V2ListBundles": Ask(query="openshift_version=4.20&feature_ids=SNO"),
    "V2GetBundle": Ask(),
    "v2ListReleaseSources": Ask(),
    "GetSupportedArchitectures": Ask(query="openshift_version=4.18"),
    "GetSupportedFeatures": Ask(query="openshift_version=4.18&cpu_architecture=x86_64"),
    "GetDetailedSupportedFeatures": Ask(query="openshift_version=4.18&cpu_architecture=x86_64"),
    "V2ListSupportedOperators": Ask(),
    "V2ListOperatorProperties": Ask(),
}

REFUSED: Final[dict[tuple[str, int], Ask]] = {
    ("v2ListClusters", 400): Ask(query="with_hosts=perhaps"),
    ("v2InstallCluster", 409): Ask(scene=installing),
    ("V2CancelInstallation", 409): Ask(),
    ("v2ResetCluster", 409): Ask(),
    ("TransformClusterToAddingHosts", 400): Ask(),
    ("TransformClusterToDay2", 400): Ask(),
    ("v2UpdateHostInstallerArgs", 409): Ask({"args": ["--append-karg", "quiet"]}, scene=contended(ready)),
    ("RegisterInfraEnv", 409): Ask({"name": "rack", "pull_secret": PULL_SECRET}, scene=contended(ready)),
    ("DeregisterInfraEnv", 409): Ask(scene=contended(empty)),
    ("v2DownloadInfraEnvFiles", 409): Ask(
        query=f"file_name=ipxe-script&ipxe_script_type=boot-order-control&mac={FIRST_MAC}", scene=twins
    ),
    ("V2UpdateCluster", 400): Ask({"name": "-"}),
    ("V2UpdateCluster", 409): Ask({"name": "west"}, scene=installing),
    ("v2DeregisterCluster", 409): Ask(scene=installing),
    ("v2RegisterCluster", 400): Ask(NEW_CLUSTER | {"openshift_version": "3.11"}),
    ("V2GetCredentials", 409): Ask(),
    ("V2DownloadClusterCredentials", 409): Ask(query="file_name=kubeconfig"),
    ("V2GetPresignedForClusterCredentials", 409): Ask(query="file_name=kubeconfig"),
    ("V2GetPresignedForClusterCredentials", 400): Ask(query="file_name=passwd"),
    ("v2UploadClusterIngressCert", 400): Ask("no certificate", scene=prepared(C.FINALIZING)),
    ("v2UploadClusterIngressCert", 409): Ask(a_certificate(), scene=cluster(C.FINALIZING, H.INSTALLED)),
    ("V2DownloadClusterFiles", 409): Ask(query="file_name=master.ign"),
    ("V2GetPresignedForClusterFiles", 409): Ask(query="file_name=master.ign"),
    ("v2GetHostIgnition", 409): Ask(),
    ("v2DownloadHostIgnition", 409): Ask(),
    ("v2SetIgnoredValidations", 400): Ask({"host-validation-ids": "none"}),
    ("V2UpdateClusterUISettings", 400): Ask({"not": "text"}),
    ("v2UpdateClusterInstallConfig", 400): Ask("[]"),
    ("v2UpdateHostIgnition", 400): Ask({"config": "no ignition"}),
    ("v2ListEvents", 400): Ask(query="order=random"),
    ("v2TriggerEvent", 404): Ask(NEW_EVENT | {"cluster_id": str(UNKNOWN)}),
    ("ListInfraEnvs", 400): Ask(query="cluster_id=1"),
    ("RegisterInfraEnv", 404): Ask({"name": "rack", "pull_secret": PULL_SECRET, "cluster_id": str(UNKNOWN)}),
    ("UpdateInfraEnv", 400): Ask({"ssh_authorized_key": "no key"}),
    ("UpdateInfraEnv", 409): Ask({"image_type": "minimal-iso"}, scene=contended(ready)),
    ("DeregisterInfraEnv", 400): Ask(),
    ("v2DownloadInfraEnvFiles", 400): Ask(query="file_name=passwd"),
    ("GetInfraEnvPresignedFileURL", 400): Ask(query="file_name=passwd"),
    ("v2RegisterHost", 409): Ask(SEEN, scene=installing),
    ("v2UpdateHost", 400): Ask({"host_name": "-"}),
    ("v2UpdateHost", 409): Ask({"host_name": "renamed"}, scene=installing),
    ("v2DeregisterHost", 409): Ask(scene=contended(ready)),
    ("BindHost", 400): Ask({"cluster_id": str(UNKNOWN)}, scene=unbound),
    ("BindHost", 409): Ask({"cluster_id": str(CLUSTER_ID)}, scene=pooled),
    ("UnbindHost", 409): Ask(),
    ("v2ResetHostValidation", 400): Ask(path={"validation_id": "ntp-synced"}),
    ("v2ResetHostValidation", 409): Ask(scene=unbound),
    ("v2ResetHost", 409): Ask(),
    ("v2InstallHost", 409): Ask(),
    ("v2UpdateHostInstallerArgs", 400): Ask({"args": ["--everything"]}),
    ("v2UpdateHostInstallProgress", 409): Ask(STAGE),
    ("v2PostStepReply", 400): Ask(INVENTORY | {"step_type": "inventory", "output": "no document"}),
    ("V2UploadLogs", 400): Ask(uploaded(), query="logs_type=host", content_type=MULTIPART),
    ("V2DownloadClusterLogs", 409): Ask(query="logs_type=controller"),
    ("V2CreateClusterManifest", 400): Ask(NEW_MANIFEST | {"content": "?"}),
    ("V2CreateClusterManifest", 422): Ask(NEW_MANIFEST | {"file_name": "a b.yaml"}),
    ("V2CreateClusterManifest", 409): Ask(NEW_MANIFEST, scene=contended(ready)),
    ("V2UpdateClusterManifest", 422): Ask(RENAMED | {"updated_file_name": "a b.yaml"}, scene=with_manifest),
    ("V2UpdateClusterManifest", 409): Ask(RENAMED, scene=contended(with_manifest)),
    ("V2PutClusterManifest", 422): Ask(RENAMED | {"updated_file_name": "a b.yaml"}, scene=with_manifest),
    ("V2PutClusterManifest", 409): Ask(RENAMED, scene=contended(with_manifest)),
    ("V2DeleteClusterManifest", 409): Ask(query="file_name=50-one.yaml", scene=contended(with_manifest)),
    ("V2DeleteClusterManifest", 400): Ask(),
    ("v2DownloadClusterManifest", 400): Ask(),
    ("v2ReportMonitoredOperatorStatus", 400): Ask({"name": "console", "status": "sleepy"}),
    ("V2ListOfClusterOperators", 404): Ask(query="operator_name=none"),
    ("V2ListOperatorProperties", 404): Ask(path={"operator_name": "none"}),
    ("V2GetBundle", 404): Ask(path={"id": "none"}),
    ("V2GetBundle", 400): Ask(query="feature_ids=none"),
    ("V2ListBundles", 400): Ask(query="platform_type=moon"),
    ("GetSupportedFeatures", 400): Ask(query="openshift_version=old"),
    ("GetDetailedSupportedFeatures", 400): Ask(query="openshift_version=old"),
    ("GetSupportedArchitectures", 400): Ask(query="openshift_version=old"),
    ("v2ListSupportedOpenshiftVersions", 400): Ask(query="only_latest=perhaps"),
}
"""What `usual` in the test does not know."""

IN_THE_PUBLISHED_API: Final = "The published API has it; "
COME_AGAIN: Final = "machines that lose a race are answered with 503, after which they ask again."
UNUSED: Final[dict[tuple[str, int], str]] = {
    ("ListClusterHosts", 404): IN_THE_PUBLISHED_API + "a cluster nobody knows has an empty list of hosts.",
    ("TransformClusterToAddingHosts", 409): IN_THE_PUBLISHED_API + "the wrong state is answered with 400.",
    ("TransformClusterToDay2", 409): IN_THE_PUBLISHED_API + "the wrong state is answered with 400.",
    ("V2ListOperatorProperties", 400): "The name is any text, so none is malformed: an unknown one is not found.",
    ("GetSupportedFeatures", 404): IN_THE_PUBLISHED_API + "a version without levels is answered with 400.",
    ("GetSupportedArchitectures", 404): IN_THE_PUBLISHED_API + "a version without levels is answered with 400.",
    ("v2TriggerEvent", 409): IN_THE_PUBLISHED_API + "events have no state that could conflict.",
    ("DownloadMinimalInitrd", 409): IN_THE_PUBLISHED_API + "there is nothing to wait for.",
    ("V2ListClusterManifests", 409): IN_THE_PUBLISHED_API + "reading conflicts with nothing.",
    ("v2DownloadClusterManifest", 409): IN_THE_PUBLISHED_API + "a manifest that is not there is not found.",
    ("v2CompleteInstallation", 409): IN_THE_PUBLISHED_API + COME_AGAIN,
    ("v2UpdateClusterLogsProgress", 409): IN_THE_PUBLISHED_API + COME_AGAIN,
    ("v2UpdateHostLogsProgress", 409): IN_THE_PUBLISHED_API + COME_AGAIN,
    ("v2ReportMonitoredOperatorStatus", 409): IN_THE_PUBLISHED_API + COME_AGAIN,
    ("V2UploadLogs", 409): IN_THE_PUBLISHED_API + COME_AGAIN,
    ("v2ListEvents", 404): IN_THE_PUBLISHED_API + "what nobody knows has no events.",
}
"""Documented, and never given."""
