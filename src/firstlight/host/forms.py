"""Files as browsers send them: a form with one part, and the headers that announce it."""

import asyncio
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Final
from uuid import uuid4

FIELD: Final = "upfile"
"""The part in which the service looks for logs."""
PIECE: Final = 2**18


def file_form(path: Path, *, file_name: str) -> tuple[AsyncIterable[bytes], dict[str, str]]:
    """The file is read from disk while it is sent, as long as it was when it was announced."""
    size = path.stat().st_size
    head, tail, headers = _around(file_name, size=size)

    async def pieces() -> AsyncIterable[bytes]:
        yield head
        left = size
        with path.open("rb") as file:
            while left and (piece := await asyncio.to_thread(file.read, min(left, PIECE))):
                left -= len(piece)
                yield piece
        yield tail

    return pieces(), headers


def bytes_form(content: bytes, *, file_name: str) -> tuple[bytes, dict[str, str]]:
    head, tail, headers = _around(file_name, size=len(content))
    return head + content + tail, headers


def _around(file_name: str, *, size: int) -> tuple[bytes, bytes, dict[str, str]]:
    boundary = uuid4().hex
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{FIELD}"; filename="{file_name}"\r\n'
        "Content-Type: application/gzip\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    length = str(len(head) + size + len(tail))
    return head, tail, {"Content-Type": f"multipart/form-data; boundary={boundary}", "Content-Length": length}
