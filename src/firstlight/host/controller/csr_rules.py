"""Who gets a certificate: a node that proves to be one of the installation's hosts, and nobody else.

The API server vouches for who asks (`username`, `groups`) and that the asker has the key. What is asked for, and
whether this asker may have it, is decided here. What is not approved stays as it is: somebody else may know better.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from firstlight.host.controller.csr_request import CertificateRequest, read_request
from firstlight.host.controller.der import Malformed
from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.matching import host_named, host_of, node_addresses, node_names
from firstlight.host.controller.objects import Csr, Node
from firstlight.host.recognising import Address

CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER: Final = "kubernetes.io/kubelet-serving"
NODE_PREFIX: Final = "system:node:"
NODES: Final = "system:nodes"
BOOTSTRAPPER: Final = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
BOOTSTRAPPER_GROUPS: Final = frozenset(
    {"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}
)
CLIENT_USAGES: Final = frozenset({"digital signature", "client auth"})
SERVING_USAGES: Final = frozenset({"digital signature", "server auth"})
LEGACY_USAGE: Final = "key encipherment"
SETTLED: Final = frozenset({"Approved", "Denied", "Failed"})
MOST_PER_NODE: Final = 10
"""So many certificates of one kind explain themselves by restarts of one kubelet; more are somebody's else."""
CLUSTER_NAMES: Final = frozenset({"api", "api-int", "apps"})


class Verdict(Struct, frozen=True, kw_only=True):
    approved: bool
    reason: str
    """A sentence."""


class Known(Struct, frozen=True, kw_only=True):
    """What the decision stands on."""

    hosts: Sequence[HostDocument] = ()
    nodes: Mapping[str, Node] = {}
    vips: frozenset[Address] = frozenset()
    domain: str = ""
    """Below which the cluster itself has names: `api.<domain>` and so on."""
    approved: Mapping[tuple[str, str], int] = {}
    """Signer and node → how many of its requests were approved, by anybody."""


def identity(csr: Csr) -> tuple[str, str]:
    """Signer and node of a request; an empty name if it is no node's or cannot be read."""
    try:
        return csr.spec.signer_name, _name(read_request(csr.spec.request))
    except Malformed:
        return csr.spec.signer_name, ""


def is_approved(csr: Csr) -> bool:
    return any(condition.type == "Approved" and condition.status != "False" for condition in csr.status.conditions)


def judge(csr: Csr, known: Known) -> Verdict | None:
    """None for a request that somebody has decided on already."""
    if any(condition.type in SETTLED and condition.status != "False" for condition in csr.status.conditions):
        return None
    try:
        request = read_request(csr.spec.request)
    except Malformed as reason:
        return _no(f"The request cannot be read: {reason}.")
    refusal = _refusal(csr, request, known)
    return _no(refusal) if refusal else Verdict(approved=True, reason=f"It is the node {_name(request)}.")


def _refusal(csr: Csr, request: CertificateRequest, known: Known) -> str:
    if csr.spec.signer_name not in (CLIENT_SIGNER, SERVING_SIGNER):
        return f"The signer {csr.spec.signer_name} does not sign for nodes."
    if len(request.common_names) != 1 or not _name(request):
        return f"The subject names no node but {', '.join(request.common_names) or 'nobody'}."
    if _name(request) != _name(request).lower():
        # A kubelet writes its name in small letters; each other way to write it would count as a node of its own.
        return f"No node can be called {_name(request)}."
    if request.organizations != (NODES,) or request.other_subject_parts:
        return f"The subject belongs to {', '.join(request.organizations) or 'nothing'} instead of {NODES} alone."
    client = csr.spec.signer_name == CLIENT_SIGNER
    wanted = CLIENT_USAGES if client else SERVING_USAGES
    if len(csr.spec.usages) != len(set(csr.spec.usages)) or frozenset(csr.spec.usages) - {LEGACY_USAGE} != wanted:
        return f"The usages are {', '.join(csr.spec.usages) or 'none'} instead of {', '.join(sorted(wanted))}."
    refusal = (_client_refusal if client else _serving_refusal)(csr, request, known)
    if not refusal and known.approved.get((csr.spec.signer_name, _name(request)), 0) >= MOST_PER_NODE:
        return f"{MOST_PER_NODE} such requests of {_name(request)} were approved already. Approve this one by hand."
    return refusal


