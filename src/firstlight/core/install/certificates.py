"""The certificates a new cluster starts with: a table of who signs what, for whom and how long.

Nothing is signed here. `certificate_plan` says what is needed, the service's PKI makes it, and the result comes
back as PEM texts in `Certificates`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.inputs import Value
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.network.addresses import network_of

DAY: Final = timedelta(days=1)
YEAR: Final = timedelta(days=365)
DECADE: Final = 10 * YEAR

ROOT_CA: Final = "root-ca"
MACHINE_CONFIG_SERVER: Final = "machine-config-server"
ADMIN_SIGNER: Final = "admin-kubeconfig-signer"
ADMIN_CLIENT: Final = "admin-kubeconfig-client"
KUBELET_BOOTSTRAP_SIGNER: Final = "kubelet-bootstrap-kubeconfig-signer"
KUBELET_CLIENT: Final = "kubelet-client"
LOCALHOST_SIGNER: Final = "kube-apiserver-localhost-signer"
SERVICE_NETWORK_SIGNER: Final = "kube-apiserver-service-network-signer"
LOAD_BALANCER_SIGNER: Final = "kube-apiserver-lb-signer"
TO_KUBELET_SIGNER: Final = "kube-apiserver-to-kubelet-signer"
CONTROL_PLANE_SIGNER: Final = "kube-control-plane-signer"
KUBELET_SIGNER: Final = "kubelet-signer"
AGGREGATOR_CA: Final = "aggregator-ca"
AGGREGATOR_SIGNER: Final = "aggregator-signer"

COMPLETE_SERVER_BUNDLE: Final = "kube-apiserver-complete-server-ca-bundle"
LOCALHOST_BUNDLE: Final = "kube-apiserver-localhost-ca-bundle"
BUNDLES: Final[Mapping[str, tuple[str, ...]]] = {
    "admin-kubeconfig-ca-bundle": (ADMIN_SIGNER,),
    "aggregator-ca-bundle": (AGGREGATOR_SIGNER,),
    "kube-apiserver-to-kubelet-ca-bundle": (TO_KUBELET_SIGNER,),
    LOCALHOST_BUNDLE: (LOCALHOST_SIGNER,),
    "kube-apiserver-service-network-ca-bundle": (SERVICE_NETWORK_SIGNER,),
    "kube-apiserver-lb-ca-bundle": (LOAD_BALANCER_SIGNER,),
    "kube-control-plane-ca-bundle": (CONTROL_PLANE_SIGNER,),
    "kubelet-client-ca-bundle": (KUBELET_SIGNER,),
    "kubelet-serving-ca-bundle": (KUBELET_SIGNER,),
    "kubelet-bootstrap-kubeconfig-ca-bundle": (KUBELET_BOOTSTRAP_SIGNER,),
    COMPLETE_SERVER_BUNDLE: (LOCALHOST_SIGNER, SERVICE_NETWORK_SIGNER, LOAD_BALANCER_SIGNER),
    "kube-apiserver-complete-client-ca-bundle": (
        ADMIN_SIGNER,
        KUBELET_SIGNER,
        CONTROL_PLANE_SIGNER,
        TO_KUBELET_SIGNER,
        KUBELET_BOOTSTRAP_SIGNER,
    ),
}


class CertificateSpec(Value, frozen=True, kw_only=True):
    """One certificate to make. Without an issuer it signs itself."""

    name: str
    common_name: str
    issuer: str = ""
    is_authority: bool = False
    organizations: tuple[str, ...] = ()
    unit: str = ""
    server: bool = False
    client: bool = False
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    valid_for: timedelta = DECADE
    with_chain: bool = False
    """Whether the issuer's certificate follows in the same file."""
    plain_key_usage: bool = True
    """False leaves key usage out, as machine-config-server always did."""


class KeyPair(Value, frozen=True, kw_only=True):
    certificate: str
    """PEM; of the certificate alone."""
    key: str
    """PEM, PKCS#8."""
    chain: str = ""
    """PEM of the issuer where the file holds both."""


class SigningKey(Value, frozen=True, kw_only=True):
    """The pair that signs service account tokens."""

    private: str
    public: str


class Certificates(Value, frozen=True, kw_only=True):
    pairs: Mapping[str, KeyPair]
    service_account: SigningKey
    bootstrap_ssh_key: str = ""
    """Public half, in authorized_keys form."""

    def bundle(self, name: str) -> str:
        return "".join(self.pairs[signer].certificate for signer in BUNDLES[name])


def certificate_plan(cluster: ClusterInputs) -> tuple[CertificateSpec, ...]:
    """Every certificate the cluster needs, issuers before what they sign."""
    machines = (*authorities(), *machine_leaves(cluster), *client_leaves(), *apiserver_leaves(cluster))
    return machines if cluster.platform is not PlatformType.BAREMETAL else (*machines, ironic(cluster))


