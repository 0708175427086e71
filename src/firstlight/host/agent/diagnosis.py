"""Why the service cannot be reached: each station of the way there is tried for real, in order, with a way out.

DNS, route, TLS, proxy, clock, token. What lies behind a station that fails cannot be told and says so.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

import httpx2

from firstlight.host.agent.board import Check
from firstlight.host.fetching import RoutedTransport, pem_file, trust, without_secrets
from firstlight.host.proxies import proxy_for
from firstlight.host.root import Root
from firstlight.host.settings import AgentSettings

SECONDS: Final = 8.0
"""For each station."""
CLOCK_TOLERANCE: Final = 300.0
_PORTS: Final = {"http": 80, "https": 443}
UNAUTHENTICATED: Final = (401, 403)
PROXY_REFUSES: Final = 407

AddressesOf = Callable[[str, int], Awaitable[tuple[str, ...]]]


async def diagnose(
    settings: AgentSettings, *, root: Root, host_id: UUID, wall_clock: Callable[[], float] = time.time
) -> tuple[Check, ...]:
    """Never raises; takes at most the time of each station together."""
    proxy = proxy_for(settings.url, settings.proxies)
    first = urlsplit(proxy or settings.url)
    what = "the proxy" if proxy else "the service"
    checks = [await _dns(first, what)]
    checks.append(await _route(first, what) if checks[-1].passed is not False else _unknown("route"))
    reached = checks[-1].passed
    context = _context(settings, root)
    checks.append(await _tls(settings, proxy, context) if reached else _unknown("TLS"))
    checks.append(await _proxy(settings, proxy, context) if reached else _unknown("proxy"))
    checks.append(await _clock(settings, context, wall_clock) if reached else _unknown("clock"))
    checks.append(await _token(settings, context, host_id) if reached else _unknown("token"))
    return tuple(checks)


def _unknown(name: str) -> Check:
    return Check(name=name, passed=None, sentence="not tried, because something before it fails")


def _context(settings: AgentSettings, root: Root) -> ssl.SSLContext:
    given = settings.ca_certificate
    authorities = None if given is None else pem_file(given) or pem_file(root.path(str(given)))
    return trust(root=root, authorities=authorities, insecure=settings.insecure)


def port_of(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 80)


async def _dns(parts: SplitResult, what: str) -> Check:
    name = parts.hostname or ""
    try:
        return Check(name="DNS", passed=True, sentence=f"{ip_address(name)} is an address, no name to be looked up")
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SECONDS):
            found = await loop.getaddrinfo(name, port_of(parts), type=socket.SOCK_STREAM)
    except TimeoutError:
        return Check(
            name="DNS", passed=False, sentence=f"no name server answers when asked for {name}",
            fix="Check the name servers of this network (/etc/resolv.conf) and the cable.",
        )  # fmt: skip
    except OSError as reason:
        return Check(
            name="DNS", passed=False, sentence=f"the name of {what}, {name}, cannot be looked up: {reason.strerror}",
            fix="Add the name to the DNS of this network, or give the network a name server that knows it.",
        )  # fmt: skip
    addresses = sorted({str(row[4][0]) for row in found})
    return Check(name="DNS", passed=True, sentence=f"{name} is {', '.join(addresses[:3])}")


async def _route(parts: SplitResult, what: str) -> Check:
    name, port = parts.hostname or "", port_of(parts)
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(name, port)
    except TimeoutError:
        return Check(
            name="route", passed=False, sentence=f"{name} port {port} does not answer",
            fix=f"Check the gateway of this machine and firewalls between it and {what}.",
        )  # fmt: skip
    except ConnectionRefusedError:
        return Check(
            name="route", passed=False, sentence=f"{name} is there, but nothing listens on port {port}",
            fix=f"Start {what}, or check its port.",
        )  # fmt: skip
    except OSError as reason:
        return Check(
            name="route", passed=False, sentence=f"there is no way to {name}: {reason.strerror or reason}",
            fix="Check that an interface has an address and a default gateway.",
        )  # fmt: skip
    writer.close()
    return Check(name="route", passed=True, sentence=f"port {port} of {name} is open")


async def _tls(settings: AgentSettings, proxy: str | None, context: ssl.SSLContext) -> Check:
    parts = urlsplit(settings.url)
    if parts.scheme != "https":
        return Check(name="TLS", passed=None, sentence="not used by this service")
    if proxy is not None:
        return await _tls_through(settings, context)
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port_of(parts), ssl=context)
    except ssl.SSLCertVerificationError as reason:
        return untrusted(reason.verify_message or str(reason))
    except (ssl.SSLError, TimeoutError, OSError) as reason:
        return Check(
            name="TLS", passed=False, sentence=f"no encrypted connection: {reason or 'no answer in time'}",
            fix="Check that the port of the service speaks TLS.",
        )  # fmt: skip
    writer.close()
    return Check(name="TLS", passed=True, sentence="the certificate of the service is trusted")


async def _tls_through(settings: AgentSettings, context: ssl.SSLContext) -> Check:
    try:
        await _asked(settings, context, "GET", "/ready")
    except httpx2.ConnectError as reason:
        if "CERTIFICATE_VERIFY_FAILED" in str(reason):
            return untrusted(str(reason))
        return _unknown("TLS")
    except (httpx2.HTTPError, OSError, TimeoutError):
        return _unknown("TLS")
    return Check(name="TLS", passed=True, sentence="the certificate of the service is trusted")


def untrusted(message: str) -> Check:
    """What a failed verification is about, in words, with what can be done."""
    if "not yet valid" in message or "expired" in message:
        fix = "Set the clock of this machine, or renew the certificate of the service."
    elif "mismatch" in message.lower() or "doesn't match" in message or "not valid for" in message:
        fix = "Use the name that stands in the certificate, or give the service one for this name."
    else:
        fix = "Add the authority that signed it to the discovery image (additional trust bundle)."
    return Check(
        name="TLS", passed=False, sentence=f"the certificate of the service is not trusted: {message}", fix=fix
    )


async def _proxy(settings: AgentSettings, proxy: str | None, context: ssl.SSLContext) -> Check:
    if proxy is None:
        return Check(name="proxy", passed=None, sentence="none is used for this service")
    shown = without_secrets(proxy)
    try:
        answer = await _asked(settings, context, "GET", "/ready")
        refused = answer.status_code == PROXY_REFUSES
    except httpx2.ProxyError as reason:
        refused = True
        if not str(reason).startswith(str(PROXY_REFUSES)):
            return Check(
                name="proxy", passed=False, sentence=f"{shown} does not pass us on: {reason}",
                fix="Let the proxy reach the service, or add the service to no_proxy.",
            )  # fmt: skip
    except (httpx2.HTTPError, OSError, TimeoutError):
        return _unknown("proxy")
    if refused:
        return Check(
            name="proxy", passed=False, sentence=f"{shown} wants a name and a password",
            fix="Put user:password@ into the proxy's address in the infra-env.",
        )  # fmt: skip
    return Check(name="proxy", passed=True, sentence=f"{shown} passes us on")


async def _clock(settings: AgentSettings, context: ssl.SSLContext, wall_clock: Callable[[], float]) -> Check:
    try:
        answer = await _asked(settings, context, "GET", "/ready")
        told = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (httpx2.HTTPError, OSError, TimeoutError):
        return _unknown("clock")
    except (KeyError, ValueError, TypeError):
        return Check(name="clock", passed=None, sentence="the service does not tell its time")
    off = wall_clock() - told
    if abs(off) <= CLOCK_TOLERANCE:
        return Check(name="clock", passed=True, sentence="agrees with the service")
    direction = "ahead of" if off > 0 else "behind"
    return Check(
        name="clock", passed=False, sentence=f"this machine is {abs(off) / 60:.0f} minutes {direction} the service",
        fix="Set the clock in the firmware, or give the infra-env an NTP source that can be reached.",
    )  # fmt: skip


async def _token(settings: AgentSettings, context: ssl.SSLContext, host_id: UUID) -> Check:
    """A reply to nothing: whoever is let in is told that it makes no sense."""
    path = f"/api/assisted-install/v2/infra-envs/{settings.infra_env_id}/hosts/{host_id}/instructions"
    try:
        answer = await _asked(settings, context, "POST", path, token=settings.token)
    except (httpx2.HTTPError, OSError, TimeoutError):
        return _unknown("token")
    if answer.status_code in UNAUTHENTICATED:
        return Check(
            name="token", passed=False, sentence=f"the service does not accept it ({answer.status_code})",
            fix="Boot this machine from a newly made discovery image.",
        )  # fmt: skip
    return Check(name="token", passed=True, sentence="accepted" if settings.token else "none is needed")


async def _asked(
    settings: AgentSettings, context: ssl.SSLContext, method: str, path: str, *, token: str | None = None
) -> httpx2.Response:
    headers: Mapping[str, str] = {} if token is None else {"X-Secret-Key": token, "Content-Type": "application/json"}
    transport = RoutedTransport(context, environment=settings.proxies)
    async with (
        asyncio.timeout(SECONDS),
        httpx2.AsyncClient(transport=transport, timeout=SECONDS, trust_env=False) as client,
        client.stream(
            method, settings.url + path, headers=headers, content=b"{}" if method == "POST" else None
        ) as answer,
    ):
        return answer
