"""`api-vip-connectivity-check`: can this host fetch the Ignition that would make it a worker of an existing cluster?

A failed download is an answer, not a failed step: only a request that makes no sense is.
"""

import base64
import binascii
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import ApiVipConnectivityRequest
from firstlight.core.wire.step_outputs import ApiVipConnectivityResponse
from firstlight.host.actions.action import Action, Done, Site, Unfetched, first_document, replied
from firstlight.host.actions.worker_ignition import ACCEPT, reduced

MOST_BYTES: Final = 32 * 2**20
_SILENCE: Final = 30.0


_WANTED: Final = Reader(ApiVipConnectivityRequest)


async def check(arguments: tuple[str, ...], site: Site) -> Done:
    wanted = first_document(arguments, _WANTED)
    if not wanted.url.startswith(("http://", "https://")):
        raise Invalid(f"{wanted.url!r} is not an HTTP URL.")
    authorities = _authorities(wanted.ca_certificate)
    try:
        async with site.fetch(
            wanted.url,
            headers=_headers(wanted),
            authorities=authorities,
            only_these=authorities is not None,
            silence_limit=_SILENCE,
        ) as answer:
            body = await answer.body(most=MOST_BYTES)
            if not 200 <= answer.status < 300:
                raise Unfetched(f"The server answered {answer.status}: {body[:512].decode('utf-8', 'replace')}")
        ignition = reduced(body)
    except (Unfetched, Invalid) as reason:
        return replied(ApiVipConnectivityResponse(url=wanted.url, download_error=str(reason)))
    return replied(ApiVipConnectivityResponse(is_success=True, url=wanted.url, ignition=ignition))


def _headers(wanted: ApiVipConnectivityRequest) -> dict[str, str]:
    headers = {"Accept": ACCEPT}
    if wanted.ignition_endpoint_token:
        headers["Authorization"] = f"Bearer {wanted.ignition_endpoint_token}"
    return headers | {header.key: header.value for header in wanted.request_headers or () if header.key}


def _authorities(encoded: str | None) -> str | None:
    if not encoded:
        return None
    try:
        return base64.b64decode(encoded, validate=True).decode("ascii")
    except (binascii.Error, UnicodeError) as reason:
        raise Invalid("the CA certificate is not PEM text in base64.") from reason


API_VIP: Final = Action(step_type="api-vip-connectivity-check", perform=check, limit_seconds=120.0, exclusive=True)
