"""How many may come at once, and how long they may take: somebody who only holds a line must not keep others out."""

from typing import Final

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    connections: int = 10_000
    requests: int = 4_096
    """Answers that are being sent at the same time, beside those that take no time."""
    head_seconds: float = 30.0
    """For the head of a request; also what a body may take before its pace counts."""
    idle_seconds: float = 120.0
    """Between two requests."""
    stall_seconds: float = 600.0
    """Without taking a single byte of an answer."""


SLOWEST_BODY: Final = 1_024
"""Bytes a second that a body has to come with, in the mean."""


def body_seconds(limits: Limits, received: int) -> float:
    """How long a body of which this much has come may have taken."""
    return limits.head_seconds + received / SLOWEST_BODY
