"""Keys and certificates for a new cluster, made after the plan of `core.install.certificates`.

Making RSA keys takes seconds of CPU: call `make_certificates` from a worker thread or process, never on the loop.
"""

import warnings
from collections.abc import Callable, Mapping
from datetime import datetime
from ipaddress import ip_address
from secrets import randbelow, randbits
from typing import Final
from uuid import uuid4

import bcrypt
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from firstlight.core.install.certificates import Certificates, CertificateSpec, KeyPair, SigningKey, certificate_plan
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.identity import NAME_SUFFIX, RANDOM_NUMBERS, Identity, infra_id, kubeadmin_password

PrivateKey = RSAPrivateKey | EllipticCurvePrivateKey
KEY_BITS: Final = 2048
SERIAL_BITS: Final = 63
HASH_ROUNDS: Final = 10
LARGE: Final = 2**64


def make_identity(cluster_name: str) -> Identity:
    password = kubeadmin_password([randbelow(LARGE) for _ in range(RANDOM_NUMBERS)])
    return Identity(
        cluster_id=uuid4(),
        infra_id=infra_id(cluster_name, [randbelow(LARGE) for _ in range(NAME_SUFFIX)]),
        kubeadmin_password=password,
        kubeadmin_hash=bcrypt.hashpw(password.encode(), bcrypt.gensalt(HASH_ROUNDS)).decode(),
    )


def rsa_key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=KEY_BITS)


def make_certificates(
    cluster: ClusterInputs, *, now: datetime, new_key: Callable[[], PrivateKey] = rsa_key
) -> Certificates:
    """Everything in the cluster's certificate plan, valid from `now`."""
    made: dict[str, tuple[x509.Certificate, PrivateKey]] = {}
    pairs: dict[str, KeyPair] = {}
    for spec in certificate_plan(cluster):
        key = new_key()
        certificate = sign(spec, key, made=made, now=now)
        made[spec.name] = (certificate, key)
        chain = certificate_pem(made[spec.issuer][0]) if spec.with_chain else ""
        pairs[spec.name] = KeyPair(certificate=certificate_pem(certificate), key=key_pem(key), chain=chain)
    return Certificates(pairs=pairs, service_account=signing_key(new_key()), bootstrap_ssh_key=ssh_key())


def sign(
    spec: CertificateSpec,
    key: PrivateKey,
    *,
    made: Mapping[str, tuple[x509.Certificate, PrivateKey]],
    now: datetime,
) -> x509.Certificate:
    issuer = made[spec.issuer] if spec.issuer else None
    starts = now.replace(microsecond=0) if issuer is None else issuer[0].not_valid_before_utc
    subject = subject_of(spec)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer[0].subject)
        .public_key(key.public_key())
        .serial_number(randbits(SERIAL_BITS) | 1)
        .not_valid_before(starts)
        .not_valid_after(starts + spec.valid_for)
        .add_extension(x509.BasicConstraints(ca=spec.is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer is not None:
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer[1].public_key())
        builder = builder.add_extension(authority, critical=False)
    if spec.plain_key_usage:
        builder = builder.add_extension(key_usage(signs=spec.is_authority), critical=True)
    usages = extended_usages(spec)
    if usages:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    names = alternative_names(spec)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(key if issuer is None else issuer[1], SHA256())


def subject_of(spec: CertificateSpec) -> x509.Name:
    return x509.Name(
        [
            *(attribute(NameOID.ORGANIZATION_NAME, name) for name in spec.organizations),
            *([attribute(NameOID.ORGANIZATIONAL_UNIT_NAME, spec.unit)] if spec.unit else []),
            attribute(NameOID.COMMON_NAME, spec.common_name),
        ]
    )


def attribute(kind: x509.ObjectIdentifier, value: str) -> x509.NameAttribute[str]:
    """Service account names are longer than the 64 characters X.520 grants; Kubernetes has always used them so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attribute's length", category=UserWarning)
        return x509.NameAttribute(kind, value, _validate=False)


def key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=signs,
        crl_sign=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def extended_usages(spec: CertificateSpec) -> list[x509.ObjectIdentifier]:
    wanted = ((spec.server, ExtendedKeyUsageOID.SERVER_AUTH), (spec.client, ExtendedKeyUsageOID.CLIENT_AUTH))
    return [usage for asked, usage in wanted if asked]


def alternative_names(spec: CertificateSpec) -> list[x509.GeneralName]:
    return [
        *(x509.DNSName(name) for name in spec.dns_names),
        *(x509.IPAddress(ip_address(address)) for address in spec.addresses),
    ]


def certificate_pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def key_pem(key: PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def signing_key(key: PrivateKey) -> SigningKey:
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    # The API server reads the key by this heading, although the form inside is the general one.
    return SigningKey(private=key_pem(key), public=public.replace("PUBLIC KEY", "RSA PUBLIC KEY"))


def ssh_key() -> str:
    """The public half only: nobody logs in with the other, but the installer's gather scripts expect two keys."""
    public = Ed25519PrivateKey.generate().public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
