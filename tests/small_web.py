"""A small real web server for fetching actions: each path is a function of the request."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Page = Callable[[BaseHTTPRequestHandler], None]


def says(body: bytes, *, status: int = 200, **headers: str) -> Page:
    def page(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return page


class Web:
    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Page] = {}
        self.seen: list[tuple[str, dict[str, str]]] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                web.pages.get(self.path, says(b"no such page", status=404))(self)

            def handle(self) -> None:
                # Callers that do not trust us hang up.
                with suppress(OSError):
                    super().handle()

            def log_message(self, format: str, *args: object) -> None:
                """Tests are silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def running_web(tls: ssl.SSLContext | None = None) -> Iterator[Web]:
    web = Web(tls)
    thread = threading.Thread(target=web.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield web
    finally:
        web.server.shutdown()
        thread.join()
        web.server.server_close()
