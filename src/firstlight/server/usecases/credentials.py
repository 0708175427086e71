"""How users log in to their new cluster, and the certificate its controller adds for them."""

from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.commands import installation_files
from firstlight.core.decision import Decision
from firstlight.core.errors import Conflict, NotFound
from firstlight.core.install.kubeconfig import CERTIFICATE, merge_ingress_ca
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import OperatorStatus
from firstlight.core.operators.catalogue import has_console
from firstlight.core.validate.trust_bundle import check_certificates
from firstlight.server.usecases.caller import Caller
from firstlight.server.usecases.deciding import change_cluster
from firstlight.server.usecases.manifests import known_cluster
from firstlight.server.usecases.object_names import KUBECONFIG, KUBECONFIG_NO_INGRESS, PASSWORD, object_name
from firstlight.server.usecases.world import World
from firstlight.server.usecases.yaml_documents import parse_yaml

USER_NAME: Final = "kubeadmin"
AGENT_INSTALLER: Final = "agent-installer"
"""Installations without a console to wait for: this service is gone before it comes up."""


class Login(Struct, frozen=True, kw_only=True):
    user_name: str
    password: str
    console_url: str


async def login(world: World, cluster_id: UUID) -> Login:
    cluster = await known_cluster(world, cluster_id)
    with_console = has_console(cluster.install_config_overrides)
    if with_console and world.service.install_invoker != AGENT_INSTALLER:
        _require_console(cluster)
    try:
        password = await world.blobs.get(object_name(cluster_id, PASSWORD))
    except NotFound:
        raise Conflict(f"Cluster {cluster.name} has no password; this service did not install it.") from None
    url = f"https://console-openshift-console.apps.{cluster.name}.{cluster.base_dns_domain}"
    return Login(user_name=USER_NAME, password=password.decode(), console_url=url if with_console else "")


def _require_console(cluster: Cluster) -> None:
    found = next((operator for operator in cluster.operators if operator.name == "console"), None)
    if found is None or found.status is not OperatorStatus.AVAILABLE:
        raise Conflict(
            f"The console of cluster {cluster.name} is not available yet, so nobody can log in. Ask again once the "
            "installation has come to its end."
        )


async def take_ingress_certificate(world: World, cluster_id: UUID, pem: str, *, caller: Caller) -> None:
    """Trust the cluster's ingress in the kubeconfig that users get; doing it twice changes nothing."""
    cluster = await known_cluster(world, cluster_id)
    installation_files.require_end(cluster)
    if cluster.kubeconfig_complete:
        return
    check_certificates("\n".join(CERTIFICATE.findall(pem)), what="The ingress certificate")
    try:
        known = await world.blobs.get(object_name(cluster_id, KUBECONFIG_NO_INGRESS))
    except NotFound:
        raise Conflict(f"Cluster {cluster.name} has no kubeconfig to which a certificate could be added.") from None
    # Ours is JSON, that of a release's own installer is YAML.
    documents = parse_yaml(known.decode("utf-8", "replace"), what="The stored kubeconfig")
    merged = merge_ingress_ca(documents[0] if documents else {}, pem)
    await world.blobs.put(object_name(cluster_id, KUBECONFIG), merged.encode())

    def command(state: ClusterState, now: datetime) -> Decision:
        return installation_files.complete_kubeconfig(state.cluster, now=now)

    await change_cluster(world, cluster_id, command, caller=caller)
