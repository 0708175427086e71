"""Manifests of a new cluster's own configuration (folder `manifests`), derived from its final install-config."""

from collections.abc import Iterator, Mapping
from typing import Final

from firstlight.core.install.certificates import MACHINE_CONFIG_SERVER, ROOT_CA, Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document, is_mapping, is_sequence, mapping, sequence, to_text
from firstlight.core.install.identity import Identity
from firstlight.core.install.infrastructure import infrastructure, replicas
from firstlight.core.install.inputs import Value
from firstlight.core.install.kube_objects import Manifest, config_map, config_object, kube_object, manifest, secret
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.versions.numbers import parse

FOLDER: Final = "manifests"
VERSION_FILE: Final = "cvo-overrides.yaml"
BLANKED: Final = frozenset({"password", "pullSecret"})
MCO: Final = "openshift-machine-config-operator"
OWNER: Final = {"openshift.io/owning-component": "Machine Config Operator"}
USER_CA: Final = "user-ca-bundle"


class Installation(Value, frozen=True, kw_only=True):
    """Everything the manifests and bootstrap.ign are made from."""

    cluster: ClusterInputs
    config: Mapping[str, object]
    """The final install-config, overrides applied."""
    identity: Identity
    certificates: Certificates
    invoker: str = "assisted-installer"

    @property
    def trust_bundle(self) -> str:
        return str(self.config.get("additionalTrustBundle", ""))

    @property
    def has_proxy(self) -> bool:
        return bool(mapping(self.config.get("proxy")))


def cluster_manifests(installation: Installation) -> tuple[Manifest, ...]:
    named = (*settings(installation), *secrets(installation), *trust(installation))
    return tuple(manifest(FOLDER, name, document) for name, document in named)


def settings(installation: Installation) -> Iterator[tuple[str, Document]]:
    cluster, config = installation.cluster, installation.config
    network = mapping(config.get("networking"))
    public = {"install-config": to_text(without_secrets(config))}
    yield "cluster-config.yaml", config_map("cluster-config-v1", "kube-system", public)
    yield "cluster-infrastructure-02-config.yml", infrastructure(cluster, config, installation.identity)
    yield (
        "cluster-network-02-config.yml",
        config_object(
            "Network",
            spec={
                "clusterNetwork": network.get("clusterNetwork", []),
                "externalIP": {"policy": {}},
                "networkType": network.get("networkType", ""),
                "serviceNetwork": network.get("serviceNetwork", []),
            },
        ),
    )
    yield "cluster-dns-02-config.yml", config_object("DNS", spec={"baseDomain": cluster.domain}, status={})
    yield "cluster-ingress-02-config.yml", ingress(cluster)
    yield "cluster-proxy-01-config.yaml", proxy(installation)
    scheduling = {"mastersSchedulable": replicas(config, "compute") == 0, "policy": {"name": ""}}
    yield "cluster-scheduler-02-config.yml", config_object("Scheduler", spec=scheduling, status={})
    yield VERSION_FILE, cluster_version(installation, overrides=())


def ingress(cluster: ClusterInputs) -> Document:
    on_control_plane = cluster.is_single_node and cluster.platform is PlatformType.NONE
    placement = "ControlPlane" if on_control_plane else "Workers"
    domain = {"domain": f"apps.{cluster.domain}"}
    return config_object("Ingress", spec=domain, status={"defaultPlacement": placement})


def proxy(installation: Installation) -> Document:
    config = installation.config
    given = mapping(config.get("proxy"))
    always = config.get("additionalTrustBundlePolicy") == "Always"
    trusted = USER_CA if installation.trust_bundle and (given or always) else ""
    spec: Document = {**given, "trustedCA": {"name": trusted}}
    return config_object("Proxy", spec=spec, status={**given, "noProxy": no_proxy(installation)} if given else {})


