"""kubeconfigs: parts that fit each other, and the ingress certificate added later."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install.certificates import ADMIN_CLIENT, KUBELET_CLIENT
from firstlight.core.install.kubeconfig import (
    admin_kubeconfig,
    internal_kubeconfig,
    kubelet_kubeconfig,
    loopback_kubeconfig,
    merge_ingress_ca,
)
from tests.core.install.clusters import a_cluster
from tests.core.install.installations import certificates_for

CLUSTER = a_cluster()
CERTIFICATES = certificates_for(CLUSTER)
INGRESS = "-----BEGIN CERTIFICATE-----\nSU5HUkVTUw==\n-----END CERTIFICATE-----\n"
OTHER = "-----BEGIN CERTIFICATE-----\nT1RIRVI=\n-----END CERTIFICATE-----\n"


def trusted(text: str) -> str:
    return base64.b64decode(json.loads(text)["clusters"][0]["cluster"]["certificate-authority-data"]).decode()


@pytest.mark.parametrize(
    ("text", "server", "user", "client", "bundle"),
    [
        (
            admin_kubeconfig,
            "https://api.sky.example.com:6443",
            "admin",
            ADMIN_CLIENT,
            "kube-apiserver-complete-server-ca-bundle",
        ),
        (
            internal_kubeconfig,
            "https://api-int.sky.example.com:6443",
            "admin",
            ADMIN_CLIENT,
            "kube-apiserver-complete-server-ca-bundle",
        ),
        (
            kubelet_kubeconfig,
            "https://api-int.sky.example.com:6443",
            "kubelet",
            KUBELET_CLIENT,
            "kube-apiserver-complete-server-ca-bundle",
        ),
        (loopback_kubeconfig, "https://localhost:6443", "loopback", ADMIN_CLIENT, "kube-apiserver-localhost-ca-bundle"),
    ],
)
def test_documents(text, server: str, user: str, client: str, bundle: str) -> None:
    made = json.loads(text(CLUSTER, CERTIFICATES))
    assert made["clusters"][0]["name"] == "sky"
    assert made["clusters"][0]["cluster"]["server"] == server
    assert trusted(json.dumps(made)) == CERTIFICATES.bundle(bundle)
    assert made["contexts"] == [{"name": user, "context": {"cluster": "sky", "user": user}}]
    assert made["current-context"] == user
    credentials = made["users"][0]["user"]
    assert base64.b64decode(credentials["client-certificate-data"]).decode() == CERTIFICATES.pairs[client].certificate
    assert base64.b64decode(credentials["client-key-data"]).decode() == CERTIFICATES.pairs[client].key


def test_the_ingress_certificate_is_added_once() -> None:
    plain = admin_kubeconfig(CLUSTER, CERTIFICATES)
    once = merge_ingress_ca(json.loads(plain), INGRESS)
    assert trusted(once) == trusted(plain) + INGRESS
    assert merge_ingress_ca(json.loads(once), INGRESS) == once
    rest = json.loads(once)
    assert {key: rest[key] for key in rest if key != "clusters"} == {
        key: value for key, value in json.loads(plain).items() if key != "clusters"
    }


@given(st.lists(st.sampled_from([INGRESS, OTHER, "words\n"]), max_size=5))
def test_repeated_uploads_never_grow_the_bundle(parts: list[str]) -> None:
    document = json.loads(admin_kubeconfig(CLUSTER, CERTIFICATES))
    pem = "".join(parts)
    if not set(parts) & {INGRESS, OTHER}:
        with pytest.raises(Invalid, match="no PEM certificate"):
            merge_ingress_ca(document, pem)
        return
    made = trusted(merge_ingress_ca(document, pem))
    assert made.count("BEGIN") == 3 + len({part for part in parts if "BEGIN" in part})


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({}, "names no cluster"),
        ([], "names no cluster"),
        ({"clusters": [{"cluster": {"certificate-authority-data": "%%"}}]}, "not base64"),
    ],
)
def test_a_strange_kubeconfig_is_refused(document: object, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        merge_ingress_ca(document, INGRESS)


@pytest.mark.timeout(60)
def test_blocks_without_an_end_do_not_hold_anybody_up() -> None:
    hostile = "-----BEGIN CERTIFICATE-----\n" * 150_000
    with pytest.raises(Invalid, match="no PEM certificate"):
        merge_ingress_ca({}, hostile)
