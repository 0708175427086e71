"""bootstrap.ign: identity, certificates, kubeconfigs and manifests for the host that starts the control plane.

The programs that use them (bootkube and its scripts) belong to the release and are added by its own installer.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.certificates import BUNDLES, ROOT_CA
from firstlight.core.install.cluster_manifests import FOLDER as VERSION_FOLDER
from firstlight.core.install.cluster_manifests import VERSION_FILE, Installation, cluster_manifests, cluster_version
from firstlight.core.install.discovery_files import proxy_profile
from firstlight.core.install.documents import Document, mapping, sequence, to_text
from firstlight.core.install.ignition_models import Config, File, User
from firstlight.core.install.inputs import ProxySettings
from firstlight.core.install.kube_objects import Manifest, identity_of, machine_config, manifest
from firstlight.core.install.kubeconfig import (
    internal_kubeconfig,
    kubelet_kubeconfig,
    loopback_kubeconfig,
)
from firstlight.core.install.openshift_manifests import openshift_manifests
from firstlight.core.install.unit_files import quoted

VERSION: Final = "3.2.0"
HOME: Final = "/opt/openshift"
SECRET: Final = 0o600
UNMANAGED_RESOLVER: Final = "[main]\nrc-manager=unmanaged\n"
MOTD: Final = """
  This machine starts the control plane of a new cluster and joins it afterwards.

      journalctl --unit bootkube.service --follow

"""


def bootstrap_config(installation: Installation, *, extra: Iterable[Manifest] = ()) -> Config:
    """The whole config. `extra` manifests take the place of generated ones of the same folder and name."""
    generated = [*cluster_manifests(installation), *openshift_manifests(installation)]
    manifests = with_overrides(installation, replaced(generated, extra))
    keys = [*str(installation.config.get("sshKey", "")).splitlines(), installation.certificates.bootstrap_ssh_key]
    core = User(name="core", ssh_authorized_keys=tuple(dict.fromkeys(key.strip() for key in keys if key.strip())))
    files = [*manifest_files(manifests), *secret_files(installation), *system_files(installation)]
    document = ignition.config(VERSION, files=files, users=(core,))
    ignition.require_valid(document)
    return document


def replaced(generated: Iterable[Manifest], extra: Iterable[Manifest]) -> list[Manifest]:
    return list({(one.folder, one.name): one for one in (*generated, *extra)}.values())


def with_overrides(installation: Installation, manifests: list[Manifest]) -> list[Manifest]:
    """Tell the version operator to leave alone what these manifests create, until bootstrapping is over."""
    documents = [document for one in manifests for document in one.documents]
    require_distinct(documents)
    overrides = tuple(override(document) for document in documents if document.get("kind") != "ClusterVersion")
    version = manifest(VERSION_FOLDER, VERSION_FILE, cluster_version(installation, overrides=overrides))
    return replaced(manifests, [version])


def override(document: Document) -> Document:
    group, kind, namespace, name = identity_of(document)
    return {"kind": kind, "group": group, "namespace": namespace, "name": name, "unmanaged": True}


def require_distinct(documents: Iterable[Document]) -> None:
    seen: set[tuple[str, str, str, str]] = set()
    for document in documents:
        identity = identity_of(document)
        if identity in seen:
            raise Invalid(
                f"Two manifests describe the same object: {identity[1]} {identity[3]}"
                f"{f' in namespace {identity[2]}' if identity[2] else ''}. Remove one of them."
            )
        seen.add(identity)


def manifest_files(manifests: Iterable[Manifest]) -> Iterator[File]:
    for one in manifests:
        yield ignition.file(f"{HOME}/{one.folder}/{one.name}", one.content)
    yield ignition.file(f"{HOME}/original_cvo_overrides.patch", to_text({"spec": {"overrides": None}}))


def secret_files(installation: Installation) -> Iterator[File]:
    certificates, cluster = installation.certificates, installation.cluster
    for name, pair in certificates.pairs.items():
        mode = 0o644 if name == ROOT_CA else SECRET
        yield ignition.file(f"{HOME}/tls/{name}.crt", pair.certificate + pair.chain, mode=mode)
        # The root's key stays out: whoever reads this folder must not be able to name new authorities.
        if name != ROOT_CA:
            yield ignition.file(f"{HOME}/tls/{name}.key", pair.key, mode=SECRET)
    for name in BUNDLES:
        yield ignition.file(f"{HOME}/tls/{name}.crt", certificates.bundle(name), mode=SECRET)
    yield ignition.file(f"{HOME}/tls/service-account.key", certificates.service_account.private, mode=SECRET)
    yield ignition.file(f"{HOME}/tls/service-account.pub", certificates.service_account.public, mode=SECRET)
    for name, text in (
        ("kubeconfig", internal_kubeconfig(cluster, certificates)),
        ("kubeconfig-kubelet", kubelet_kubeconfig(cluster, certificates)),
        ("kubeconfig-loopback", loopback_kubeconfig(cluster, certificates)),
    ):
        yield ignition.file(f"{HOME}/auth/{name}", text, mode=SECRET)


def system_files(installation: Installation) -> Iterator[File]:
    config, cluster = installation.config, installation.cluster
    yield ignition.file("/etc/motd", MOTD)
    yield ignition.file("/root/.docker/config.json", str(config.get("pullSecret", "")), mode=SECRET)
    fips = machine_config("bootstrap-fips", "bootstrap", fips=bool(config.get("fips")))
    yield ignition.file("/etc/ignition-machine-config-encapsulated.json", to_text(fips), mode=SECRET)
    sources = [
        mapping(one) for key in ("imageDigestSources", "imageContentSources") for one in sequence(config.get(key))
    ]
    if sources:
        yield ignition.file("/etc/containers/registries.conf", registries_conf(sources))
    if installation.trust_bundle:
        yield ignition.file("/etc/pki/ca-trust/source/anchors/ca.crt", installation.trust_bundle, mode=SECRET)
    if installation.has_proxy:
        section = mapping(config.get("proxy"))
        proxy = ProxySettings(
            http=str(section.get("httpProxy", "")),
            https=str(section.get("httpsProxy", "")),
            no_proxy=str(section.get("noProxy", "")),
        )
        environment = " ".join(quoted(f"{name}={value}") for name, value in proxy.environment)
        yield ignition.file("/etc/profile.d/proxy.sh", proxy_profile(proxy.environment), mode=SECRET)
        manager = f"[Manager]\nDefaultEnvironment={environment}\n"
        yield ignition.file("/etc/systemd/system.conf.d/10-default-env.conf", manager, mode=SECRET)
    if not cluster.is_single_node:
        yield ignition.file(f"{HOME}/assisted-install-bootstrap", "")
        yield ignition.file("/etc/NetworkManager/conf.d/99-kni.conf", UNMANAGED_RESOLVER)


def registries_conf(sources: Iterable[Document]) -> str:
    """One entry per source; a source named twice gets the mirrors of both."""
    mirrors: dict[str, dict[str, None]] = {}
    for entry in sources:
        known = mirrors.setdefault(str(entry.get("source", "")), {})
        known.update(dict.fromkeys(map(str, sequence(entry.get("mirrors")))))
    text = ""
    for source, found in mirrors.items():
        text += f'[[registry]]\nprefix = ""\nlocation = {quoted_toml(source)}\nmirror-by-digest-only = true\n\n'
        text += "".join(f"[[registry.mirror]]\nlocation = {quoted_toml(mirror)}\n\n" for mirror in found)
    return text


def quoted_toml(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