def no_proxy(installation: Installation) -> str:
    """What every component reaches directly: the cluster's own names and networks besides the user's exceptions."""
    network = mapping(installation.config.get("networking"))
    own = {"127.0.0.1", "localhost", ".svc", ".cluster.local", f"api-int.{installation.cluster.domain}"}
    cidrs = [
        mapping(one).get("cidr") for key in ("clusterNetwork", "machineNetwork") for one in sequence(network.get(key))
    ]
    given = str(mapping(installation.config.get("proxy")).get("noProxy", "")).split(",")
    if given == ["*"]:
        return "*"
    everything = {*own, *map(str, cidrs), *map(str, sequence(network.get("serviceNetwork"))), *given}
    return ",".join(sorted(one for one in everything if one))


def cluster_version(installation: Installation, *, overrides: tuple[Document, ...]) -> Document:
    version = parse(installation.cluster.version)
    spec: Document = {
        "channel": f"stable-{version.major}.{version.minor}",
        "clusterID": str(installation.identity.cluster_id),
    }
    if installation.config.get("capabilities"):
        spec["capabilities"] = installation.config["capabilities"]
    if overrides:
        spec["overrides"] = list(overrides)
    return kube_object(
        "config.openshift.io/v1", "ClusterVersion", "version", namespace="openshift-cluster-version", spec=spec
    )


def secrets(installation: Installation) -> Iterator[tuple[str, Document]]:
    pairs = installation.certificates.pairs
    root, server = pairs[ROOT_CA], pairs[MACHINE_CONFIG_SERVER]
    pull_secret = {".dockerconfigjson": str(installation.config.get("pullSecret", ""))}
    tls = "kubernetes.io/tls"
    yield (
        "openshift-config-secret-pull-secret.yaml",
        secret("pull-secret", "openshift-config", pull_secret, kind="kubernetes.io/dockerconfigjson"),
    )
    yield "kube-cloud-config.yaml", secret("kube-cloud-cfg", "kube-system", {"config": ""})
    yield (
        "machine-config-server-ca-secret.yaml",
        secret(
            "machine-config-server-ca",
            MCO,
            {"tls.crt": root.certificate, "tls.key": root.key},
            kind=tls,
            annotations=OWNER,
            labels={"auth.openshift.io/managed-certificate-type": "signer"},
        ),
    )
    yield (
        "machine-config-server-tls-secret.yaml",
        secret(
            "machine-config-server-tls",
            MCO,
            {"tls.crt": server.certificate, "tls.key": server.key},
            kind=tls,
            annotations=OWNER,
            labels={"auth.openshift.io/managed-certificate-type": "target"},
        ),
    )


def trust(installation: Installation) -> Iterator[tuple[str, Document]]:
    root = installation.certificates.pairs[ROOT_CA].certificate
    yield "kube-system-configmap-root-ca.yaml", config_map("root-ca", "kube-system", {"ca.crt": root})
    yield (
        "machine-config-server-ca-configmap.yaml",
        config_map(
            "machine-config-server-ca",
            MCO,
            {"ca-bundle.crt": root},
            annotations=OWNER,
            labels={"auth.openshift.io/managed-certificate-type": "ca-bundle"},
        ),
    )
    if installation.trust_bundle:
        bundle = {"ca-bundle.crt": installation.trust_bundle}
        yield "user-ca-bundle-config.yaml", config_map(USER_CA, "openshift-config", bundle)
    if installation.config.get("imageDigestSources"):
        mirrors = {"imageDigestMirrors": installation.config["imageDigestSources"]}
        yield (
            "image-digest-mirror-set.yaml",
            kube_object("config.openshift.io/v1", "ImageDigestMirrorSet", "image-digest-mirror", spec=mirrors),
        )
    elif installation.config.get("imageContentSources"):
        mirrors = {"repositoryDigestMirrors": installation.config["imageContentSources"]}
        yield (
            "image-content-source-policy.yaml",
            kube_object("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", "image-policy", spec=mirrors),
        )


def without_secrets(value: object) -> object:
    """The document as everyone in the cluster may read it."""
    if is_mapping(value):
        return {key: "" if key in BLANKED else without_secrets(item) for key, item in mapping(value).items()}
    if is_sequence(value):
        return [without_secrets(item) for item in sequence(value)]
    return value
