"""HTTPS on both listeners: with a certificate that names neither of them, and one that is replaced while they run."""

import asyncio
import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from pydantic import ValidationError

from firstlight.core.errors import Invalid
from firstlight.server.auth.certificates import Certificate, Trust
from firstlight.server.main import check
from firstlight.server.settings import Settings
from tests.auth.certificates import a_certificate
from tests.builders.live_isos import a_live_iso
from tests.imaging.conftest import os_images
from tests.services import free_port, run_service
from tests.worlds import PULL_SECRET


def trusting(cert_file: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(cert_file))
    context.check_hostname = False
    return context


def test_api_and_images_over_https(tmp_path: Path) -> None:
    """The certificate is for the name by which others call; the image service beside the API trusts it all the same."""
    cert_file, key_file = a_certificate(tmp_path, host="api.lab.example.com")
    (tmp_path / "base.iso").write_bytes(a_live_iso())
    settings = {
        "HTTPS_CERT_FILE": str(cert_file),
        "HTTPS_KEY_FILE": str(key_file),
        "SERVE_HTTPS": "true",
        "AUTH_TYPE": "local",
        "OS_IMAGES": os_images({"url": (tmp_path / "base.iso").as_uri()}),
    }
    trust = trusting(cert_file)
    with run_service(tmp_path, **settings) as service:
        admin = (tmp_path / "data" / "admin-token").read_text().strip()

        def call(url: str, body: object = None) -> bytes:
            sent = None if body is None else json.dumps(body).encode()
            headers = {"Authorization": f"Bearer {admin}", "Content-Type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(url, sent, headers), timeout=60, context=trust) as got:
                return bytes(got.read())

        wanted = {"name": "lab", "pull_secret": PULL_SECRET, "openshift_version": "4.18"}
        infra_env: dict[str, Any] = json.loads(call(f"{service.api}/v2/infra-envs", wanted))
        assert infra_env["download_url"].startswith(f"{service.images_url}/bytoken/")
        image = call(infra_env["download_url"])
        assert len(image) == len(a_live_iso())
        ignition = call(f"{service.api}/v2/infra-envs/{infra_env['id']}/downloads/files?file_name=discovery.ign")
        assert service.url.encode() in ignition
        _use_commands(service.url, cert_file, admin)
        for url in (service.url, service.images_url):
            # Plain text finds nothing there, and old protocols neither.
            with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=60) as plain:
                plain.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
                assert not plain.recv(100).startswith(b"HTTP/1.1 200")
    assert "Traceback" not in service.log.read_text()


def _use_commands(url: str, cert_file: Path, admin: str) -> None:
    """The certificate is for another name, so commands refuse it even from an authority they trust."""
    program = Path(sys.executable).parent / "firstlight"
    known = {name: value for name, value in os.environ.items() if not name.startswith("FIRSTLIGHT_")}
    given = {**known, "FIRSTLIGHT_URL": url, "FIRSTLIGHT_TOKEN": admin, "FIRSTLIGHT_CA_FILE": str(cert_file)}
    ended = subprocess.run([program, "clusters", "list"], env=given, capture_output=True, text=True, check=False)
    assert (ended.returncode, "certificate" in ended.stderr) == (4, True)


