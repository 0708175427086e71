"""AES-256-GCM around what is kept, with the id of the key in front, so that keys can be changed.

The nonce is made from content and place. The same content in the same place therefore has the same bytes whoever writes
it, which replicas and caches count on, and no nonce ever serves two contents.
"""

import hashlib
import hmac
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from firstlight.core.errors import Unavailable

KEY_BYTES: Final = 32
MAGIC: Final = b"\x93FLS1\n"
"""No text begins like this: what was kept before there was encryption is told apart."""
ID_BYTES: Final = 8
NONCE_BYTES: Final = 12
HEAD_BYTES: Final = len(MAGIC) + ID_BYTES + NONCE_BYTES
OVERHEAD: Final = HEAD_BYTES + 16
"""Bytes by which something sealed is longer."""


class Key:
    """One key and what is derived from it."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self.id = _derived(secret, "id")[:ID_BYTES]
        self.cipher = AESGCM(_derived(secret, "content"))
        self._nonces = _derived(secret, "nonces")

    @property
    def name(self) -> str:
        return self.id.hex()

    def nonce(self, plain: bytes, place: bytes) -> bytes:
        # The length keeps apart what only together is the same.
        return hmac.digest(self._nonces, len(place).to_bytes(8, "big") + place + plain, "sha256")[:NONCE_BYTES]


class Seal:
    def __init__(self, secrets: Sequence[bytes]) -> None:
        """The first key seals; all of them open."""
        keys = [Key(secret) for secret in secrets]
        self.key = keys[0]
        self._keys = {key.id: key for key in keys}

    def sealed(self, plain: bytes, *, place: str) -> bytes:
        """`place` is where it is kept; nowhere else can it be opened."""
        key, where = self.key, place.encode()
        nonce = key.nonce(plain, where)
        return b"".join((MAGIC, key.id, nonce, key.cipher.encrypt(nonce, plain, where)))

    def opened(self, kept: bytes, *, place: str, earlier: str = "") -> bytes:
        """What was sealed; what never was comes back as it is. `earlier` is what the place was called once."""
        if not is_sealed(kept):
            return kept
        key = self._keys.get(key_id(kept))
        if key is None:
            raise unknown_key(kept, place=place)
        nonce = kept[len(MAGIC) + ID_BYTES : HEAD_BYTES]
        for where in (place, earlier) if earlier else (place,):
            with suppress(InvalidTag):
                return key.cipher.decrypt(nonce, kept[HEAD_BYTES:], where.encode())
        raise Unavailable(
            f"What is kept as {place} was damaged or put there by somebody else. Restore it from a backup."
        )

    def knows(self, kept: bytes) -> bool:
        """Is the key it was sealed with among ours?"""
        return key_id(kept) in self._keys

    def is_current(self, kept: bytes) -> bool:
        """Is it sealed with the key that seals now?"""
        return is_sealed(kept) and key_id(kept) == self.key.id


def is_sealed(kept: bytes) -> bool:
    return kept.startswith(MAGIC)


def key_id(kept: bytes) -> bytes:
    return kept[len(MAGIC) : len(MAGIC) + ID_BYTES]


def unknown_key(kept: bytes, *, place: str) -> Unavailable:
    return Unavailable(
        f"What is kept as {place} is encrypted with key {key_id(kept).hex()}, which this service was not given."
        " Add that key to FIRSTLIGHT_ENCRYPTION_KEY or to the key file, behind the one that is used now."
    )


def _derived(secret: bytes, purpose: str) -> bytes:
    return hashlib.blake2b(key=secret, person=purpose.encode(), digest_size=KEY_BYTES).digest()
