"""An authority of our own and a server on loopback that it signed for."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def authority_and_server(
    folder: Path, *, address: str = "127.0.0.1", begins: timedelta = timedelta(0), ends: timedelta = timedelta(days=1)
) -> tuple[Path, ssl.SSLContext]:
    """The authority's PEM file and the server's side of TLS."""
    now = datetime.now(UTC) - timedelta(minutes=5)
    authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Laboratory")])
    authority = (
        x509.CertificateBuilder(issuer_name=issuer, subject_name=issuer, public_key=authority_key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "service")])
    certificate = (
        x509.CertificateBuilder(issuer_name=issuer, subject_name=subject, public_key=server_key.public_key())
        .serial_number(2)
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem, key = folder / "authority.pem", folder / "server.pem"
    pem.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    private = server_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(key)
    return pem, context
