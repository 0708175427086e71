"""The place hosts of a day-2 cluster fetch their Ignition config from, when it is not the usual one."""

import base64
import binascii
from collections.abc import Callable

from firstlight.core.errors import Invalid
from firstlight.core.validate.trust_bundle import check_certificates
from firstlight.core.validate.urls import check_url


def check_ignition_endpoint(
    *, url: str = "", ca_certificate: str = "", parse: Callable[[bytes], object] | None = None
) -> None:
    """`ca_certificate` is PEM text in base64; `parse` as in `check_trust_bundle`. Empty means not set."""
    if url:
        check_url(url, what="The ignition endpoint URL")
    if ca_certificate:
        check_certificates(_decoded(ca_certificate), what="The ignition endpoint's CA certificate", parse=parse)


def _decoded(encoded: str) -> str:
    try:
        return base64.b64decode("".join(encoded.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        raise Invalid("The ignition endpoint's CA certificate must be PEM text encoded in base64.") from None
