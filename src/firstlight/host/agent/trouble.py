"""What to make of a service that refuses or is away: a sentence for the person in front of the machine, and a pause."""

from typing import Final
from urllib.parse import urlsplit

from firstlight.host.calling import Refused, Unreachable

SLOW: Final = frozenset({401, 403, 404, 409})
"""The original's agent stops for good on these. A gateway may be wrong for a minute, so we ask again, slowly."""
SLOW_SECONDS: Final = 300.0
FIRST_SLOW_SECONDS: Final = 30.0

_MEANING: Final = {
    401: "The service does not know this machine's token. Boot the machine from a newly made discovery image.",
    403: "The service turns this machine away. Check in which order it boots: it may have to boot from its disk.",
    404: "The service does not know the infra-env or host of this machine. Boot it from the image of one that exists.",
    409: "The service takes no new machines here at the moment: the cluster is being installed, or is.",
}


def sentence_about(trouble: Refused | Unreachable, *, url: str) -> str:
    if isinstance(trouble, Unreachable):
        return f"{urlsplit(url).netloc} cannot be used: {trouble.words}."
    meaning = _MEANING.get(trouble.status, "")
    said = f"It says {trouble.status}: {trouble.reason}" if trouble.reason else f"It says {trouble.status}."
    return f"{meaning} {said}".strip()
