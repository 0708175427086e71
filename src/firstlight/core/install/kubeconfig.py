"""kubeconfig documents from PEM texts, and the certificate of the cluster's ingress added later."""

import base64
import re
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install import certificates as names
from firstlight.core.install.certificates import Certificates, KeyPair
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document, mapping, sequence, to_text

# Base64 has no dash: a block without an end is given up at the next one, not at the end of the text.
CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----\s[^-]*-----END CERTIFICATE-----")
AUTHORITY: Final = "certificate-authority-data"


def kubeconfig(*, cluster_name: str, server: str, authority: str, client: KeyPair, user: str) -> str:
    """One cluster, one user, one context, in use."""
    document: Document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster_name, "cluster": {"server": server, AUTHORITY: encoded(authority)}}],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": encoded(client.certificate),
                    "client-key-data": encoded(client.key),
                },
            }
        ],
        "contexts": [{"name": user, "context": {"cluster": cluster_name, "user": user}}],
        "current-context": user,
        "preferences": {},
    }
    return to_text(document)


def admin_kubeconfig(cluster: ClusterInputs, certificates: Certificates) -> str:
    """The one handed to the user; without the ingress certificate, which does not exist yet."""
    return api_kubeconfig(cluster, certificates, host="api", client=names.ADMIN_CLIENT, user="admin")


def internal_kubeconfig(cluster: ClusterInputs, certificates: Certificates) -> str:
    return api_kubeconfig(cluster, certificates, host="api-int", client=names.ADMIN_CLIENT, user="admin")


def kubelet_kubeconfig(cluster: ClusterInputs, certificates: Certificates) -> str:
    return api_kubeconfig(cluster, certificates, host="api-int", client=names.KUBELET_CLIENT, user="kubelet")


def loopback_kubeconfig(cluster: ClusterInputs, certificates: Certificates) -> str:
    return kubeconfig(
        cluster_name=cluster.name,
        server="https://localhost:6443",
        authority=certificates.bundle(names.LOCALHOST_BUNDLE),
        client=certificates.pairs[names.ADMIN_CLIENT],
        user="loopback",
    )


def api_kubeconfig(cluster: ClusterInputs, certificates: Certificates, *, host: str, client: str, user: str) -> str:
    return kubeconfig(
        cluster_name=cluster.name,
        server=f"https://{host}.{cluster.domain}:6443",
        authority=certificates.bundle(names.COMPLETE_SERVER_BUNDLE),
        client=certificates.pairs[client],
        user=user,
    )


def merge_ingress_ca(document: object, pem: str) -> str:
    """The kubeconfig with the ingress certificates trusted too; doing it twice changes nothing.

    `document` is the parsed kubeconfig. Raises Invalid when `pem` holds no certificate or nothing else can be merged.
    """
    added = CERTIFICATE.findall(pem)
    if not added:
        raise Invalid("The ingress certificate holds no PEM certificate. Send the router's CA bundle in PEM form.")
    clusters = [mapping(entry) for entry in sequence(mapping(document).get("clusters"))]
    if not clusters:
        raise Invalid("The kubeconfig names no cluster, so there is nothing to trust the ingress certificate for.")
    return to_text({**mapping(document), "clusters": [trusting(entry, added) for entry in clusters]})


def trusting(entry: Document, added: list[str]) -> Document:
    cluster = mapping(entry.get("cluster"))
    known: list[str] = CERTIFICATE.findall(decoded(str(cluster.get(AUTHORITY, ""))))
    bundle = "".join(f"{one}\n" for one in dict.fromkeys((*known, *added)))
    return {**entry, "cluster": {**cluster, AUTHORITY: encoded(bundle)}}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError as problem:
        raise Invalid("The kubeconfig's certificate-authority-data is not base64.") from problem
