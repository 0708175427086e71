"""`ntp-synchronizer`: tells the host's chrony about the wanted time servers and reports how each of all it has does."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import NtpSynchronizationRequest
from firstlight.core.wire.step_outputs import NtpSource, NtpSynchronizationResponse
from firstlight.host.actions.action import Action, Done, Site, failed, first_document, replied
from firstlight.host.actions.chrony_output import Source, is_server, sources, wanted_sources
from firstlight.host.links.resolving import Resolver, Unanswered

_SECONDS: Final = 30.0
_MOST_NAMES: Final = 32
_NAME_SECONDS: Final = 40.0
"""For what a name leads to, or an address is called: the clock is well without it."""


_WANTED: Final = Reader(NtpSynchronizationRequest)


async def synchronize(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = wanted_sources(first_document(arguments, _WANTED).ntp_source)
    resolver = Resolver(site.root)
    known = {source.name for source in await _sources(site) or ()}
    servers = [server for server in wanted if is_server(server)]
    for server, addresses in zip(servers, await _all_addresses(servers, resolver), strict=True):
        if not known & {server, *addresses}:
            # A server that chrony will not take is missing in the report below, which says it best.
            await site.host.run("chronyc", "add", "server", server, "iburst", limit=_SECONDS)
    outcome = await site.host.run("chronyc", "-n", "sources", limit=_SECONDS)
    if not outcome.succeeded:
        code = outcome.exit_code
        return failed(f"chrony did not tell its time servers: {outcome.complaint}", exit_code=code)
    found = sources(outcome.text)
    names = await asyncio.gather(*(_named(source, resolver) for source in found[:_MOST_NAMES]))
    states = [NtpSource(source_name=name, source_state=one.state) for name, one in zip(names, found, strict=False)]
    return replied(NtpSynchronizationResponse(ntp_sources=tuple(states)))


async def _sources(site: Site) -> tuple[Source, ...] | None:
    outcome = await site.host.run("chronyc", "-n", "sources", limit=_SECONDS)
    return sources(outcome.text) if outcome.succeeded else None


async def _all_addresses(servers: Sequence[str], resolver: Resolver) -> list[set[str]]:
    return await asyncio.gather(*(_addresses(server, resolver) for server in servers))


async def _addresses(server: str, resolver: Resolver) -> set[str]:
    if _is_address(server):
        return set()
    try:
        async with asyncio.timeout(_NAME_SECONDS):
            found = await resolver.resolve(server)
    except (Unanswered, TimeoutError):
        return set()
    return {*found.ipv4, *found.ipv6}


async def _named(source: Source, resolver: Resolver) -> str:
    """Its address, if it has no name or nobody tells in time."""
    if not _is_address(source.name):
        return source.name
    try:
        async with asyncio.timeout(_NAME_SECONDS):
            return await resolver.reverse(source.name) or source.name
    except TimeoutError:
        return source.name


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


NTP: Final = Action(step_type="ntp-synchronizer", perform=synchronize, limit_seconds=180.0, exclusive=True)
