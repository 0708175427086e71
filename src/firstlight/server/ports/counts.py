"""How much the service keeps."""

from msgspec import Struct


class Counts(Struct, frozen=True, kw_only=True):
    """What exists, deleted things left out."""

    clusters: int = 0
    infra_envs: int = 0
    hosts: int = 0
