"""A few characters by which a person in front of a machine finds its host: short enough to be read out.

Drawn from a digest of the id, since ids of one vendor begin alike. Two hosts may share a code; a look-up gives both.
"""

import hashlib
from typing import Final
from uuid import UUID

ALPHABET: Final = "23456789BCDFGHJKMNPQRSTVWXYZ"
"""Digits and consonants that are not taken for each other; without vowels no words come out."""
LENGTH: Final = 5


def short_code(host_id: UUID) -> str:
    number = int.from_bytes(hashlib.blake2b(host_id.bytes, digest_size=8).digest())
    letters: list[str] = []
    for _ in range(LENGTH):
        number, index = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[index])
    return "".join(letters)


def plain_code(text: str) -> str:
    """A code as a person may type it: small letters, spaces and dashes do not matter."""
    return "".join(char for char in text.upper() if char not in " -")
