"""A piece of a long list, as callers ask for it."""

from typing import Annotated

from msgspec import Meta, Struct


class Part(Struct, frozen=True, kw_only=True):
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=0, le=1000)] = 100