def _client_refusal(csr: Csr, request: CertificateRequest, known: Known) -> str:
    name = _name(request)
    if csr.spec.username != BOOTSTRAPPER or frozenset(csr.spec.groups) != BOOTSTRAPPER_GROUPS:
        return f"{csr.spec.username} asked, and only the node bootstrapper asks for a node's first certificate."
    if request.has_alternative_names:
        return "A client certificate has no alternative names."
    if host_named(name, known.hosts) is None:
        return f"No host of this installation is called {name}."
    if name in known.nodes:
        return f"The node {name} is here already. If it lost its certificate, approve the request by hand."
    return ""


def _serving_refusal(csr: Csr, request: CertificateRequest, known: Known) -> str:
    name = _name(request)
    if csr.spec.username != f"{NODE_PREFIX}{name}" or NODES not in csr.spec.groups:
        return f"{csr.spec.username} asked for the certificate of {name}."
    node = known.nodes.get(name)
    if node is None:
        return f"There is no node {name} yet."
    host = host_of(node, known.hosts)
    if host is None:
        return f"The node {name} is no host of this installation."
    if request.other_names or not (request.dns_names or request.addresses):
        return "A serving certificate is for host names and addresses, and for at least one of them."
    refusal = _names_refusal(request, node, host=host, known=known)
    return refusal or _addresses_refusal(request, node, host=host, known=known)


def _names_refusal(request: CertificateRequest, node: Node, *, host: HostDocument, known: Known) -> str:
    asked = set(map(str.lower, request.dns_names))
    foreign = sorted(asked - node_names(node))
    if foreign:
        return f"The node {node.metadata.name} is not called {', '.join(foreign)}."
    # A node writes its own names, too.
    own = host.names | {node.metadata.name.lower()}
    taken = sorted(name for name in asked - own if _is_anothers(name, node, host, known))
    return f"{', '.join(taken)} is the name of another host or of the cluster itself." if taken else ""


def _is_anothers(name: str, node: Node, host: HostDocument, known: Known) -> bool:
    if any(name in other.names for other in known.hosts if other.id != host.id):
        return True
    if any(name in node_names(other) for other in known.nodes.values() if other.key != node.key):
        return True
    return bool(known.domain) and (
        name.endswith(f".{known.domain}") and name.removesuffix(f".{known.domain}").split(".")[-1] in CLUSTER_NAMES
    )


def _addresses_refusal(request: CertificateRequest, node: Node, *, host: HostDocument, known: Known) -> str:
    foreign = set(request.addresses) - node_addresses(node)
    if foreign:
        return f"The node {node.metadata.name} does not have {_listed(foreign)}."
    # A node writes its own addresses: what is known to be another's must not become its own by its word alone.
    taken = set(request.addresses) & _addresses_of_others(node, host, known)
    return f"{_listed(taken)} is somebody else's or the cluster's own." if taken else ""


def _addresses_of_others(node: Node, host: HostDocument, known: Known) -> frozenset[Address]:
    # A single node has the cluster's addresses for its own.
    theirs: set[Address] = set(known.vips)
    for other in known.hosts:
        theirs |= other.addresses if other.id != host.id else set()
    for other in known.nodes.values():
        theirs |= node_addresses(other) if other.key != node.key else set()
    return frozenset(theirs - host.addresses)


def _name(request: CertificateRequest) -> str:
    name = request.common_names[0] if request.common_names else ""
    return name.removeprefix(NODE_PREFIX) if name.startswith(NODE_PREFIX) else ""


def _listed(addresses: set[Address]) -> str:
    return ", ".join(sorted(map(str, addresses)))


def _no(reason: str) -> Verdict:
    return Verdict(approved=False, reason=reason)
