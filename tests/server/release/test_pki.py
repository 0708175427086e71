"""The certificates of a new cluster: chains, names, usages, lifetimes."""

import warnings
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address

import bcrypt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from firstlight.core.install.certificates import Certificates, CertificateSpec, certificate_plan
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.identity import DASHES, READABLE_ALPHABET
from firstlight.server.release.pki import make_certificates, make_identity, rsa_key
from tests.core.install.clusters import DUAL_STACK, a_cluster, a_single_node

NOW = datetime(2026, 9, 1, 12, 0, 0, 123, tzinfo=UTC)
CLUSTERS = {"three-and-two": a_cluster(), "single-node": a_single_node(), "dual-stack": a_cluster(**DUAL_STACK)}


def quick_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


@cache
def made_for(name: str) -> Certificates:
    return make_certificates(CLUSTERS[name], now=NOW, new_key=quick_key)


def read(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def spec_of(cluster: ClusterInputs, name: str) -> CertificateSpec:
    return next(spec for spec in certificate_plan(cluster) if spec.name == name)


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_certificate_is_signed_by_its_issuer_and_fits_its_key(name: str) -> None:
    certificates = made_for(name)
    for spec in certificate_plan(CLUSTERS[name]):
        pair = certificates.pairs[spec.name]
        certificate = read(pair.certificate)
        issuer = read(certificates.pairs[spec.issuer or spec.name].certificate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the long service account name
            certificate.verify_directly_issued_by(issuer)
        key = load_pem_private_key(pair.key.encode(), password=None)
        form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        assert key.public_key().public_bytes(*form) == certificate.public_key().public_bytes(*form)
        assert pair.key.startswith("-----BEGIN PRIVATE KEY-----")
        assert pair.chain == (certificates.pairs[spec.issuer].certificate if spec.with_chain else "")


@pytest.mark.parametrize("name", CLUSTERS)
def test_lifetimes_authorities_and_usages_follow_the_plan(name: str) -> None:
    for spec in certificate_plan(CLUSTERS[name]):
        certificate = read(made_for(name).pairs[spec.name].certificate)
        assert certificate.not_valid_before_utc == NOW.replace(microsecond=0)
        assert certificate.not_valid_after_utc == NOW.replace(microsecond=0) + spec.valid_for
        extensions = certificate.extensions
        assert extensions.get_extension_for_class(x509.BasicConstraints).value.ca is spec.is_authority
        kinds = {type(extension.value) for extension in extensions}
        assert (x509.KeyUsage in kinds) is spec.plain_key_usage
        if spec.plain_key_usage:
            assert extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign is spec.is_authority
        usages = (
            set(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) if not spec.is_authority else set()
        )
        assert (ExtendedKeyUsageOID.SERVER_AUTH in usages) is spec.server
        assert (ExtendedKeyUsageOID.CLIENT_AUTH in usages) is spec.client


def alternative_names(pem: str) -> tuple[set[str], set[str]]:
    names = read(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(address) for address in names.get_values_for_type(x509.IPAddress)}
    return set(names.get_values_for_type(x509.DNSName)), addresses


def test_names_of_the_servers() -> None:
    pairs = made_for("dual-stack").pairs
    vips = {"192.168.111.5", "2001:db8::5"}
    assert alternative_names(pairs["machine-config-server"].certificate) == ({"api-int.sky.example.com", *vips}, vips)
    assert alternative_names(pairs["kube-apiserver-lb-server"].certificate) == ({"api.sky.example.com"}, set())
    assert alternative_names(pairs["kube-apiserver-internal-lb-server"].certificate) == (
        {"api-int.sky.example.com"},
        set(),
    )
    assert alternative_names(pairs["kube-apiserver-localhost-server"].certificate) == (
        {"localhost"},
        {"127.0.0.1", "::1"},
    )
    names, addresses = alternative_names(pairs["kube-apiserver-service-network-server"].certificate)
    assert addresses == {"172.30.0.1"}
    assert {"kubernetes", "openshift.default.svc.cluster.local"} <= names
    assert len(names) == 8
    assert alternative_names(made_for("single-node").pairs["machine-config-server"].certificate) == (
        {"api-int.sky.example.com"},
        set(),
    )


def test_the_administrator_and_the_kubelet() -> None:
    pairs = made_for("three-and-two").pairs
    admin = read(pairs["admin-kubeconfig-client"].certificate).subject
    assert [part.value for part in admin.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["system:masters"]
    assert [part.value for part in admin.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["system:admin"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kubelet = read(pairs["kubelet-client"].certificate).subject
    assert len(kubelet.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)) == 2


def test_only_bare_metal_has_ironic() -> None:
    assert "ironic/tls" in made_for("three-and-two").pairs
    assert "ironic/tls" not in made_for("single-node").pairs
    assert all(ip_address(address) for address in spec_of(a_cluster(), "ironic/tls").addresses)


def test_serial_numbers_differ_and_are_positive() -> None:
    serials = [read(pair.certificate).serial_number for pair in made_for("three-and-two").pairs.values()]
    assert len(set(serials)) == len(serials)
    assert all(0 < serial < 2**63 for serial in serials)


def test_keys_are_rsa_unless_told_otherwise() -> None:
    key = rsa_key()
    assert isinstance(key, RSAPrivateKey)
    assert key.key_size == 2048


def test_the_service_account_pair() -> None:
    pair = made_for("three-and-two").service_account
    assert pair.public.startswith("-----BEGIN RSA PUBLIC KEY-----\n")
    assert pair.public.rstrip().endswith("-----END RSA PUBLIC KEY-----")
    assert made_for("three-and-two").bootstrap_ssh_key.startswith("ssh-ed25519 ")


def test_identity() -> None:
    first, second = make_identity("sky"), make_identity("sky")
    assert first.cluster_id != second.cluster_id
    assert first.infra_id.startswith("sky-")
    assert len(first.infra_id) == 9
    password = first.kubeadmin_password
    assert len(password) == 23
    assert {index for index, letter in enumerate(password) if letter == "-"} == DASHES
    assert set(password) - {"-"} <= set(READABLE_ALPHABET)
    assert not set("lO01") & set(READABLE_ALPHABET)
    assert bcrypt.checkpw(password.encode(), first.kubeadmin_hash.encode())
    assert first.kubeadmin_hash.startswith("$2b$10$")


def test_day_long_certificates_end_after_a_day() -> None:
    certificate = read(made_for("three-and-two").pairs["kubelet-signer"].certificate)
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == timedelta(days=1)
