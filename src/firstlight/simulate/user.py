"""What a person does around a fleet: create a cluster, name its virtual addresses, start, fetch the kubeconfig."""

import base64
from collections.abc import Mapping
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

from firstlight.simulate.calls import OWN_API, Service, decoded
from firstlight.simulate.documents import ClusterDocument, InfraEnvDocument
from firstlight.simulate.ends import Snapshot, everything_registered
from firstlight.simulate.networks import Network

BASE_DOMAIN: Final = "lab.example.com"
REGISTRIES: Final = ("cloud.openshift.com", "quay.io", "registry.connect.redhat.com", "registry.redhat.io")
SSH_KEY: Final = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHVc0uPG9bB0k3oC8xP1GQYq3t5o2b0rS1cQ7d9e8fAA simulated@lab.example.com"
)
WITHOUT_INVENTORY: Final = frozenset({"discovering", "discovering-unbound", ""})


class _Version(Struct):
    support_level: str = ""
    default: bool = False


def simulated_pull_secret() -> str:
    """Credentials of the right form that open nothing."""
    login = base64.b64encode(b"simulated:machine").decode()
    return msgspec.json.encode({"auths": {name: {"auth": login, "email": "a@b.c"} for name in REGISTRIES}}).decode()


async def default_version(service: Service) -> str:
    """The release the service offers first."""
    answer = await service.ask("GET", "/v2/openshift-versions", query={"only_latest": "true"})
    versions = msgspec.json.decode(answer, type=dict[str, _Version])
    offered = [version for version, about in versions.items() if about.default] or [
        version for version, about in versions.items() if about.support_level == "production"
    ]
    return max(offered or versions, key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("-")[0].split("."))


class NewCluster(Struct, frozen=True, kw_only=True):
    """What is asked for; an empty version or pull secret means the service's default and a simulated one."""

    name: str
    control_plane_count: int = 3
    version: str = ""
    base_domain: str = BASE_DOMAIN
    pull_secret: str = ""


async def create_cluster(service: Service, new: NewCluster) -> tuple[UUID, UUID]:
    """A cluster and its infra-env: their ids."""
    version, secret = new.version or await default_version(service), new.pull_secret or simulated_pull_secret()
    wanted: dict[str, object] = {
        "name": new.name,
        "openshift_version": version,
        "pull_secret": secret,
        "base_dns_domain": new.base_domain,
        "ssh_public_key": SSH_KEY,
        "control_plane_count": new.control_plane_count,
    }
    if new.control_plane_count == 1:
        wanted["high_availability_mode"] = "None"
    cluster = decoded(ClusterDocument, await service.send("POST", "/v2/clusters", wanted))
    return cluster.id, await create_infra_env(service, new, cluster_id=cluster.id, version=version)


async def create_infra_env(service: Service, new: NewCluster, *, cluster_id: UUID, version: str = "") -> UUID:
    wanted = {
        "name": f"{new.name}-infra",
        "cluster_id": str(cluster_id),
        "pull_secret": new.pull_secret or simulated_pull_secret(),
        "ssh_authorized_key": SSH_KEY,
        **({"openshift_version": version} if version else {}),
    }
    return decoded(InfraEnvDocument, await service.send("POST", "/v2/infra-envs", wanted)).id


async def import_cluster(service: Service, new: NewCluster, *, openshift_cluster_id: UUID) -> tuple[UUID, UUID]:
    """A running cluster that shall grow, and the infra-env of its new hosts."""
    wanted = {
        "name": new.name,
        "api_vip_dnsname": f"api.{new.name}.{new.base_domain}",
        "openshift_cluster_id": str(openshift_cluster_id),
        "openshift_version": new.version or await default_version(service),
    }
    cluster = decoded(ClusterDocument, await service.send("POST", "/v2/clusters/import", wanted))
    return cluster.id, await create_infra_env(service, new, cluster_id=cluster.id, version=wanted["openshift_version"])


async def set_vips(service: Service, cluster_id: UUID, network: Network) -> None:
    await service.send(
        "PATCH",
        f"/v2/clusters/{cluster_id}",
        {"api_vips": [{"ip": network.api_vip}], "ingress_vips": [{"ip": network.ingress_vip}]},
    )


async def set_roles(service: Service, infra_env_id: UUID, roles: Mapping[UUID, str]) -> None:
    for host_id, role in roles.items():
        await service.send("PATCH", f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}", {"host_role": role})


async def install(service: Service, cluster_id: UUID) -> None:
    await service.ask("POST", f"/v2/clusters/{cluster_id}/actions/install")


async def install_host(service: Service, infra_env_id: UUID, host_id: UUID) -> None:
    await service.ask("POST", f"/v2/infra-envs/{infra_env_id}/hosts/{host_id}/actions/install")


async def retry_host(service: Service, infra_env_id: UUID, host_id: UUID) -> None:
    path = f"/v1/infra-envs/{infra_env_id}/hosts/{host_id}/actions/retry"
    await service.ask("POST", path, api=OWN_API)


async def replace_host(service: Service, infra_env_id: UUID, host_id: UUID, *, by: UUID) -> None:
    """The other machine is registered in the same infra-env."""
    path = f"/v1/infra-envs/{infra_env_id}/hosts/{host_id}/actions/replace"
    await service.ask("POST", path, body=msgspec.json.encode({"host_id": str(by)}), api=OWN_API)


def inventories_are_in(snapshot: Snapshot) -> bool:
    return everything_registered(snapshot) and all(
        host.status not in WITHOUT_INVENTORY for host in snapshot.hosts.values()
    )
