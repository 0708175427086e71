"""What commands print: a table for people, JSON or YAML for programs."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

import msgspec
import typer

from firstlight.cli.api import Document


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How to print the answer.")]

WRAPPED: Final = frozenset({"Why", "Message"})
ENDLESS: Final = 2_000
GOOD: Final = frozenset({"known", "known-unbound", "installed", "ready", "added-to-existing-cluster", "success"})
BAD: Final = frozenset(
    {"error", "insufficient", "insufficient-unbound", "disconnected", "cancelled", "failure", "critical"}
)


def put(text: str) -> None:
    sys.stdout.write(text + "\n")
    # Whoever reads along through a pipe must not wait for a full buffer.
    sys.stdout.flush()


def show_list(documents: Sequence[Document], columns: Sequence[tuple[str, str]], *, output: Format) -> None:
    """`columns` are titles and the members shown under them."""
    if output is not Format.TABLE:
        show_document(documents, output=output)
        return
    rows = [[_cell(document.get(member)) for _, member in columns] for document in documents]
    show_rows([title for title, _ in columns], rows)


def show_rows(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        # Names and ids are for copying: never cut.
        table.add_column(title, overflow="fold", no_wrap=title not in WRAPPED)
    for row in rows:
        table.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    # A pipe has no width: there every row is one line.
    console = Console() if sys.stdout.isatty() else Console(width=ENDLESS)
    with console.capture() as captured:
        console.print(table)
    put("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_document(document: object, *, output: Format) -> None:
    if output is Format.YAML:
        import yaml

        put(yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip())
        return
    put(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def show_facts(facts: Sequence[tuple[str, object]]) -> None:
    """Title and value, one per line; empty values are left out."""
    width = max((len(title) for title, _ in facts), default=0)
    for title, value in facts:
        if text := _cell(value):
            put(f"{title:<{width}}  {text}")


def _cell(value: object) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _style(cell: str) -> str:
    return "green" if cell in GOOD else "red" if cell in BAD else ""
