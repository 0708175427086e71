"""Networks, virtual addresses and proxies, in requests and answers alike."""

from uuid import UUID

from firstlight.core.wire.shape import Answer, Body, Cidr, HostPrefix, IpAddress
from firstlight.core.wire.words import LoadBalancerType, VipVerification


class ApiVip(Body, frozen=True, kw_only=True):
    """A virtual address of the API, in requests and answers."""

    cluster_id: UUID | None = None
    ip: IpAddress | None = None
    verification: VipVerification | None = None


class IngressVip(Body, frozen=True, kw_only=True):
    """A virtual address of ingress, in requests and answers."""

    cluster_id: UUID | None = None
    ip: IpAddress | None = None
    verification: VipVerification | None = None


class ClusterNetwork(Body, frozen=True, kw_only=True):
    """A pod network and the prefix each node gets from it."""

    cluster_id: UUID | None = None
    cidr: Cidr | None = None
    host_prefix: HostPrefix | None = None


class MachineNetwork(Body, frozen=True, kw_only=True):
    """A network the hosts live in."""

    cluster_id: UUID | None = None
    cidr: Cidr | None = None


class ServiceNetwork(Body, frozen=True, kw_only=True):
    """A network for service addresses."""

    cluster_id: UUID | None = None
    cidr: Cidr | None = None


class Proxy(Body, frozen=True, kw_only=True):
    """Proxy settings of an infra-env."""

    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None


class LoadBalancer(Body, frozen=True, kw_only=True):
    """Who runs the load balancer in front of the control plane."""

    type: LoadBalancerType | None = None


class HostNetwork(Answer, frozen=True, kw_only=True):
    """A network that every host with an inventory has, and who they are."""

    host_ids: tuple[UUID, ...]
    cidr: str = ""
