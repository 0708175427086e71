"""Rows of hosts as a CSV table, the way spreadsheets write it."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, cast

from firstlight.core.errors import Invalid
from firstlight.core.network.host_rows import HostRow, require_row

COLUMNS: Final = HostRow.__struct_fields__
MOST_ROWS: Final = 1_000
SEPARATORS: Final = ",;\t"


def table_of(rows: Sequence[HostRow]) -> str:
    """A line of titles, then a line per host; lists are separated by spaces."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(row, column)) for column in COLUMNS] for row in rows)
    return buffer.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(cast("tuple[str, ...]", value))
    return "" if value is None else str(value)


def rows_of(text: str) -> tuple[HostRow, ...]:
    """The hosts of a table: commas, semicolons or tabs between the columns, in any order. Invalid names the line."""
    head = text.lstrip("\ufeff").partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator, strict=True)
    rows: list[HostRow] = []
    try:
        titles = [title.strip().lower() for title in next(reader, cast("list[str]", []))]
        _require_titles(titles)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(titles):
                raise Invalid(f"Line {reader.line_num}: there are more cells than titles.")
            if len(rows) == MOST_ROWS:
                raise Invalid(f"There are more than {MOST_ROWS} hosts. Split the table.")
            found = _row(dict(zip(titles, cells, strict=False)), line=reader.line_num)
            rows.append(require_row(found, what=f"Line {reader.line_num}"))
    except csv.Error as problem:
        raise Invalid(f"Line {reader.line_num} is no line of a table: {problem}.") from None
    return tuple(rows)


def _require_titles(titles: Sequence[str]) -> None:
    known = ", ".join(COLUMNS)
    for title in titles:
        if title not in COLUMNS:
            raise Invalid(f"There is no column {title[:40]!r}. The first line names columns: {known}.")
        if titles.count(title) > 1:
            raise Invalid(f"The column {title} is there twice. Keep one of them.")
    if "mac_addresses" not in titles:
        raise Invalid(f"The column mac_addresses is missing. The first line names columns: {known}.")


def _row(cells: Mapping[str, str], *, line: int) -> HostRow:
    def listed(column: str) -> tuple[str, ...]:
        return tuple(cells.get(column, "").replace(",", " ").split())

    def number(column: str) -> int | None:
        text = cells.get(column, "").strip()
        if text and not (text.isascii() and text.isdigit() and len(text) <= 6):
            raise Invalid(f"Line {line}: {column} is {text[:40]!r}, which is no number.")
        return int(text) if text else None

    def word(column: str) -> str:
        return cells.get(column, "").strip()

    return HostRow(
        mac_addresses=listed("mac_addresses"),
        bond_mode=word("bond_mode").lower(),
        vlan=number("vlan"),
        mtu=number("mtu"),
        ipv4=word("ipv4"),
        ipv4_gateway=word("ipv4_gateway"),
        ipv6=word("ipv6"),
        ipv6_gateway=word("ipv6_gateway"),
        dns=listed("dns"),
        dns_search=listed("dns_search"),
    )
