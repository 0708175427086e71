"""`tang-connectivity-check`: does every Tang server advertise the key that the disks shall be bound to?"""

import asyncio
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader, Unreadable
from firstlight.core.wire.step_arguments import TangConnectivityRequest
from firstlight.core.wire.step_outputs import TangConnectivityResponse, TangServerResponse, TangServerSignature
from firstlight.host.actions.action import FAILED, Action, Done, Fetch, Site, Unfetched, first_document

_MOST_BYTES: Final = 2**20
_SILENCE: Final = 15.0


class Server(Struct, frozen=True, kw_only=True):
    url: str
    thumbprint: str = ""


class Advertised(Struct, frozen=True, kw_only=True):
    """A JSON web signature: with a list of signatures, or with its only one unpacked."""

    payload: str = ""
    signatures: tuple[TangServerSignature, ...] | None = None
    protected: str = ""
    signature: str = ""


_WANTED: Final = Reader(TangConnectivityRequest)
_SERVERS: Final = Reader(tuple[Server, ...])
_ADVERTISED: Final = Reader(Advertised)


async def check(arguments: tuple[str, ...], site: Site) -> Done:
    servers = _SERVERS.read(first_document(arguments, _WANTED).tang_servers)
    if not servers:
        raise Invalid("the list of Tang servers is empty.")
    answers = await asyncio.gather(*(_asked(server, fetch=site.fetch) for server in servers))
    good = tuple(answer for answer in answers if isinstance(answer, TangServerResponse))
    complaints = [answer for answer in answers if isinstance(answer, str)]
    if complaints:
        # The original's service reads the sentence, and expects the list to be there and empty.
        return Done(exit_code=FAILED, output='{"tang_server_response":null}', error=" ".join(complaints))
    report = TangConnectivityResponse(is_success=True, tang_server_response=good)
    return Done(output=msgspec.json.encode(report).decode())


async def _asked(server: Server, *, fetch: Fetch) -> TangServerResponse | str:
    url = f"{server.url.rstrip('/')}/adv/{server.thumbprint}"
    try:
        async with fetch(url, silence_limit=_SILENCE) as answer:
            body = await answer.body(most=_MOST_BYTES)
            if answer.status != 200:
                return f"The Tang server {server.url} answered {answer.status} instead of an advertisement."
        said = _ADVERTISED.read(body)
    except Unfetched as reason:
        return f"The Tang server {server.url} does not answer. {reason}"
    except Unreadable:
        return f"The Tang server {server.url} answered with something that is no advertisement."
    only = (TangServerSignature(protected=said.protected, signature=said.signature),) if said.signature else None
    return TangServerResponse(tang_url=server.url, payload=said.payload, signatures=said.signatures or only)


TANG: Final = Action(step_type="tang-connectivity-check", perform=check, limit_seconds=120.0, exclusive=True)
