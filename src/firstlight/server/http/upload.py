"""Taking one file out of a multipart upload while it arrives; nothing is kept in memory or spooled to disk."""

from collections.abc import AsyncIterator
from typing import Any

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from firstlight.core.errors import Invalid
from firstlight.server.http.call import Call


async def uploaded_file(call: Call[Any, Any], field_name: str) -> AsyncIterator[bytes]:
    """The contents of the file field `field_name`, piece by piece. Raises Invalid when there is no such field."""
    kind, options = parse_options_header(call.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise Invalid(f"Send the file as the field {field_name} of a multipart/form-data body.")
    collector = _Collector(field_name)
    try:
        parser = MultipartParser(boundary, collector.callbacks())
        async for chunk in call.stream():
            parser.write(chunk)
            for piece in collector.take():
                yield piece
        parser.finalize()
    except MultipartParseError as error:
        raise Invalid(f"The multipart body is malformed: {error}.") from error
    for piece in collector.take():
        yield piece
    if not collector.ended:
        raise Invalid("The multipart body stops before its closing boundary: the file may be cut off. Send it again.")
    if not collector.found:
        raise Invalid(f"The upload has no field {field_name}. Send the file under that name.")


class _Collector:
    """Keeps the data of one field and drops all others."""

    def __init__(self, field_name: str) -> None:
        self._wanted = field_name.encode()
        self._pieces: list[bytes] = []
        self._header_name = b""
        self._header_value = b""
        self._inside = False
        self.found = False
        self.ended = False
        """The closing boundary was seen; the parser itself does not miss it."""

    def take(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._on_part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }

    def _on_part_begin(self) -> None:
        self._inside = False

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            _, options = parse_options_header(self._header_value)
            if options.get(b"name") == self._wanted:
                self._inside = self.found = True
        self._header_name = self._header_value = b""

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self._pieces.append(data[start:end])

    def _on_part_end(self) -> None:
        self._inside = False

    def _on_end(self) -> None:
        self.ended = True
