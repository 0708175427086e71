"""Nodes of the new cluster as plain facts, and which host of the inventory each one is."""

from collections.abc import Iterable

from msgspec import Struct

from firstlight.host.installer.service import HostDocument
from firstlight.host.kubernetes import Document, mapping, metadata, name_of, sequence
from firstlight.host.recognising import Address, identity_in, parse_address

CURRENT_CONFIG = "machineconfiguration.openshift.io/currentConfig"
DESIRED_CONFIG = "machineconfiguration.openshift.io/desiredConfig"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


class Node(Struct, frozen=True, kw_only=True):
    name: str
    ready: bool = False
    addresses: frozenset[Address] = frozenset()
    current_config: str = ""
    desired_config: str = ""
    taints: tuple[str, ...] = ()


def node_of(item: Document) -> Node:
    status = mapping(item.get("status"))
    notes = mapping(metadata(item).get("annotations"))
    conditions = [mapping(one) for one in sequence(status.get("conditions"))]
    internal = [
        str(mapping(one).get("address", ""))
        for one in sequence(status.get("addresses"))
        if mapping(one).get("type") == "InternalIP"
    ]
    return Node(
        name=name_of(item),
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions),
        addresses=frozenset(address for text in internal if (address := parse_address(text)) is not None),
        current_config=str(notes.get(CURRENT_CONFIG, "")),
        desired_config=str(notes.get(DESIRED_CONFIG, "")),
        taints=tuple(str(mapping(one).get("key", "")) for one in sequence(mapping(item.get("spec")).get("taints"))),
    )


def host_of(node: Node, hosts: Iterable[HostDocument]) -> HostDocument | None:
    """By name, otherwise by one of its addresses."""
    known = tuple(hosts)
    for host in known:
        if host.requested_hostname and host.requested_hostname.lower() == node.name.lower():
            return host
    return next((host for host in known if node.addresses & identity_in(host.inventory).addresses), None)


def unsettled(nodes: Iterable[Node], *, configs: frozenset[str]) -> str:
    """Why the machine configs of the masters are not settled yet, empty if they are."""
    found = tuple(nodes)
    if not found:
        return "there is no master yet"
    for node in found:
        for word, config in (("current", node.current_config), ("desired", node.desired_config)):
            if not config:
                return f"node {node.name} has no {word} machine config"
            if config not in configs:
                return f"the {word} machine config {config} of node {node.name} does not exist"
    if len({node.desired_config for node in found}) > 1:
        return "the masters do not want one machine config"
    return ""
