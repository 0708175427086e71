"""The key pair that signs and checks tokens: given by settings, or made once and kept."""

from base64 import b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from firstlight.core.errors import Invalid
from firstlight.server.auth.compact import sign_es256

PUBLIC = "EC_PUBLIC_KEY_PEM"
PRIVATE = "EC_PRIVATE_KEY_PEM"


@dataclass(frozen=True, slots=True)
class KeyPair:
    public: EllipticCurvePublicKey
    private: EllipticCurvePrivateKey | None = None
    """Without it tokens can be checked, but none can be made."""


def new_private_key() -> str:
    """As PEM, to be kept."""
    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def key_pair(*, public: str = "", private: str = "") -> KeyPair:
    """From PEM texts, or their base64. Raises Invalid without repeating any of it."""
    secret = _private(private) if private.strip() else None
    if not public.strip():
        if secret is None:
            raise Invalid(f"There is neither {PUBLIC} nor {PRIVATE}. Give one of them.")
        return KeyPair(secret.public_key(), secret)
    known = _public(public)
    if secret is not None and secret.public_key().public_numbers() != known.public_numbers():
        raise Invalid(f"{PUBLIC} and {PRIVATE} do not belong together. Leave the public one out, or give a pair.")
    return KeyPair(known, secret)


def _private(text: str) -> EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(_pem(text), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _unusable(PRIVATE) from None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise _unusable(PRIVATE)
    try:
        sign_es256({}, key)
    except UnsupportedAlgorithm:
        raise Invalid(
            "The installed cryptography package cannot sign deterministically, so images would differ at every"
            " download. Install one that was built with OpenSSL 3.2 or newer."
        ) from None
    return key


def _public(text: str) -> EllipticCurvePublicKey:
    try:
        key = load_pem_public_key(_pem(text))
    except (ValueError, UnsupportedAlgorithm):
        raise _unusable(PUBLIC) from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise _unusable(PUBLIC)
    return key


def _pem(text: str) -> bytes:
    if "-----BEGIN" in text:
        return text.encode()
    try:
        return b64decode(text, validate=False)
    except (NotBase64, ValueError):
        return b""


def _unusable(name: str) -> Invalid:
    return Invalid(
        f"{name} is no P-256 key in PEM form. Make one with 'openssl ecparam -name prime256v1 -genkey -noout'."
    )
