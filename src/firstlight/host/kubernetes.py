"""A small Kubernetes client: reads objects as a kubeconfig with client certificates allows, every call bounded."""

import asyncio
import base64
import binascii
import os
import re
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, cast

import httpx2
import msgspec
from msgspec import Struct

CALL_SECONDS: Final = 20.0
LARGEST_ANSWER: Final = 64 * 2**20
MISSING: Final = 404
ERRORS_FROM: Final = 300
_VALUE: Final = re.compile(
    r"""^[\s-]*["']?(server|certificate-authority-data|client-certificate-data|client-key-data|token)["']?:"""
    r"""\s*["']?([^"',\s]+)["']?,?\s*$""",
    re.MULTILINE,
)

Document = Mapping[str, object]


class KubeTrouble(Exception):
    """The API server did not give what was asked for; the text is part of a sentence."""


class Kubeconfig(Struct, frozen=True, kw_only=True):
    """One cluster and one user, as installers write it."""

    server: str
    authority: str = ""
    certificate: str = ""
    key: str = ""
    token: str = ""

    def __repr__(self) -> str:
        return f"Kubeconfig(server={self.server!r})"


def read_kubeconfig(text: str) -> Kubeconfig:
    """Takes YAML in blocks and indented JSON. Raises `KubeTrouble`."""
    found: dict[str, str] = {}
    for name, value in _VALUE.findall(text):
        found.setdefault(name, value)
    if not found.get("server", "").startswith("https://"):
        raise KubeTrouble("the kubeconfig names no server")
    try:
        return Kubeconfig(
            server=found["server"].rstrip("/"),
            authority=_decoded(found.get("certificate-authority-data", "")),
            certificate=_decoded(found.get("client-certificate-data", "")),
            key=_decoded(found.get("client-key-data", "")),
            token=found.get("token", ""),
        )
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise KubeTrouble("a certificate in the kubeconfig is not in base64") from None


def _decoded(text: str) -> str:
    return base64.b64decode(text, validate=True).decode("ascii")


class Kube:
    def __init__(self, config: Kubeconfig) -> None:
        """Raises `KubeTrouble` if the certificates cannot be used."""
        self._server = config.server
        headers = {"User-Agent": "firstlight", "Accept": "application/json"}
        if config.token:
            headers["Authorization"] = f"Bearer {config.token}"
        self._client = httpx2.AsyncClient(
            verify=_context(config), headers=headers, trust_env=False, timeout=httpx2.Timeout(CALL_SECONDS)
        )

    async def __aenter__(self) -> "Kube":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> Document | None:
        """An object, None if there is none of that name. Raises `KubeTrouble`."""
        status, body = await self._ask("GET", path)
        return None if status == MISSING else _document(body)

    async def items(self, path: str, **query: str) -> tuple[Document, ...]:
        """The objects of a list. Raises `KubeTrouble`."""
        status, body = await self._ask("GET", path, query=query)
        if status == MISSING:
            raise KubeTrouble(f"the cluster has no {path.rpartition('/')[2]} yet")
        return tuple(mapping(item) for item in sequence(_document(body).get("items")))

    async def patch(self, path: str, operations: list[dict[str, object]]) -> None:
        """Change an object by a JSON patch. Raises `KubeTrouble`."""
        await self._ask("PATCH", path, content=msgspec.json.encode(operations), kind="application/json-patch+json")

    async def text(self, path: str, **query: str) -> bytes:
        status, body = await self._ask("GET", path, query=query)
        return b"" if status == MISSING else body

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        content: bytes | None = None,
        kind: str = "",
    ) -> tuple[int, bytes]:
        headers = {"Content-Type": kind} if kind else {}
        try:
            async with asyncio.timeout(CALL_SECONDS + 5):
                answer = await self._client.request(
                    method, self._server + path, params=dict(query or {}), content=content, headers=headers
                )
        except TimeoutError:
            raise KubeTrouble("the API server does not answer in time") from None
        except (httpx2.HTTPError, OSError, ValueError) as reason:
            raise KubeTrouble(f"the API server cannot be reached: {reason or type(reason).__name__}") from reason
        if answer.status_code >= ERRORS_FROM and answer.status_code != MISSING:
            raise KubeTrouble(f"the API server answered {answer.status_code} to {method} {path}")
        return answer.status_code, answer.content


def _context(config: Kubeconfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=config.authority or None)
        if config.certificate and config.key:
            # The standard library takes a client's key only from a file.
            with tempfile.TemporaryDirectory() as folder:
                pair = Path(folder) / "pair.pem"
                handle = os.open(pair, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w") as file:
                    file.write(f"{config.certificate}\n{config.key}\n")
                context.load_cert_chain(pair)
    except (ssl.SSLError, OSError, ValueError):
        raise KubeTrouble("the certificates in the kubeconfig cannot be used") from None
    return context


def _document(body: bytes) -> Document:
    try:
        return mapping(msgspec.json.decode(body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise KubeTrouble("the answer of the API server cannot be understood") from None


def mapping(value: object) -> Document:
    """The members of an object; nothing of anything else."""
    return cast("Document", value) if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def metadata(item: Document) -> Document:
    return mapping(item.get("metadata"))


def name_of(item: Document) -> str:
    return str(metadata(item).get("name", ""))
