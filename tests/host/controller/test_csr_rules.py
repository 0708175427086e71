"""Who gets a certificate: one right request of each kind, and each way to be wrong."""

import base64
import json
from uuid import UUID

import msgspec
import pytest

from firstlight.host.controller.csr_rules import (
    BOOTSTRAPPER,
    BOOTSTRAPPER_GROUPS,
    CLIENT_SIGNER,
    MOST_PER_NODE,
    SERVING_SIGNER,
    Known,
    identity,
    judge,
)
from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.objects import (
    Condition,
    Csr,
    CsrSpec,
    CsrStatus,
    Metadata,
    Node,
    NodeAddress,
    NodeStatus,
)
from firstlight.host.recognising import parse_address
from lab.cluster.joiner import Identity

OWN, OTHER, VIP = "192.0.2.11", "192.0.2.12", "192.0.2.100"


def a_host(name: str, address: str, number: int) -> HostDocument:
    inventory = {"hostname": name, "interfaces": [{"ipv4_addresses": [f"{address}/24"]}]}
    return HostDocument(
        id=UUID(int=number), requested_hostname=name, status="installing-in-progress", inventory=json.dumps(inventory)
    )


def a_node(name: str, *addresses: str) -> Node:
    listed = [NodeAddress(type="InternalIP", address=one) for one in addresses]
    listed.append(NodeAddress(type="Hostname", address=name))
    return Node(metadata=Metadata(name=name), status=NodeStatus(addresses=tuple(listed)))


HOSTS = (a_host("worker-0", OWN, 1), a_host("worker-1", OTHER, 2))
NODES = {"worker-0": a_node("worker-0", OWN), "worker-1": a_node("worker-1", OTHER)}
VIPS = frozenset(filter(None, [parse_address(VIP)]))
EMPTY = Known(hosts=HOSTS, vips=VIPS)
JOINED = Known(hosts=HOSTS, nodes=NODES, vips=VIPS)


def client(identity: Identity | None = None, **changes: object) -> Csr:
    spec = CsrSpec(
        request=(identity or Identity("system:node:worker-0")).request,
        signer_name=CLIENT_SIGNER,
        usages=("digital signature", "client auth"),
        username=BOOTSTRAPPER,
        groups=tuple(BOOTSTRAPPER_GROUPS),
    )
    return Csr(metadata=Metadata(name="csr-1"), spec=msgspec.structs.replace(spec, **changes))


def serving(identity: Identity | None = None, **changes: object) -> Csr:
    proper = Identity("system:node:worker-0", dns_names=("worker-0",), addresses=(OWN,))
    return client(
        identity or proper,
        **{
            "signer_name": SERVING_SIGNER,
            "usages": ("digital signature", "server auth"),
            "username": "system:node:worker-0",
            "groups": ("system:nodes", "system:authenticated"),
            **changes,
        },
    )


@pytest.mark.parametrize(
    ("csr", "known"),
    [
        pytest.param(client(), EMPTY, id="client"),
        pytest.param(
            client(usages=("digital signature", "key encipherment", "client auth")), EMPTY, id="legacy-client"
        ),
        pytest.param(serving(), JOINED, id="serving"),
        pytest.param(serving(Identity("system:node:worker-0", addresses=(OWN,))), JOINED, id="address-only"),
        pytest.param(
            serving(usages=("key encipherment", "digital signature", "server auth")), JOINED, id="legacy-serving"
        ),
    ],
)
def test_right_ones(csr: Csr, known: Known) -> None:
    verdict = judge(csr, known)
    assert verdict is not None
    assert verdict.approved, verdict.reason


def cut_off(pem: bytes) -> bytes:
    """One byte is missing at the end."""
    head, *lines, tail = pem.decode().strip().splitlines()
    shorter = base64.b64encode(base64.b64decode("".join(lines))[:-1]).decode()
    return f"{head}\n{shorter}\n{tail}\n".encode()


NODE = "system:node:worker-0"
CLIENT_ROGUES = {
    "another-signer": client(signer_name="kubernetes.io/kube-apiserver-client"),
    "unknown-host": client(Identity("system:node:intruder")),
    "large-letters": client(Identity("system:node:Worker-0")),
    "no-prefix": client(Identity("worker-0")),
    "admin": client(Identity("system:admin")),
    "empty-name": client(Identity("system:node:")),
    "no-organisation": client(Identity(NODE, organizations=())),
    "masters": client(Identity(NODE, organizations=("system:masters",))),
    "both": client(Identity(NODE, organizations=("system:nodes", "system:masters"))),
    "names": client(Identity(NODE, dns_names=("worker-0",))),
    "addresses": client(Identity(NODE, addresses=(OWN,))),
    "server-usage": client(usages=("digital signature", "client auth", "server auth")),
    "usage-missing": client(usages=("client auth",)),
    "usage-twice": client(usages=("digital signature", "client auth", "client auth")),
    "requester": client(username="system:admin"),
    "group-more": client(groups=(*BOOTSTRAPPER_GROUPS, "system:masters")),
    "group-less": client(groups=("system:authenticated",)),
    "not-pem": client(request=b"no request"),
    "cut-off": client(request=cut_off(Identity(NODE).request)),
}


