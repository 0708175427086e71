"""What our service and our agent tell each other beyond the original's documents, under the key `firstlight`."""

from firstlight.core.wire.shape import Answer


class Offer(Answer, frozen=True, kw_only=True):
    """Part of the answer to a registration: what an agent may make use of."""

    wait_seconds: int = 0
    """A poll may ask to wait this long for something to do; 0: polls are answered at once."""
    live_log: bool = False
    """The agent's log may be sent while it grows."""
    log_piece_bytes: int = 0
    """Archives of logs may be sent in pieces of at most this size, and resumed; 0: only whole."""
    short_code: str = ""
    """Under this code the host is found without typing its id."""


class Standing(Answer, frozen=True, kw_only=True):
    """Part of the answer to a poll that waits: what the service thinks of the host."""

    status: str = ""
    status_info: str = ""
    name: str = ""
    role: str = ""
    stage: str = ""
    problems: tuple[str, ...] = ()
    """Sentences of the checks that fail."""
    more_problems: int = 0
    """How many were left out."""
    digest: str = ""
    """Of all this. Named in the next poll, it is answered as soon as it is no longer true."""
