"""The moments and ids examples share: fixed, so that a failing test prints the same thing twice."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

NOW: Final = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
EARLIER: Final = NOW - timedelta(minutes=1)
"""When everything in the examples was measured."""
CLUSTER_ID: Final = UUID("c0000000-0000-4000-8000-000000000001")
INFRA_ENV_ID: Final = UUID("e0000000-0000-4000-8000-000000000001")


def host_id(number: int) -> UUID:
    """Ids sort like their numbers."""
    return UUID(f"a0000000-0000-4000-8000-{number:012x}")
