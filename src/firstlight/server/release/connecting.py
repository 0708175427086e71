"""Opening a connection pool to container registries, with the authorities an operator trusts."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

import httpx2

from firstlight.core.errors import Invalid
from firstlight.core.install.inputs import MirrorRegistries
from firstlight.core.validate.pull_secret import PullSecret
from firstlight.server.release.registry import Registries

TIMEOUT: Final = httpx2.Timeout(60, connect=30)
LOADED_LATE: Final = ("httpcore2", "truststore", "h11", "anyio", "anyio._backends._asyncio")


@asynccontextmanager
async def open_registries(
    pull_secret: PullSecret,
    *,
    mirrors: MirrorRegistries | None = None,
    bundle: str = "",
    plain: frozenset[str] = frozenset(),
) -> AsyncGenerator[Registries]:
    """`bundle` are PEM certificates to trust besides the system's; proxies come from the environment.

    The certificates of mirrors that the operator called insecure are not looked at. What such a mirror gives is still
    checked by its digest.
    """
    await asyncio.to_thread(_load)
    context = await asyncio.to_thread(_trust, bundle)
    unchecked = {
        f"https://{location.partition('/')[0]}": httpx2.AsyncHTTPTransport(verify=_no_trust())
        for location in (mirrors.insecure if mirrors else ())
    }
    async with httpx2.AsyncClient(verify=context, follow_redirects=True, timeout=TIMEOUT, mounts=unchecked) as client:
        yield Registries(client, pull_secret=pull_secret, mirrors=mirrors, plain=plain)


def _load() -> None:
    """What the client would load at its first use: a tenth of a second, too long for the loop to stand still."""
    for name in LOADED_LATE:
        import_module(name)


def _trust(bundle: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if bundle.strip():
        try:
            context.load_verify_locations(cadata=bundle)
        except ssl.SSLError as problem:
            raise Invalid(f"The CA bundle for container registries cannot be used: {problem.reason}.") from problem
    return context


def _no_trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
