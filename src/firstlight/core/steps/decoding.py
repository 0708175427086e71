"""Reading what an agent wrote: typed, bounded, and with one kind of refusal."""

import ipaddress
from functools import lru_cache
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from firstlight.core.errors import Invalid

T = TypeVar("T")

Text = Annotated[str, Meta(max_length=8_192)]
"""No word of an agent is longer; a kernel command line ends at 4,096 bytes."""
LongText = Annotated[str, Meta(max_length=1_048_576)]
Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

_REFUSALS: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)


def decode(decoder: "msgspec.json.Decoder[T]", output: str | bytes, *, what: str) -> T:
    """The document in `output`; Invalid when it is not JSON of the expected shape. `what` names the report."""
    if not output:
        raise Invalid(f"The agent sent no {what}: the output of its reply is empty.")
    try:
        return decoder.decode(output)
    except _REFUSALS as refusal:
        raise Invalid(f"The {what} cannot be read: {_shown(refusal)}. Send it as the agent API describes.") from None


def _shown(refusal: Exception) -> str:
    if isinstance(refusal, RecursionError):
        return "it is nested too deeply"
    if isinstance(refusal, UnicodeError):
        return "it is not valid UTF-8"
    return str(refusal)[:300]


@lru_cache(maxsize=16_384)
def number_of_address(text: str) -> tuple[int, int] | None:
    """(IP version, address as a number); None for anything else. A prefix length is tolerated."""
    try:
        address = ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return None
    return address.version, int(address)


@lru_cache(maxsize=16_384)
def canonical_interface_address(text: str) -> str | None:
    """`address/prefix` in its one canonical spelling; None when the text is no address or needs a zone."""
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError:
        return None
    return None if "%" in text else str(interface)


@lru_cache(maxsize=16_384)
def network_around(text: str) -> tuple[str, int, int, int] | None:
    """(CIDR, IP version, network number, mask) of the network an `address/prefix` lies in."""
    try:
        network = ipaddress.ip_interface(text).network
    except ValueError:
        return None
    return str(network), network.version, int(network.network_address), int(network.netmask)
