"""`domain-resolution`: what the names of the cluster lead to, seen from this host."""

import asyncio
from typing import Final

from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import DomainResolutionRequest
from firstlight.core.wire.step_outputs import DomainResolution, DomainResolutionResponse
from firstlight.host.actions.action import Action, Done, Site, first_document, replied
from firstlight.host.links.resolving import Resolved, Resolver, Unanswered

_AT_ONCE: Final = 8
_SECONDS_PER_NAME: Final = 40.0


_DOMAINS: Final = Reader(DomainResolutionRequest)


async def resolve(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _DOMAINS)
    resolver = Resolver(site.root)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> DomainResolution:
        async with turns:
            return _said(name, await _resolved(resolver, name))

    found = await asyncio.gather(*(one(domain.domain_name) for domain in wanted.domains))
    return replied(DomainResolutionResponse(resolutions=tuple(found)))


async def _resolved(resolver: Resolver, name: str) -> Resolved:
    """A name that nobody could be asked about has no addresses, like one that does not exist."""
    try:
        async with asyncio.timeout(_SECONDS_PER_NAME):
            return await resolver.resolve(name)
    except (Unanswered, TimeoutError):
        return Resolved()


def _said(name: str, found: Resolved) -> DomainResolution:
    return DomainResolution(
        domain_name=name,
        ipv4_addresses=found.ipv4,
        ipv6_addresses=found.ipv6,
        cnames=(found.canonical,) if found.canonical else (),
    )


DOMAIN_RESOLUTION: Final = Action(step_type="domain-resolution", perform=resolve, limit_seconds=180.0, exclusive=True)