def authorities() -> tuple[CertificateSpec, ...]:
    lifetimes = {
        ROOT_CA: DECADE,
        ADMIN_SIGNER: DECADE,
        KUBELET_BOOTSTRAP_SIGNER: DECADE,
        LOCALHOST_SIGNER: DECADE,
        SERVICE_NETWORK_SIGNER: DECADE,
        LOAD_BALANCER_SIGNER: DECADE,
        TO_KUBELET_SIGNER: YEAR,
        CONTROL_PLANE_SIGNER: YEAR,
        KUBELET_SIGNER: DAY,
        AGGREGATOR_SIGNER: DAY,
    }
    signers = tuple(
        CertificateSpec(name=name, common_name=name, unit="openshift", is_authority=True, valid_for=lifetime)
        for name, lifetime in lifetimes.items()
    )
    aggregator = CertificateSpec(
        name=AGGREGATOR_CA, common_name="aggregator", unit="bootkube", is_authority=True, valid_for=DAY
    )
    return (*signers, aggregator)


def machine_leaves(cluster: ClusterInputs) -> tuple[CertificateSpec, ...]:
    vips = cluster.api_vips if cluster.has_own_vips else ()
    return (
        CertificateSpec(
            name=MACHINE_CONFIG_SERVER,
            common_name="system:machine-config-server",
            issuer=ROOT_CA,
            server=True,
            # Ignition on older hosts compares an address in the URL with DNS names: give both forms.
            dns_names=(f"api-int.{cluster.domain}", *vips),
            addresses=vips,
            plain_key_usage=False,
        ),
        CertificateSpec(
            name="journal-gatewayd",
            common_name="journal-gatewayd",
            organizations=("OpenShift Bootstrap",),
            issuer=ROOT_CA,
            server=True,
            client=True,
        ),
    )


def client_leaves() -> tuple[CertificateSpec, ...]:
    mco = "openshift-machine-config-operator"
    bootstrapper = f"system:serviceaccount:{mco}:node-bootstrapper"
    accounts = (f"system:serviceaccounts:{mco}", "system:serviceaccounts")
    masters, apiserver = ("system:masters",), ("kube-master",)
    rows = (
        (ADMIN_CLIENT, "system:admin", masters, ADMIN_SIGNER, DECADE),
        (KUBELET_CLIENT, bootstrapper, accounts, KUBELET_BOOTSTRAP_SIGNER, DECADE),
        ("kube-apiserver-to-kubelet-client", "system:kube-apiserver", apiserver, TO_KUBELET_SIGNER, YEAR),
        ("kube-control-plane-kube-controller-manager-client", "system:admin", masters, CONTROL_PLANE_SIGNER, YEAR),
        ("kube-control-plane-kube-scheduler-client", "system:admin", masters, CONTROL_PLANE_SIGNER, YEAR),
        ("apiserver-proxy", "system:kube-apiserver-proxy", apiserver, AGGREGATOR_CA, DAY),
        ("aggregator-client", "system:kube-apiserver-proxy", apiserver, AGGREGATOR_SIGNER, DAY),
    )
    return tuple(
        CertificateSpec(
            name=name,
            common_name=common_name,
            organizations=organizations,
            issuer=issuer,
            client=True,
            server=name == ADMIN_CLIENT,
            valid_for=lifetime,
        )
        for name, common_name, organizations, issuer, lifetime in rows
    )


def apiserver_leaves(cluster: ClusterInputs) -> tuple[CertificateSpec, ...]:
    """One serving certificate per way to reach the API server; each lives a day and is rotated by the cluster."""
    inside = tuple(
        f"{service}{domain}"
        for service in ("kubernetes", "openshift")
        for domain in ("", ".default", ".default.svc", ".default.svc.cluster.local")
    )
    serving = (
        ("localhost", LOCALHOST_SIGNER, ("localhost",), ("127.0.0.1", "::1")),
        ("service-network", SERVICE_NETWORK_SIGNER, inside, first_service_address(cluster)),
        ("lb", LOAD_BALANCER_SIGNER, (f"api.{cluster.domain}",), ()),
        ("internal-lb", LOAD_BALANCER_SIGNER, (f"api-int.{cluster.domain}",), ()),
    )
    return tuple(
        CertificateSpec(
            name=f"kube-apiserver-{way}-server",
            common_name="system:kube-apiserver",
            organizations=("kube-master",),
            issuer=signer,
            server=True,
            dns_names=names,
            addresses=addresses,
            valid_for=DAY,
            with_chain=True,
        )
        for way, signer, names, addresses in serving
    )


def first_service_address(cluster: ClusterInputs) -> tuple[str, ...]:
    """Where `kubernetes.default` answers: the first address of the first service network."""
    network = network_of(cluster.service_networks[0]) if cluster.service_networks else None
    return () if network is None else (str(network.network_address + 1),)


def ironic(cluster: ClusterInputs) -> CertificateSpec:
    return CertificateSpec(
        name="ironic/tls",
        common_name="ironic",
        unit="openshift",
        server=True,
        dns_names=(f"api-int.{cluster.domain}",),
        addresses=cluster.api_vips,
        valid_for=DAY,
    )
