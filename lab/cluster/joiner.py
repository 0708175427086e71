"""A stand-in for a kubelet: what it does on the wire to become a node, and what a rogue would try."""

import base64
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from lab.cluster.api import WAIT_SECONDS, Api, Json, wait_for

REQUESTS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER: Final = "kubernetes.io/kubelet-serving"
CLIENT_USAGES: Final = ("digital signature", "client auth")
SERVING_USAGES: Final = ("digital signature", "server auth")


class Identity:
    """A key, and the request for a certificate with it."""

    def __init__(
        self,
        name: str,
        *,
        organizations: Sequence[str] = ("system:nodes",),
        dns_names: Sequence[str] = (),
        addresses: Sequence[str] = (),
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
        subject.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
        builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
        names: list[x509.GeneralName] = [x509.DNSName(one) for one in dns_names]
        names += [x509.IPAddress(ip_address(one)) for one in addresses]
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        self.request = builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
        self.key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def ask_for_certificate(
    api: Api, identity: Identity, *, signer: str = CLIENT_SIGNER, usages: Sequence[str] = CLIENT_USAGES
) -> str:
    """The name of the new certificate request."""
    document: Json = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "csr-"},
        "spec": {
            "request": base64.b64encode(identity.request).decode(),
            "signerName": signer,
            "usages": list(usages),
        },
    }
    return str(api.create(REQUESTS, document)["metadata"]["name"])


def certificate(api: Api, request: str, *, seconds: float = WAIT_SECONDS) -> str:
    """The signed certificate, once somebody has approved."""

    def signed() -> str:
        return str(api.get(f"{REQUESTS}/{request}").get("status", {}).get("certificate", ""))

    found = wait_for(signed, what=f"signing of {request}", seconds=seconds)
    return base64.b64decode(found).decode()


class Joiner:
    """One machine on its first boot from disk."""

    def __init__(
        self, name: str, *, address: str, bootstrapper: Api, server: str, patience: float = WAIT_SECONDS
    ) -> None:
        """`patience` are the seconds it waits for each of its certificates."""
        self.name = name
        self.address = address
        self._bootstrapper = bootstrapper
        self._server = server
        self.patience = patience
        self.api: Api | None = None

    def join(self, *, labels: Json | None = None, annotations: Json | None = None) -> None:
        """First certificate, Node, addresses; not ready yet."""
        identity = Identity(f"system:node:{self.name}")
        request = ask_for_certificate(self._bootstrapper, identity)
        signed = certificate(self._bootstrapper, request, seconds=self.patience)
        self.api = Api(self._server, authorities=self._bootstrapper.authorities, certificate=signed, key=identity.key)
        metadata: Json = {"name": self.name, "labels": labels or {}, "annotations": annotations or {}}
        self.api.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        addresses = [{"type": "InternalIP", "address": self.address}, {"type": "Hostname", "address": self.name}]
        self.report({"addresses": addresses})

    def serve(self) -> str:
        """The second certificate, for others to reach it by."""
        assert self.api is not None
        identity = Identity(f"system:node:{self.name}", dns_names=(self.name,), addresses=(self.address,))
        request = ask_for_certificate(self.api, identity, signer=SERVING_SIGNER, usages=SERVING_USAGES)
        return certificate(self.api, request, seconds=self.patience)

    def become_ready(self) -> None:
        conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
        self.report({"conditions": conditions})

    def report(self, status: Json) -> None:
        assert self.api is not None
        self.api.patch(f"/api/v1/nodes/{self.name}/status", {"status": status})

    def close(self) -> None:
        if self.api is not None:
            self.api.close()
