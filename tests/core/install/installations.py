"""Whole installations with real certificates; the keys are elliptic, because those are made quickly."""

from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key

from firstlight.core.install.certificates import Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.cluster_manifests import Installation
from firstlight.core.install.identity import Identity
from firstlight.core.install.install_config import install_config
from firstlight.server.release.pki import make_certificates

NOW = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC)
IDENTITY = Identity(
    cluster_id=UUID("11111111-2222-4333-8444-555555555555"),
    infra_id="sky-bcdfg",
    kubeadmin_password="aaaaa-bbbbb-ccccc-ddddd",
    kubeadmin_hash="$2b$10$abcdefghijklmnopqrstuv",
)


def quick_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


@lru_cache
def certificates_for(cluster: ClusterInputs) -> Certificates:
    return make_certificates(cluster, now=NOW, new_key=quick_key)


def an_installation(cluster: ClusterInputs) -> Installation:
    return Installation(
        cluster=cluster,
        config=install_config(cluster),
        identity=IDENTITY,
        certificates=certificates_for(cluster),
    )
