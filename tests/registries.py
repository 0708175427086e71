"""Debian's container registry on a free loopback port, filled from Python; guarded by tokens where a test wants it."""

import base64
import gzip
import hashlib
import io
import json
import shutil
import tarfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.peers import Missing, private_folder, start, stop

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
USER, PASSWORD = "puller", "secret"


def layer(files: Mapping[str, bytes | tuple[str, str]]) -> bytes:
    """A layer as a tar; a pair is a link: ("symlink" or "hardlink", target)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, tuple):
                entry.type = tarfile.SYMTYPE if content[0] == "symlink" else tarfile.LNKTYPE
                entry.linkname = content[1]
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(content), 0o755
                archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """A running registry; images are pushed over its own API."""

    host: str
    folder: Path
    headers: Mapping[str, str]

    def push_blob(self, repository: str, data: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        place = self._call("POST", f"/v2/{repository}/blobs/uploads/")["Location"]
        self._call("PUT", f"{place}&digest={digest}", body=data)
        return {"digest": digest, "size": len(data)}

    def push(
        self,
        repository: str,
        layers: Sequence[bytes],
        *,
        tag: str = "",
        architecture: str = "amd64",
        level: int = 9,
    ) -> str:
        """Push an image; gives back its full name by digest. `level` says how hard its layers are compressed."""
        packed = [gzip.compress(one, level, mtime=0) for one in layers]
        diffs = [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers]
        config = {"architecture": architecture, "os": "linux", "rootfs": {"type": "layers", "diff_ids": diffs}}
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {
                **self.push_blob(repository, json.dumps(config).encode()),
                "mediaType": "application/vnd.oci.image.config.v1+json",
            },
            "layers": [{**self.push_blob(repository, one), "mediaType": LAYER} for one in packed],
        }
        return self.push_manifest(repository, manifest, kind=MANIFEST, tag=tag)

    def push_index(self, repository: str, images: Mapping[str, str], *, tag: str) -> str:
        """An image of several architectures; `images` are names by digest."""
        manifests = [
            {
                "mediaType": MANIFEST,
                "digest": name.partition("@")[2],
                "size": len(self._get(repository, name.partition("@")[2])),
                "platform": {"os": "linux", "architecture": architecture},
            }
            for architecture, name in images.items()
        ]
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}
        return self.push_manifest(repository, index, kind=INDEX, tag=tag)

    def push_manifest(self, repository: str, manifest: Mapping[str, object], *, kind: str, tag: str = "") -> str:
        body = json.dumps(manifest).encode()
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self._call("PUT", f"/v2/{repository}/manifests/{tag or digest}", body=body, kind=kind)
        return f"{self.host}/{repository}@{digest}"

    def blob_file(self, digest: str) -> Path:
        """Where the registry keeps a blob: a test may damage it."""
        name = digest.removeprefix("sha256:")
        return self.folder / "docker/registry/v2/blobs/sha256" / name[:2] / name / "data"

    def _get(self, repository: str, digest: str) -> bytes:
        request = urllib.request.Request(
            f"http://{self.host}/v2/{repository}/manifests/{digest}", headers={**self.headers, "Accept": MANIFEST}
        )
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def _call(
        self, method: str, path: str, *, body: bytes = b"", kind: str = "application/octet-stream"
    ) -> Mapping[str, str]:
        url = path if path.startswith("http") else f"http://{self.host}{path}"
        request = urllib.request.Request(url, data=body, method=method, headers={**self.headers, "Content-Type": kind})
        with urllib.request.urlopen(request) as answer:
            return dict(answer.headers)


@contextmanager
def running_registry(*, configuration: str = "", headers: Mapping[str, str] | None = None) -> Iterator[Registry]:
    program = shutil.which("docker-registry")
    if program is None:
        raise Missing("The container registry is not installed: sudo apt-get install docker-registry")
    with private_folder("registry") as folder:

        def command(port: int) -> Sequence[str | Path]:
            (folder / "config.yml").write_text(
                "version: 0.1\nlog: {level: warn}\n"
                f"storage: {{filesystem: {{rootdirectory: {folder}/data}}, delete: {{enabled: true}}}}\n"
                f"http: {{addr: 127.0.0.1:{port}}}\n{configuration}"
            )
            return [program, "serve", folder / "config.yml"]

        process, port = start(command, answers=_answers, log=folder / "log")
        try:
            yield Registry(host=f"127.0.0.1:{port}", folder=folder / "data", headers=headers or {})
        finally:
            stop(process)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


# --- tokens -----------------------------------------------------------------------------------------------------------


@contextmanager
def guarded_registry() -> Iterator[Registry]:
    """A registry that wants a token per repository, as the public ones do; its token service wants a password."""
    with private_folder("tokens") as folder:
        key, certificate = _signer()
        (folder / "ca.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(key, certificate))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        realm = f"http://127.0.0.1:{server.server_port}/token"
        trusted = f"issuer: lab, rootcertbundle: {folder}/ca.crt"
        guard = f"auth: {{token: {{realm: '{realm}', service: lab-registry, {trusted}}}}}\n"
        try:
            everything = [
                {"type": "repository", "name": name, "actions": ["push", "pull"]}
                for name in ("ocp/release", "ocp/tools")
            ]
            headers = {"Authorization": f"Bearer {_token(key, certificate, access=everything, seconds=600)}"}
            with running_registry(configuration=guard, headers=headers) as registry:
                yield registry
        finally:
            server.shutdown()
            server.server_close()


def _signer() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "lab tokens")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    return key, certificate


def _token(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate, *, access: object, seconds: int = 60) -> str:
    der = certificate.public_bytes(serialization.Encoding.DER)
    now = int(time.time())
    header = {"typ": "JWT", "alg": "ES256", "x5c": [base64.b64encode(der).decode()]}
    claims = {"iss": "lab", "sub": USER, "aud": "lab-registry", "iat": now, "nbf": now - 5, "exp": now + seconds}
    claims |= {"jti": str(time.monotonic_ns()), "access": access}
    signed = b".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
    r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
    return b".".join((signed, _base64(r.to_bytes(32, "big") + s.to_bytes(32, "big")))).decode()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _handler(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> type[BaseHTTPRequestHandler]:
    expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Tokens(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Authorization") != expected:
                self.send_error(401)
                return
            kind, name, actions = parse_qs(urlsplit(self.path).query)["scope"][0].split(":")
            access = [{"type": kind, "name": name, "actions": actions.split(",")}]
            body = json.dumps({"token": _token(key, certificate, access=access)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return Tokens
