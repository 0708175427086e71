"""The protocol on each connection: uvicorn's, with a bound on what it gathers before anybody is asked.

The parser keeps URL, headers and trailers until they are complete, however long they become.
"""

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD: Final = 128 * 1024
"""Bytes of a request line with its headers, and of anything else between two pieces of a body."""


class Listener(HttpToolsProtocol):
    _gathered = 0

    def data_received(self, data: bytes) -> None:
        self._gathered += len(data)
        super().data_received(data)
        if self._gathered > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of the request is larger than {LARGEST_HEAD} bytes.")

    def on_headers_complete(self) -> None:
        self._gathered = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._gathered = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._gathered = 0
        super().on_message_complete()
