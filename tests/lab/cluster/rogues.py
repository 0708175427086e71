"""Certificate requests that nobody should get, each wrong in one way."""

from firstlight.simulate.machines import Machine
from lab.cluster.bootkube import ControlPlane
from lab.cluster.joiner import (
    REQUESTS,
    SERVING_SIGNER,
    SERVING_USAGES,
    Identity,
    Joiner,
    ask_for_certificate,
)

CLIENT = "kubernetes.io/kube-apiserver-client"


def rogue_requests(plane: ControlPlane, machines: tuple[Machine, ...]) -> dict[str, str]:
    """Name → what is wrong with it. All but one come from whoever holds the bootstrap credentials."""
    target = f"system:node:{machines[-1].name}"
    bootstrapper = plane.bootstrapper()
    wrong = {
        "an unknown host": ask_for_certificate(bootstrapper, Identity("system:node:intruder")),
        "no node at all": ask_for_certificate(bootstrapper, Identity("system:admin")),
        "a masters' organisation": ask_for_certificate(
            bootstrapper, Identity(target, organizations=("system:nodes", "system:masters"))
        ),
        "a name in a client certificate": ask_for_certificate(
            bootstrapper, Identity(target, dns_names=("api.example.com",))
        ),
        "another signer": ask_for_certificate(bootstrapper, Identity(target), signer=CLIENT),
        "another usage": ask_for_certificate(
            bootstrapper, Identity(target), usages=("digital signature", "client auth", "server auth")
        ),
        "another requester": ask_for_certificate(plane.admin, Identity(target)),
        "serving without being the node": ask_for_certificate(
            bootstrapper,
            Identity(target, dns_names=(machines[-1].name,)),
            signer=SERVING_SIGNER,
            usages=SERVING_USAGES,
        ),
    }
    bootstrapper.close()
    return {name: why for why, name in wrong.items()}


def serving_rogues(node: Joiner, victim: Joiner, machines: tuple[Machine, ...]) -> dict[str, str]:
    """What a node that joined properly may still not have."""
    assert node.api is not None
    own = f"system:node:{node.name}"
    network = machines[0].network
    identities = {
        "a foreign name": Identity(own, dns_names=(node.name, "api-int.example.com"), addresses=(node.address,)),
        "the address of another node": Identity(own, dns_names=(node.name,), addresses=(victim.address,)),
        "the cluster's own address": Identity(own, dns_names=(node.name,), addresses=(network.api_vip,)),
    }
    # It lies about its addresses; then the truth again.
    honest = [{"type": "InternalIP", "address": node.address}, {"type": "Hostname", "address": node.name}]
    stolen = [{"type": "InternalIP", "address": network.api_vip}, {"type": "InternalIP", "address": victim.address}]
    node.report({"addresses": honest + stolen})
    found = {
        ask_for_certificate(node.api, identity, signer=SERVING_SIGNER, usages=SERVING_USAGES): why
        for why, identity in identities.items()
    }
    node.report({"addresses": honest})
    return found


def approved(plane: ControlPlane, name: str) -> bool:
    status = plane.admin.get(f"{REQUESTS}/{name}").get("status", {})
    return bool(status.get("conditions") or status.get("certificate"))
