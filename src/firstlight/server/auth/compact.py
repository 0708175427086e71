"""Signed tokens in compact form (RFC 7515, 7519): ES256 for what the service vouches for, HS256 for image links.

Signatures are deterministic (RFC 6979), so that the same claims give the same token: an image that carries one has the
same bytes every time it is made. The algorithm is chosen by whoever checks, never by the token.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from msgspec import Struct

LONGEST: Final = 4_096
HALF: Final = 32
"""Bytes of each of the two numbers in an ES256 signature."""


class BadToken(Exception):
    """It is no token, or its signature is not by the right key. Says nothing of its content."""


class Header(Struct, frozen=True):
    alg: str
    typ: str = "JWT"
    crit: list[str] | None = None


class Claims(Struct, frozen=True, kw_only=True):
    """What a token says, as far as anybody here asks. Unknown claims are passed over."""

    exp: float | None = None
    """Seconds since 1970."""
    sub: str = ""
    infra_env_id: str = ""
    cluster_id: str = ""
    auth_scheme: str = ""
    role: str = ""


def sign_es256(claims: Mapping[str, object], key: EllipticCurvePrivateKey) -> str:
    text = _unsigned("ES256", claims)
    r, s = decode_dss_signature(key.sign(text.encode(), ECDSA(hashes.SHA256(), deterministic_signing=True)))
    return f"{text}.{_text(r.to_bytes(HALF, 'big') + s.to_bytes(HALF, 'big'))}"


def read_es256(token: str, key: EllipticCurvePublicKey) -> Claims:
    text, signature, claims = _parts(token, "ES256")
    if len(signature) != 2 * HALF:
        raise BadToken
    r, s = int.from_bytes(signature[:HALF], "big"), int.from_bytes(signature[HALF:], "big")
    try:
        key.verify(encode_dss_signature(r, s), text, ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise BadToken from None
    return _claims(claims)


def sign_hs256(claims: Mapping[str, object], key: bytes) -> str:
    text = _unsigned("HS256", claims)
    return f"{text}.{_text(hmac.digest(key, text.encode(), sha256))}"


def read_hs256(token: str, key: bytes) -> Claims:
    text, signature, claims = _parts(token, "HS256")
    if not hmac.compare_digest(hmac.digest(key, text, sha256), signature):
        raise BadToken
    return _claims(claims)


def unchecked(token: str) -> Claims:
    """What a token claims, before anybody checked it: good for finding the key to check it with, and nothing else."""
    parts = token.split(".")
    if len(token) > LONGEST or len(parts) != 3:
        raise BadToken
    return _claims(_bytes(parts[1]))


def _unsigned(algorithm: str, claims: Mapping[str, object]) -> str:
    head = msgspec.json.encode({"alg": algorithm, "typ": "JWT"})
    return f"{_text(head)}.{_text(msgspec.json.encode(claims))}"


def _parts(token: str, algorithm: str) -> tuple[bytes, bytes, bytes]:
    """What is signed, the signature, and the claims."""
    if len(token) > LONGEST or not token.isascii():
        raise BadToken
    text, _, signature = token.rpartition(".")
    head, separator, claims = text.partition(".")
    if not separator or "." in claims:
        raise BadToken
    try:
        header = msgspec.json.decode(_bytes(head), type=Header)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BadToken from None
    if header.alg != algorithm or header.crit:
        raise BadToken
    return text.encode(), _bytes(signature), _bytes(claims)


def _claims(data: bytes) -> Claims:
    try:
        return msgspec.json.decode(data, type=Claims)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise BadToken from None


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (NotBase64, ValueError):
        raise BadToken from None
    if _text(data) != text:
        raise BadToken  # several spellings of one token would each be remembered
    return data
