"""What all loops share: both clients, the watched objects, and the service's last word on the cluster and its hosts."""

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from firstlight.host.controller.bells import Bell
from firstlight.host.controller.documents import ClusterDocument, HostDocument
from firstlight.host.controller.kube.access import Access, from_kubeconfig
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.kube.watching import Watched
from firstlight.host.controller.log import Log
from firstlight.host.controller.objects import (
    BareMetalHost,
    ClusterOperator,
    ConfigMap,
    Csr,
    Csv,
    KubeObject,
    Machine,
    Node,
    Subscription,
)
from firstlight.host.controller.service import Service
from firstlight.host.controller.settings import ControllerSettings

T = TypeVar("T", bound=KubeObject)

CERTIFICATES: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES: Final = "/api/v1/nodes"
CONFIG: Final = "/apis/config.openshift.io/v1"
OLM: Final = "/apis/operators.coreos.com/v1alpha1"
MACHINES: Final = "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machines"
BARE_METAL: Final = "/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts"
INGRESS: Final = "/api/v1/namespaces/openshift-config-managed/configmaps"
INGRESS_NAME: Final = "default-ingress-cert"


class Site:
    def __init__(
        self, settings: ControllerSettings, *, log: Log, kube: Kube, service: Service, invoker: str = ""
    ) -> None:
        self.settings = settings
        self.log = log
        self.kube = kube
        self.service = service
        self.invoker = invoker
        """Who made the cluster's manifests."""
        self.known_platform = ""
        """For when the service does not say."""
        self.kept_admin: Access | None = None
        """For when the service will not be there to ask."""
        self.kept: dict[str, str] = {}
        """What the next life of the controller should know, beside the lasting sign of readiness."""
        self.cluster: ClusterDocument | None = None
        self.hosts: tuple[HostDocument, ...] = ()
        self.watched: list[Watched[KubeObject]] = []
        self._bells: list[Bell] = []
        self.nodes = self._watch(NODES, Node)
        self.requests = self._watch(CERTIFICATES, Csr)
        self.operators = self._watch(f"{CONFIG}/clusteroperators", ClusterOperator)
        self.versions = self._watch(f"{CONFIG}/clusterversions", ClusterOperator)
        self.subscriptions = self._watch(f"{OLM}/subscriptions", Subscription)
        self.csvs = self._watch(f"{OLM}/clusterserviceversions", Csv)
        self.machines = self._watch(MACHINES, Machine)
        self.bare_metal = self._watch(BARE_METAL, BareMetalHost)
        self.ingress = self._watch(INGRESS, ConfigMap, query={"fieldSelector": f"metadata.name={INGRESS_NAME}"})

    def _watch(self, path: str, type_: type[T], *, query: Mapping[str, str] | None = None) -> Watched[T]:
        watch = Watched(self.kube, path, type_, log=self.log, query=query)
        self.watched.append(watch)  # pyright: ignore[reportArgumentType]
        return watch

    def bell(self) -> Bell:
        """One that the service's news ring, besides the watches it is given to."""
        bell = Bell()
        self._bells.append(bell)
        return bell

    def heard(self, cluster: ClusterDocument, hosts: tuple[HostDocument, ...]) -> None:
        """The service's last word."""
        if (cluster, hosts) == (self.cluster, self.hosts):
            return
        self.cluster, self.hosts = cluster, hosts
        for bell in self._bells:
            bell.ring()

    @property
    def is_single_node(self) -> bool:
        return self.settings.control_plane_count == 1

    @property
    def platform(self) -> str:
        return (self.cluster.platform_type if self.cluster is not None else "") or self.known_platform

    async def as_admin(self) -> Kube:
        """A client with the installation's own kubeconfig, which the service keeps.

        What is needed rarely and could do harm is no right of the controller's account.
        """
        return Kube(self.kept_admin or await self.admin_access())

    async def admin_access(self) -> Access:
        given = from_kubeconfig(await self.service.admin_kubeconfig())
        # Reached the way we are: names like api.<cluster> may not be known in here yet.
        own = self.kube.access
        return msgspec.structs.replace(
            given, server=own.server, authorities=own.authorities, insecure=own.insecure, server_name=own.server_name
        )
