"""A small Kubernetes client: reads objects as a kubeconfig with client certificates allows, every call bounded."""

import base64
import binascii
import re
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Final, cast

import msgspec
from msgspec import Struct

from firstlight.host.calling import Api, Refused, Unreachable
from firstlight.host.fetching import RoutedTransport, with_pair

CALL_SECONDS: Final = 25.0
MISSING: Final = 404
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
        headers = {"User-Agent": "firstlight", "Accept": "application/json"}
        if config.token:
            headers["Authorization"] = f"Bearer {config.token}"
        transport = RoutedTransport(_context(config), environment={})
        self._api = Api(config.server, transport=lambda: transport, headers=lambda: headers, who="the API server")

    async def __aenter__(self) -> "Kube":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._api.renew()

    async def get(self, path: str) -> Document | None:
        """An object, None if there is none of that name. Raises `KubeTrouble`."""
        body = await self._ask("GET", path)
        return None if body is None else _document(body)

    async def items(self, path: str, **query: str) -> tuple[Document, ...]:
        """The objects of a list. Raises `KubeTrouble`."""
        body = await self._ask("GET", path, query=query)
        if body is None:
            raise KubeTrouble(f"the cluster has no {path.rpartition('/')[2]} yet")
        return tuple(mapping(item) for item in sequence(_document(body).get("items")))

    async def patch(self, path: str, operations: list[dict[str, object]]) -> None:
        """Change an object by a JSON patch. Raises `KubeTrouble`."""
        kind = {"Content-Type": "application/json-patch+json"}
        await self._ask("PATCH", path, document=operations, headers=kind)

    async def text(self, path: str, **query: str) -> bytes:
        return await self._ask("GET", path, query=query) or b""

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes | None:
        """None if there is nothing of that name."""
        try:
            return await self._api.ask(
                method, path, query=query, document=document, headers=headers, seconds=CALL_SECONDS
            )
        except Refused as refusal:
            if refusal.status == MISSING:
                return None
            raise KubeTrouble(f"the API server answered {refusal.status} to {method} {path}") from None
        except Unreachable as reason:
            raise KubeTrouble(str(reason)) from reason


def _context(config: Kubeconfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=config.authority or None)
        if config.certificate and config.key:
            with_pair(context, certificate=config.certificate, key=config.key)
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
