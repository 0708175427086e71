"""HTTP GET for steps: proxies of the environment, chosen trust, bounded silence; a failure is always one sentence.

The trust and the routing through proxies are also what the session with the service is made of.
"""

import ssl
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpx2

from firstlight.host.actions.action import Fetch, Unfetched
from firstlight.host.proxies import proxy_for
from firstlight.host.root import Root

CONNECT_SECONDS: Final = 30.0
KEEP_SECONDS: Final = 5.0
REDIRECTS: Final = 10
_BUNDLES: Final = (
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/certs/ca-certificates.crt",
)


def trust(
    *, root: Root, authorities: str | None = None, only_these: bool = False, insecure: bool = False
) -> ssl.SSLContext:
    """Whom to believe: the host's own roots, further authorities in PEM, only those, or anyone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if not (only_these and authorities):
        for bundle in _BUNDLES:
            if root.exists(bundle):
                context.load_verify_locations(cafile=root.path(bundle))
                break
        else:
            context.set_default_verify_paths()
    if authorities:
        try:
            context.load_verify_locations(cadata=authorities)
        except (ssl.SSLError, ValueError) as reason:
            raise Unfetched("The given certificate authority is not PEM text with certificates.") from reason
    return context


class RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends each request directly or through the proxy that the environment names for it, redirects included."""

    def __init__(
        self, context: ssl.SSLContext, *, environment: Mapping[str, str], keep_seconds: float = KEEP_SECONDS
    ) -> None:
        """`keep_seconds` is how long a connection that nobody uses stays open."""
        self._context = context
        self._environment = environment
        self._limits = httpx2.Limits(max_connections=32, keepalive_expiry=keep_seconds)
        self._routes: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        proxy = proxy_for(str(request.url), self._environment)
        route = self._routes.get(proxy)
        if route is None:
            # Whoever answers for the proxy itself may have a certificate of the same authorities.
            through = None if proxy is None else httpx2.Proxy(proxy, ssl_context=_for_proxy(proxy, self._context))
            route = self._routes[proxy] = httpx2.AsyncHTTPTransport(
                verify=self._context, proxy=through, limits=self._limits
            )
        return await route.handle_async_request(request)

    async def aclose(self) -> None:
        for route in self._routes.values():
            await route.aclose()


class _Answer:
    def __init__(self, response: httpx2.Response, *, url: str) -> None:
        self._response = response
        self._url = url
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except (httpx2.HTTPError, OSError) as reason:
            raise Unfetched(f"The answer of {self._url} broke off: {words_of(reason)}.") from reason

    async def body(self, *, most: int) -> bytes:
        whole = bytearray()
        async for piece in self.pieces():
            whole += piece
            if len(whole) > most:
                raise Unfetched(f"The answer of {self._url} is longer than {most} bytes.")
        return bytes(whole)


def fetcher(*, root: Root, environment: Mapping[str, str]) -> Fetch:
    """GET requests that trust the roots of the host and use the proxies of `environment`."""

    @asynccontextmanager
    async def fetch(
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        authorities: str | None = None,
        only_these: bool = False,
        insecure: bool = False,
        silence_limit: float = 30.0,
    ) -> AsyncGenerator[_Answer]:
        shown = without_secrets(url)
        context = trust(root=root, authorities=authorities, only_these=only_these, insecure=insecure)
        client = httpx2.AsyncClient(
            transport=RoutedTransport(context, environment=environment),
            timeout=httpx2.Timeout(silence_limit, connect=min(CONNECT_SECONDS, silence_limit)),
            follow_redirects=True,
            max_redirects=REDIRECTS,
            trust_env=False,
        )
        async with client:
            try:
                request = client.build_request("GET", url, headers=dict(headers or {}))
                response = await client.send(request, stream=True)
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as reason:
                raise Unfetched(f"{shown} could not be fetched: {words_of(reason)}.") from reason
            try:
                yield _Answer(response, url=shown)
            finally:
                await response.aclose()

    return fetch


def without_secrets(url: str) -> str:
    """The URL as it may be shown: without a password and without its query, where tokens travel."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "the URL"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def pem_file(path: Path) -> str | None:
    """Authorities from a file, None if it cannot be read."""
    try:
        return path.read_text()
    except (OSError, UnicodeError):
        return None


def _for_proxy(proxy: str, context: ssl.SSLContext) -> ssl.SSLContext | None:
    return context if proxy.startswith("https://") else None


def with_pair(context: ssl.SSLContext, *, certificate: str, key: str) -> None:
    """Let the context prove who we are. Raises `ssl.SSLError` and OSError."""
    # The standard library takes certificates of clients only from files.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        context.load_cert_chain(file.name)


def words_of(reason: BaseException) -> str:
    """What went wrong with a call, as part of a sentence that may be shown."""
    if isinstance(reason, httpx2.TimeoutException):
        return "no connection in time" if isinstance(reason, httpx2.ConnectTimeout) else "no answer in time"
    if isinstance(reason, httpx2.LocalProtocolError):
        # Its text quotes the header that cannot be sent, which may be a token.
        return "the request has a header that cannot be sent"
    return str(reason).strip().rstrip(".") or type(reason).__name__