@pytest.mark.parametrize("name", CLIENT_ROGUES)
def test_client_rogues(name: str) -> None:
    verdict = judge(CLIENT_ROGUES[name], EMPTY)
    assert verdict is not None
    assert not verdict.approved
    assert verdict.reason


def test_a_node_that_is_here_gets_no_second_first_certificate() -> None:
    verdict = judge(client(), JOINED)
    assert verdict is not None
    assert not verdict.approved


SERVING_ROGUES = {
    "another-requester": serving(username="system:node:worker-1"),
    "bootstrapper": serving(username=BOOTSTRAPPER),
    "no-node-group": serving(groups=("system:authenticated",)),
    "no-names": serving(Identity(NODE)),
    "foreign-name": serving(Identity(NODE, dns_names=("worker-0", "api.example.com"))),
    "foreign-address": serving(Identity(NODE, addresses=(OWN, "192.0.2.99"))),
    "client-usage": serving(usages=("digital signature", "client auth")),
    "other-name": serving(Identity("system:node:worker-1", dns_names=("worker-1",))),
}


@pytest.mark.parametrize("name", SERVING_ROGUES)
def test_serving_rogues(name: str) -> None:
    verdict = judge(SERVING_ROGUES[name], JOINED)
    assert verdict is not None
    assert not verdict.approved


@pytest.mark.parametrize("stolen", [VIP, OTHER])
def test_a_node_does_not_own_what_it_only_claims(stolen: str) -> None:
    lying = {**NODES, "worker-0": a_node("worker-0", OWN, stolen)}
    csr = serving(Identity(NODE, dns_names=("worker-0",), addresses=(OWN, stolen)))
    verdict = judge(csr, Known(hosts=HOSTS, nodes=lying, vips=VIPS))
    assert verdict is not None
    assert not verdict.approved
    assert stolen in verdict.reason


@pytest.mark.parametrize(
    ("claimed", "right"),
    [
        ("worker-1", False),
        ("api.prod.example.com", False),
        ("api-int.prod.example.com", False),
        ("console.apps.prod.example.com", False),
        ("worker-0.prod.example.com", True),
        ("ip-10-0-0-1.internal", True),
    ],
)
def test_a_node_may_not_call_itself_somebody_else(claimed: str, right: bool) -> None:
    own = NODES["worker-0"]
    named = msgspec.structs.replace(
        own,
        status=NodeStatus(addresses=(*own.status.addresses, NodeAddress(type="InternalDNS", address=claimed.upper()))),
    )
    known = Known(hosts=HOSTS, nodes={**NODES, "worker-0": named}, vips=VIPS, domain="prod.example.com")
    verdict = judge(serving(Identity(NODE, dns_names=("worker-0", claimed))), known)
    assert verdict is not None
    assert verdict.approved is right
    assert right or claimed in verdict.reason


@pytest.mark.parametrize(("before", "right"), [(MOST_PER_NODE - 1, True), (MOST_PER_NODE, False)])
def test_one_node_gets_so_many_and_no_more(before: int, right: bool) -> None:
    known = msgspec.structs.replace(JOINED, approved={(SERVING_SIGNER, "worker-0"): before, (CLIENT_SIGNER, "x"): 99})
    verdict = judge(serving(), known)
    assert verdict is not None
    assert verdict.approved is right


def test_whom_a_request_counts_for() -> None:
    assert identity(client()) == (CLIENT_SIGNER, "worker-0")
    assert identity(client(request=b"nonsense")) == (CLIENT_SIGNER, "")


def test_a_single_node_has_the_clusters_address() -> None:
    vips = frozenset(filter(None, [parse_address(OWN)]))
    verdict = judge(serving(), Known(hosts=HOSTS[:1], nodes={"worker-0": NODES["worker-0"]}, vips=vips))
    assert verdict is not None
    assert verdict.approved, verdict.reason


def test_serving_waits_for_the_node() -> None:
    verdict = judge(serving(), EMPTY)
    assert verdict is not None
    assert "no node worker-0 yet" in verdict.reason


@pytest.mark.parametrize("kind", ["Approved", "Denied", "Failed"])
def test_what_is_decided_stays(kind: str) -> None:
    decided = CsrStatus(conditions=(Condition(type=kind, status="True"),))
    assert judge(msgspec.structs.replace(client(), status=decided), EMPTY) is None
