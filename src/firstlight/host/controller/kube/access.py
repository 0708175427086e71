"""How to reach an API server: the pod's own service account, or a kubeconfig."""

import base64
import binascii
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Unfetched
from firstlight.host.controller.yaml_text import read_documents
from firstlight.host.fetching import trust, with_pair
from firstlight.host.root import Root

ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


class Access(Struct, frozen=True, kw_only=True):
    server: str
    authorities: str | None = None
    """PEM; None means the machine's own roots."""
    insecure: bool = False
    server_name: str = ""
    token: Callable[[], str] | None = None
    """Asked before each request, because mounted tokens are renewed."""
    certificate: str = ""
    key: str = ""

    def context(self) -> ssl.SSLContext:
        """Raises `Invalid` for certificates that nobody can read."""
        try:
            context = trust(
                root=Root(), authorities=self.authorities, only_these=bool(self.authorities), insecure=self.insecure
            )
            if self.certificate:
                with_pair(context, certificate=self.certificate, key=self.key)
        except (Unfetched, ssl.SSLError, OSError) as reason:
            raise Invalid(f"The certificates for {self.server} cannot be used: {reason}.") from reason
        return context


class _Cluster(Struct, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority_data: str = ""
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""


class _User(Struct, frozen=True, rename="kebab"):
    client_certificate_data: str = ""
    client_certificate: str = ""
    client_key_data: str = ""
    client_key: str = ""
    token: str = ""
    token_file: str = field(default="", name="tokenFile")


class _Context(Struct, frozen=True):
    cluster: str = ""
    user: str = ""


class _NamedCluster(Struct, frozen=True):
    name: str
    cluster: _Cluster = _Cluster()


class _NamedUser(Struct, frozen=True):
    name: str
    user: _User = _User()


class _NamedContext(Struct, frozen=True):
    name: str
    context: _Context = _Context()


class _Kubeconfig(Struct, frozen=True):
    clusters: tuple[_NamedCluster, ...] = ()
    users: tuple[_NamedUser, ...] = ()
    contexts: tuple[_NamedContext, ...] = ()
    current: str = field(default="", name="current-context")


def in_cluster(environment: Mapping[str, str], *, root: Root) -> Access:
    """The pod's own service account. Raises `Invalid` outside a pod."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not root.exists(f"{ACCOUNT}/token"):
        raise Invalid("This is no pod with a service account. Name a kubeconfig in the variable KUBECONFIG.")
    shown = f"[{host}]" if ":" in host else host
    return Access(
        server=f"https://{shown}:{port}",
        authorities=root.text(f"{ACCOUNT}/ca.crt"),
        token=lambda: root.line(f"{ACCOUNT}/token") or "",
    )


def from_kubeconfig(text: str, *, folder: Path = Path("/")) -> Access:
    """The context in use; `folder` is what paths in it are relative to. Raises `Invalid`."""
    try:
        documents = read_documents(text)
        config = msgspec.convert(documents[0] if documents else {}, _Kubeconfig)
    except msgspec.ValidationError as reason:
        raise Invalid(f"The kubeconfig has another shape than expected: {reason}.") from reason
    context = next((one.context for one in config.contexts if one.name == config.current), None)
    cluster = next((one.cluster for one in config.clusters if context and one.name == context.cluster), None)
    if context is None or cluster is None or not cluster.server:
        raise Invalid("The kubeconfig names no cluster in its current context.")
    user = next((one.user for one in config.users if one.name == context.user), _User())
    return Access(
        server=cluster.server.rstrip("/"),
        authorities=_given(cluster.certificate_authority_data, cluster.certificate_authority, folder) or None,
        insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
        token=_token(user, folder),
        certificate=_given(user.client_certificate_data, user.client_certificate, folder),
        key=_given(user.client_key_data, user.client_key, folder),
    )


def kubeconfig_text(access: Access) -> str:
    """The same access for another program; JSON is YAML."""
    cluster: dict[str, object] = {"server": access.server, "insecure-skip-tls-verify": access.insecure}
    if access.authorities and not access.insecure:
        cluster["certificate-authority-data"] = _encoded(access.authorities)
    if access.server_name:
        cluster["tls-server-name"] = access.server_name
    user: dict[str, object] = {"token": access.token()} if access.token is not None else {}
    if access.certificate:
        user |= {"client-certificate-data": _encoded(access.certificate), "client-key-data": _encoded(access.key)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": "context",
    }
    return msgspec.json.encode(document).decode()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _token(user: _User, folder: Path) -> Callable[[], str] | None:
    if user.token_file:
        return lambda: _read(folder / user.token_file).strip()
    return (lambda: user.token) if user.token else None


def _given(data: str, path: str, folder: Path) -> str:
    if data:
        try:
            return base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as reason:
            raise Invalid("The kubeconfig has data that is not base64 of PEM.") from reason
    return _read(folder / path) if path else ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as reason:
        raise Invalid(f"The kubeconfig names the file {path}, which cannot be read: {reason}.") from reason
