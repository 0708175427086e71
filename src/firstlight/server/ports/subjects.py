"""What changes are about and where they are told: the names of subjects and of channels."""

from uuid import UUID

from firstlight.core.decision import HostKey


def cluster_subject(cluster_id: UUID) -> str:
    return f"cluster:{cluster_id}"


def host_subject(key: HostKey) -> str:
    """A pool host; bound hosts belong to their cluster's subject."""
    return f"host:{key[0]}/{key[1]}"


def infra_env_subject(infra_env_id: UUID) -> str:
    return f"infra-env:{infra_env_id}"


SERVICE_SUBJECT = "service"


CHANGES = "changes"
"""Subjects that changed, with spaces between; empty: look for yourself."""
EVENTS = "events"
"""Events were added: what kinds of things they are about, then the clusters and infra-envs they are for, with spaces
between. Empty: about anything, for any."""
FINDINGS = "findings"
"""Subjects of which something else is found now, with the clusters they belong to; empty: look for yourself."""
DUE = "due"
"""Something was asked for; the payload is its earliest time, in microseconds since 1970."""
