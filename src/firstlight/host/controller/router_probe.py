"""Whether the router of a single node answers, for the logs of an installation that failed."""

import asyncio
from collections.abc import Iterable
from typing import Final

from firstlight.host.actions.action import Fetch, Unfetched
from firstlight.host.controller.matching import node_addresses
from firstlight.host.controller.objects import Node

SECONDS: Final = 30.0
HEALTH: Final = "_______internal_router_healthz"
CANARY: Final = "canary-openshift-ingress-canary"
MOST_BYTES: Final = 64 * 2**10
SHOWN: Final = 200


def targets(nodes: Iterable[Node], *, domain: str) -> list[str]:
    """The router's own health on each address, and the route that the cluster itself watches."""
    addresses = sorted({address for node in nodes for address in node_addresses(node)}, key=str)
    found = [f"http://{f'[{one}]' if one.version == 6 else one}/{HEALTH}" for one in addresses]
    return [*found, f"https://{CANARY}.apps.{domain}"] if domain else found


async def probe(fetch: Fetch, urls: Iterable[str], *, seconds: float = SECONDS) -> str:
    """One line for each, with its answer or the reason why there is none."""
    return "".join(await asyncio.gather(*(_line(fetch, url, seconds=seconds) for url in urls)))


async def _line(fetch: Fetch, url: str, *, seconds: float) -> str:
    try:
        # Who answers is not the question here.
        async with asyncio.timeout(seconds), fetch(url, insecure=True, silence_limit=seconds) as answer:
            body = (await answer.body(most=MOST_BYTES)).decode("utf-8", "replace")
            return f"{url} answered {answer.status}: {' '.join(body.split())[:SHOWN]}\n"
    except TimeoutError:
        return f"{url} did not answer within {seconds:g} seconds\n"
    except Unfetched as reason:
        return f"{reason}\n"
