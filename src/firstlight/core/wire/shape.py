"""The three kinds of message on the wire, and the constrained values that requests share.

A `Body` is what a caller sends: unknown fields are refused and `None` means "not given", because null and absent are
the same on this API. An `Answer` is what the service sends: empty values vanish, fields without a default are always
present. A `Payload` is what an agent measured: read with tolerance, since older and newer agents differ a little.
"""

import re
from typing import Annotated

from msgspec import Meta, Struct


class Body(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request document, or a part of one."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A response document, or a part of one."""


class Payload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document an agent produced; it travels as JSON inside a string."""


def one_of(*words: str) -> Meta:
    """Limit a string to the words of a published enumeration, for types that travel in both directions."""
    # `$` alone would also match before a final newline.
    pattern = f"^(?:{'|'.join(re.escape(word) for word in words)})$(?!\\n)"
    return Meta(pattern=pattern, extra_json_schema={"enum": list(words)})


Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
HostPrefix = Annotated[int, Meta(ge=1, le=128)]
Seconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]

ClusterName = Annotated[str, Meta(min_length=1, max_length=54)]
TrustBundle = Annotated[str, Meta(max_length=65_535)]
NonEmpty = Annotated[str, Meta(min_length=1)]

# The patterns accept what the published ones accept, but none can backtrack without bound on hostile text.
_IPV4 = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
_IPV6 = r"(?=(?:[^:]*:){2})[0-9a-fA-F:]+"
_PREFIX_V4 = r"(?:[0-9]|[1-2][0-9]|3[0-2])"
_PREFIX_V6 = r"(?:[0-9]|[1-9][0-9]|1[0-1][0-9]|12[0-8])"

Cidr = Annotated[str, Meta(pattern=rf"^(?:{_IPV4}/{_PREFIX_V4}|{_IPV6}/{_PREFIX_V6})$(?!\n)")]
IpAddress = Annotated[str, Meta(pattern=rf"^(?:{_IPV4}|{_IPV6})?$(?!\n)")]
RendezvousIp = Annotated[str, Meta(pattern=rf"^(?:{_IPV4}|{_IPV6}|[0-9a-fA-F:.]+%[0-9a-zA-Z]+|)$(?!\n)")]
MacAddress = Annotated[str, Meta(pattern=r"^(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$(?!\n)")]
KernelArgumentValue = Annotated[str, Meta(pattern=r'^(?:[^ \t\n\r"]|"[^"]*")+$(?!\n)')]
ManifestFileName = Annotated[str, Meta(pattern=r"^[^/]*\.(?:json|ya?ml(?:\.patch_?[a-zA-Z0-9_]*)?)$(?!\n)")]
