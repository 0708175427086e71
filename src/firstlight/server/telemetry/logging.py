"""Log lines: a constant sentence plus keys, as text for people or JSON for machines. Secrets never get here."""

import logging
import sys
from typing import Final

import structlog

# Local variables hold pull secrets and tokens: tracebacks are written without them.
_TRACEBACKS: Final = structlog.processors.ExceptionRenderer(
    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
)


_OWN_LINES: Final = ("exception", "stack")


def _visible(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Callers choose paths and names: what could move the cursor of a terminal is spelled out."""
    for key, value in event.items():
        if isinstance(value, str) and not value.isprintable() and key not in _OWN_LINES:
            event[key] = value.encode("unicode_escape").decode()
    return event


def set_up_logging(*, level: str, json_lines: bool) -> None:
    threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderer: list[structlog.typing.Processor] = (
        [_TRACEBACKS, structlog.processors.JSONRenderer()]
        if json_lines
        else [
            _visible,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ]
    )
    structlog.configure(
        processors=[*shared, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(threshold, logging.WARNING), stream=sys.stderr, format="%(levelname)s %(message)s")
