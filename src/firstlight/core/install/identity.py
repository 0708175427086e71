"""Names and secrets a cluster gets once: made here by rule, from randomness that is handed in."""

import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from firstlight.core.install.inputs import Value

# Kubernetes' alphabet for generated names: no vowels, so no words; no 0, 1 and 3, so nothing to misread.
NAME_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
READABLE_ALPHABET: Final = "abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789"
LONGEST_INFRA_ID: Final = 27
NAME_SUFFIX: Final = 5
PASSWORD_LENGTH: Final = 23
DASHES: Final = frozenset({5, 11, 17})
RANDOM_NUMBERS: Final = PASSWORD_LENGTH - len(DASHES)


class Identity(Value, frozen=True, kw_only=True):
    cluster_id: UUID
    infra_id: str
    kubeadmin_password: str
    kubeadmin_hash: str
    """bcrypt of the password, cost 10: made by the caller, as no random salt is drawn here."""


def infra_id(cluster_name: str, random_numbers: Sequence[int]) -> str:
    """A name for the cluster's own resources. Takes five numbers, each at least as large as the alphabet."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", cluster_name)[: LONGEST_INFRA_ID - NAME_SUFFIX - 1].rstrip("-")
    suffix = "".join(NAME_ALPHABET[number % len(NAME_ALPHABET)] for number in random_numbers[:NAME_SUFFIX])
    return f"{stem}-{suffix}"


def kubeadmin_password(random_numbers: Sequence[int]) -> str:
    """Four groups of five characters that nobody mixes up. Takes twenty large random numbers."""
    numbers = iter(random_numbers)
    return "".join(
        "-" if position in DASHES else READABLE_ALPHABET[next(numbers) % len(READABLE_ALPHABET)]
        for position in range(PASSWORD_LENGTH)
    )
