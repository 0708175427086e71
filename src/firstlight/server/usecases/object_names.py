"""Where the files of a cluster are kept: the names installers and operators of the original know."""

from typing import Final
from uuid import UUID

from firstlight.core.install.cluster_inputs import InstallHost
from firstlight.core.install.from_records import install_host
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState

KUBECONFIG: Final = "kubeconfig"
KUBECONFIG_NO_INGRESS: Final = "kubeconfig-noingress"
PASSWORD: Final = "kubeadmin-password"  # noqa: S105 - a file name
LOGS: Final = "logs"
MANIFESTS: Final = "manifests"
CONTROLLER: Final = "controller"
LIVE_LOGS: Final = "live-logs"
LOG_UPLOADS: Final = "log-uploads"


def object_name(cluster_id: UUID, file_name: str) -> str:
    return f"{cluster_id}/{file_name}"


def manifest_object(cluster_id: UUID, folder: str, file_name: str) -> str:
    return f"{cluster_id}/{MANIFESTS}/{folder}/{file_name}"


def logs_of_cluster(cluster_id: UUID) -> str:
    return f"{cluster_id}/{LOGS}"


def logs_object(cluster_id: UUID, origin: UUID | str) -> str:
    """`origin` is a host or the controller."""
    return f"{cluster_id}/{LOGS}/{origin}/logs.tar.gz"


def holds_secrets(key: str) -> bool:
    """Everything of a cluster but its logs: credentials, Ignition, install-config, and manifests (some are Secrets)."""
    first, _, rest = key.partition("/")
    return first not in (LIVE_LOGS, LOG_UPLOADS) and rest.partition("/")[0] != LOGS


def host_ignition(host: InstallHost) -> str:
    return f"{host.node_role}-{host.id}.ign"


def host_ignition_object(state: HostState, cluster: Cluster) -> str:
    return object_name(cluster.id, host_ignition(install_host(state, cluster=cluster)))


def live_logs_of(infra_env_id: UUID, host_id: UUID | None = None) -> str:
    """Where the growing logs of an infra-env's agents are, or of one of them."""
    return f"{LIVE_LOGS}/{infra_env_id}" if host_id is None else f"{LIVE_LOGS}/{infra_env_id}/{host_id}"


def log_uploads_of(infra_env_id: UUID, host_id: UUID | None = None) -> str:
    """Where archives of an infra-env's hosts, or of one of them, are until they are whole."""
    return f"{LOG_UPLOADS}/{infra_env_id}" if host_id is None else f"{LOG_UPLOADS}/{infra_env_id}/{host_id}"
