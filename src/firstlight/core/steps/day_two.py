"""Hosts that join a running cluster: where its machine config server is, and what the Ignition it serves says."""

import base64
import binascii
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, cast
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import Host
from firstlight.core.steps.decoding import number_of_address
from firstlight.core.steps.occasion import node_role_of

PLAIN_PORT: Final = 22624
SECURE_PORT: Final = 22623
MACHINE_CONFIG: Final = "/etc/ignition-machine-config-encapsulated.json"
LARGEST_FILE: Final = 1_048_576


class IgnitionSource(Struct, frozen=True):
    url: str
    ca_certificate: str = ""
    """Base64 PEM; empty for plain HTTP or public authorities."""


def ignition_source(cluster: Cluster, host: Host) -> IgnitionSource | None:
    """Where a new node gets its Ignition; None while the address of the cluster is unknown.

    Whom it trusts there is said by the cluster's endpoint, by the host's own Ignition, or by both.
    """
    pool = host.machine_config_pool_name or node_role_of(host)
    endpoint = cluster.ignition_endpoint
    own = _authorities_in(host.ignition_override)
    certificate = _joined(endpoint.ca_certificate.strip() if endpoint is not None else "", own)
    if endpoint is not None and endpoint.url:
        parts = urlsplit(endpoint.url)
        return IgnitionSource(urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{pool}")), certificate)
    server = api_address(cluster)
    if not server:
        return None
    secure = bool(certificate or own)
    if secure and server.startswith("api."):
        # The server's certificate speaks for the internal name only.
        server = "api-int." + server.removeprefix("api.")
    number = number_of_address(server)
    shown = f"[{server}]" if number is not None and number[0] == 6 else server
    scheme, port = ("https", SECURE_PORT) if secure else ("http", PLAIN_PORT)
    return IgnitionSource(f"{scheme}://{shown}:{port}/config/{pool}", certificate)


def api_address(cluster: Cluster) -> str:
    if cluster.api_vip_dns_name:
        return cluster.api_vip_dns_name
    return f"api.{cluster.name}.{cluster.base_dns_domain}" if cluster.base_dns_domain else ""


class _Clevis(Struct):
    tang: list[dict[str, object]] | None = None


class _Luks(Struct):
    clevis: _Clevis | None = None


class _Contents(Struct):
    source: str | None = None
    compression: str | None = None


class _File(Struct):
    path: str = ""
    contents: _Contents | None = None


class _Storage(Struct):
    luks: list[_Luks] | None = None
    files: list[_File] | None = None


class _Tls(Struct, rename="camel"):
    certificate_authorities: list[_Contents] | None = None


class _Security(Struct):
    tls: _Tls | None = None


class _Head(Struct):
    security: _Security | None = None


class _Ignition(Struct):
    ignition: _Head | None = None
    storage: _Storage | None = None


_DECODER: Final = msgspec.json.Decoder(_Ignition)
_NOTHING: Final = _Ignition()


def _decoded(ignition: str) -> _Ignition:
    try:
        return _DECODER.decode(ignition)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _NOTHING


@lru_cache(maxsize=256)
def _storage_of(ignition: str) -> _Storage | None:
    return _decoded(ignition).storage


@lru_cache(maxsize=256)
def _authorities_in(ignition: str) -> tuple[bytes, ...]:
    """The certificates an Ignition trusts besides the public ones; empty for each that is not in the text itself."""
    head = _decoded(ignition).ignition if ignition.strip() else None
    tls = head.security.tls if head is not None and head.security is not None else None
    return tuple(_content(one).strip() for one in (tls.certificate_authorities if tls is not None else None) or ())


def _joined(given: str, own: tuple[bytes, ...]) -> str:
    """One base64 text of all certificates, each of them once."""
    if not any(own):
        return given
    try:
        first = base64.b64decode(given).strip()
    except binascii.Error:
        first = b""
    return base64.b64encode(b"\n".join(dict.fromkeys(one for one in (first, *own) if one)) + b"\n").decode()


def tang_servers_in(ignition: str) -> str:
    """JSON list of the tang servers that unlock the new node's disk; empty when there are none."""
    storage = _storage_of(ignition)
    for luks in (storage.luks if storage is not None else None) or ():
        if luks.clevis is not None and luks.clevis.tang:
            return msgspec.json.encode(luks.clevis.tang).decode()
    return ""


def os_image_in(ignition: str) -> str:
    """The system image named by the machine config inside the Ignition; empty when it names none."""
    storage = _storage_of(ignition)
    for file in (storage.files if storage is not None else None) or ():
        if file.path == MACHINE_CONFIG and file.contents is not None:
            return _os_image_of(_content(file.contents))
    return ""


def _os_image_of(document: bytes) -> str:
    try:
        found: object = msgspec.json.decode(document)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    for key in ("spec", "osImageURL"):
        if not isinstance(found, dict):
            return ""
        found = cast("Mapping[str, object]", found).get(key)
    return found if isinstance(found, str) else ""


def _content(contents: _Contents) -> bytes:
    """The bytes behind a data URL; empty when they cannot be had."""
    head, _, data = (contents.source or "").partition(",")
    if not head.startswith("data:"):
        return b""
    try:
        raw = unquote_to_bytes(data)
        raw = base64.b64decode(raw) if head.endswith(";base64") else raw
        return zlib.decompressobj(wbits=31).decompress(raw, LARGEST_FILE) if contents.compression == "gzip" else raw
    except (binascii.Error, zlib.error):
        return b""