def test_commands_trust_the_authority_they_are_given(tmp_path: Path) -> None:
    cert_file, key_file = a_certificate(tmp_path)
    with run_service(tmp_path, HTTPS_CERT_FILE=str(cert_file), HTTPS_KEY_FILE=str(key_file)) as service:
        program = Path(sys.executable).parent / "firstlight"
        given = {**os.environ, "FIRSTLIGHT_URL": service.url, "FIRSTLIGHT_CA_FILE": str(cert_file)}
        ended = subprocess.run([program, "clusters", "list"], env=given, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_settings_that_do_not_fit(tmp_path: Path) -> None:
    cert_file, key_file = a_certificate(tmp_path)
    _, other_key = a_certificate(tmp_path, "other")
    for incomplete in ({"serve_https": True}, {"HTTPS_CERT_FILE": cert_file}, {"HTTPS_KEY_FILE": key_file}):
        with pytest.raises(ValidationError, match="both HTTPS_CERT_FILE and HTTPS_KEY_FILE"):
            Settings(
                **{name if name.isupper() else "FIRSTLIGHT_SERVE_HTTPS": value for name, value in incomplete.items()}
            )
    both: dict[str, Any] = {"HTTPS_CERT_FILE": cert_file, "HTTPS_KEY_FILE": other_key}
    assert "HTTPS_KEY_FILE" in check(Settings(**both))
    assert "No such file" in check(Settings(**both | {"HTTPS_KEY_FILE": tmp_path / "none"}))
    assert Settings(**both).service_url.startswith("https://")
    assert Settings(**both, FIRSTLIGHT_SERVE_HTTPS=False).service_url.startswith("http://")
    for word, version in (("VersionTLS13", "1.3"), ("1.2", "1.2")):
        assert Settings(TLS_MIN_VERSION=word).tls_min_version == version


@pytest.mark.anyio
async def test_a_new_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    cert_file, key_file = a_certificate(tmp_path)
    certificate = Certificate(cert_file, key_file)
    port = free_port()
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port, ssl=certificate.context)

    async def shown() -> bytes:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.transport.abort()
        return bytes(found)

    async with server:
        first = await shown()
        assert not certificate.reload_if_changed()
        new_cert, new_key = a_certificate(tmp_path, "new")
        # In between, the pair does not fit: the old one stays in use.
        cert_file.write_bytes(new_cert.read_bytes())
        assert not certificate.reload_if_changed()
        assert await shown() == first
        key_file.write_bytes(new_key.read_bytes())
        assert certificate.reload_if_changed()
        assert await shown() == ssl.PEM_cert_to_DER_cert(new_cert.read_text())


@pytest.mark.anyio
@pytest.mark.parametrize(("oldest", "passes"), [("1.2", True), ("1.3", False)])
async def test_the_oldest_version(tmp_path: Path, oldest: Any, passes: bool) -> None:
    certificate = Certificate(*a_certificate(tmp_path), oldest=oldest)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=certificate.context)
    context = trusting(tmp_path / "service.crt")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    async with server:
        connecting = asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1], ssl=context)
        if passes:
            (await connecting)[1].transport.abort()
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await connecting


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="HTTPS_CERT_FILE"):
        Certificate(tmp_path / "no.crt", tmp_path / "no.key")


def test_a_locked_key_is_refused_instead_of_asking_at_the_terminal(tmp_path: Path) -> None:
    cert_file, key_file = a_certificate(tmp_path)
    key = load_pem_private_key(key_file.read_bytes(), None)
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    with pytest.raises(Invalid, match="locked by a password"):
        Certificate(cert_file, key_file)


@pytest.mark.parametrize(("behind", "passes"), [(False, True), (True, False)])
def test_only_the_servers_own_certificate_is_pinned(tmp_path: Path, behind: bool, passes: bool) -> None:
    """A file with the issuers behind the certificate must not let in everybody who has one of theirs."""
    cert_file, key_file = a_certificate(tmp_path)
    other, _ = a_certificate(tmp_path, "other")
    chain = (other, cert_file) if behind else (cert_file, other)
    pin_file = tmp_path / "chain.crt"
    pin_file.write_text("".join(path.read_text() for path in chain))
    trust = Trust(pin_file=str(pin_file)).context()
    assert isinstance(trust, ssl.SSLContext)
    if passes:
        shake_hands(Certificate(cert_file, key_file).context, trust)
    else:
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(Certificate(cert_file, key_file).context, trust)


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)]
    while ends:
        for end in tuple(ends):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
                ends.remove(end)


def test_what_is_trusted_stays_while_the_file_is_being_replaced(tmp_path: Path) -> None:
    cert_file, _ = a_certificate(tmp_path)
    trust = Trust(pin_file=str(cert_file))
    first = trust.context()
    cert_file.unlink()
    assert trust.context() is first
    a_certificate(tmp_path)
    assert trust.context() is not first
