"""What PostgreSQL's errors mean for the person who runs the service, and which are worth another try.

Codes are SQLSTATEs; a two-letter entry stands for its whole class.
"""

from typing import Final

import asyncpg

from firstlight.core.errors import Unavailable
from firstlight.server.ports.database import HeldUp, LostRace, Statement

GONE: Final = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "53300")
"""The server or our connection to it went away, or has no room yet: another try may find it back."""
OVERTAKEN: Final = ("23505", "40")
"""A key that exists already, a deadlock, a serialization failure: somebody else wrote first."""
LOCKED: Final = ("55P03", "57014")
"""A lock was waited for too long, or a statement took too long, which mostly is the same."""
ADVICE: Final = {
    "53100": "has no space left on its disk. Free some space; the service goes on by itself",
    "53": "is out of resources. Lower the load or give it more",
    "25006": "accepts no writes just now, perhaps it is a standby. Point the service at the primary",
    "55P03": "kept a row locked for too long. Look for a long transaction in pg_stat_activity and end it",
    "57014": "took too long to answer. Look for what keeps it busy in pg_stat_activity",
    "28": "refuses the user or the password. Check them in the database URL",
    "3D000": "has no database of that name. Create it or correct the database URL",
    "42501": "does not allow this user to use the tables. Make the user their owner",
    "58": "reports an error of its disk. Look at its log",
    "XX": "reports an internal error or damaged data. Look at its log",
}


def lost(error: Exception) -> bool:
    """Whether the error says that the connection is gone, rather than that the server said no."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(GONE)
    if isinstance(error, asyncpg.InterfaceError):
        # The same class also reports wrong arguments (those are ValueErrors) and misuse.
        return not isinstance(error, ValueError) and "clos" in str(error)
    return isinstance(error, OSError | asyncpg.InternalClientError)


def translated(where: str, error: Exception, *, statement: Statement | None = None) -> Exception:
    """The error to raise instead; a mistake in our own SQL stays what it is."""
    if lost(error):
        return Unavailable(
            f"The database at {where} does not answer. Check that PostgreSQL runs and can be reached from here;"
            f" the service goes on by itself once it does. ({error or type(error).__name__})"
        )
    code = (error.sqlstate or "") if isinstance(error, asyncpg.PostgresError) else ""
    if code and code.startswith(OVERTAKEN):
        return LostRace(statement, "Somebody else changed it meanwhile. Look again and try again.")
    advice = ADVICE.get(code) or ADVICE.get(code[:2])
    kind = HeldUp if code in LOCKED else Unavailable
    return kind(f"The database at {where} {advice}. ({error})") if advice else error


def outcome_unknown(where: str, error: Exception) -> Unavailable:
    return Unavailable(
        f"The connection to the database at {where} broke while a change was being saved. Whether it was kept is not"
        f" known: look at the current state before you try again. ({error or type(error).__name__})"
    )
