"""Certificate requests that nobody should get, each wrong in one way."""

from collections.abc import Sequence

from firstlight.simulate.machines import Machine
from firstlight.simulate.user import BASE_DOMAIN
from lab.cluster.bootkube import ControlPlane
from lab.cluster.joiner import (
    CLIENT_SIGNER,
    CLIENT_USAGES,
    REQUESTS,
    SERVING_SIGNER,
    SERVING_USAGES,
    Identity,
    Joiner,
    ask_for_certificate,
)
from lab.cluster.objects import BOOTSTRAPPER

CLIENT = "kubernetes.io/kube-apiserver-client"


def rogue_requests(plane: ControlPlane, machines: tuple[Machine, ...]) -> dict[str, str]:
    """Name → the reason that should be given. All but one come from whoever holds the bootstrap credentials."""
    last = machines[-1].name
    target = f"system:node:{last}"
    both, three = ("system:nodes", "system:masters"), ("digital signature", "client auth", "server auth")
    bootstrapper = plane.bootstrapper()

    def ask(identity: Identity, *, signer: str = CLIENT_SIGNER, usages: Sequence[str] = CLIENT_USAGES) -> str:
        return ask_for_certificate(bootstrapper, identity, signer=signer, usages=usages)

    wrong = {
        ask(Identity("system:node:intruder")): "No host of this installation is called intruder",
        ask(Identity("system:admin")): "The subject names no node but system:admin",
        ask(Identity(target, organizations=both)): "system:nodes, system:masters instead of system:nodes alone",
        ask(Identity(target, dns_names=("api.example.com",))): "A client certificate has no alternative names",
        ask(Identity(target), signer=CLIENT): f"The signer {CLIENT} does not sign for nodes",
        ask(Identity(target), usages=three): "The usages are digital signature, client auth, server auth instead",
        ask(
            Identity(target, dns_names=(last,)), signer=SERVING_SIGNER, usages=SERVING_USAGES
        ): f"{BOOTSTRAPPER} asked for the certificate of {last}",
        ask_for_certificate(plane.admin, Identity(target)): "only the node bootstrapper asks for a node's first",
    }
    bootstrapper.close()
    return wrong


def serving_rogues(node: Joiner, victim: Joiner, machines: tuple[Machine, ...]) -> dict[str, str]:
    """What a node that joined properly may still not have, even if it says of itself that this is its own.

    A request in another node's name is refused by the API server itself.
    """
    assert node.api is not None
    own, name = f"system:node:{node.name}", (node.name,)
    network, absent = machines[0].network, machines[-1]
    api = f"api-int.five.{BASE_DOMAIN}"
    another = "is the name of another host or of the cluster itself"
    identities = {
        Identity(own, dns_names=(node.name, "www.example.com")): f"The node {node.name} is not called www.example.com",
        Identity(own, dns_names=(*name, victim.name)): f"{victim.name} {another}",
        Identity(own, dns_names=(*name, absent.name)): f"{absent.name} {another}",
        Identity(own, dns_names=(*name, api)): f"{api} {another}",
        Identity(own, dns_names=name, addresses=("203.0.113.9",)): "does not have 203.0.113.9",
        Identity(own, dns_names=name, addresses=(victim.address,)): f"{victim.address} is somebody else's",
        Identity(own, dns_names=name, addresses=(absent.address,)): f"{absent.address} is somebody else's",
        Identity(own, dns_names=name, addresses=(network.api_vip,)): f"{network.api_vip} is somebody else's",
    }
    # It lies about its names and addresses, and goes on to do so while those whom it robs join.
    honest = [{"type": "InternalIP", "address": node.address}, {"type": "Hostname", "address": node.name}]
    stolen = [("InternalIP", one) for one in (network.api_vip, victim.address, absent.address)]
    stolen += [("InternalDNS", one) for one in (victim.name, absent.name, api)]
    node.report({"addresses": honest + [{"type": kind, "address": one} for kind, one in stolen]})
    return {
        ask_for_certificate(node.api, identity, signer=SERVING_SIGNER, usages=SERVING_USAGES): why
        for identity, why in identities.items()
    }


def approved(plane: ControlPlane, name: str) -> bool:
    status = plane.admin.get(f"{REQUESTS}/{name}").get("status", {})
    return bool(status.get("conditions") or status.get("certificate"))
