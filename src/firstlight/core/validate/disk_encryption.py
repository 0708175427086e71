"""Disk encryption: which nodes, unlocked by what, and the Tang servers if it is Tang."""

from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import TangServer
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.validate.quoting import shown
from firstlight.core.validate.urls import check_url, named_url

ENABLE_ON: Final = (
    "none",
    "all",
    "masters",
    "arbiters",
    "workers",
    "masters,arbiters",
    "masters,workers",
    "arbiters,workers",
    "masters,arbiters,workers",
)


def check_disk_encryption(*, enable_on: str, mode: str, tang_servers: str = "") -> tuple[TangServer, ...]:
    """The Tang servers to bind to; none unless Tang is used on some node."""
    if enable_on not in ENABLE_ON:
        raise Invalid(f"Disks cannot be encrypted on {shown(enable_on)}. Use one of: {' | '.join(ENABLE_ON)}.")
    if mode not in list(EncryptionMode):
        raise Invalid(f"The disk encryption mode {shown(mode)} is not known. Use one of {', '.join(EncryptionMode)}.")
    servers = parse_tang_servers(tang_servers) if tang_servers else ()
    if enable_on == "none" or mode != EncryptionMode.TANG:
        return ()
    if not servers:
        raise Invalid("Disk encryption in the mode tang needs at least one Tang server. Add it to tang_servers.")
    return servers


def parse_tang_servers(text: str) -> tuple[TangServer, ...]:
    """The servers in the JSON text; Invalid when it has another form or a part is missing."""
    try:
        servers = msgspec.json.decode(text, type=tuple[TangServer, ...])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Invalid(
            "tang_servers must be a JSON list of objects with url and thumbprint, for example"
            f' [{{"url": "http://tang.example.com:7500", "thumbprint": "PLjNyRdGw03zlRoGjQYMahSZGu9"}}]: {error}'
        ) from None
    for server in servers:
        check_url(server.url, what="The Tang server URL")
        if not server.thumbprint.strip():
            raise Invalid(f"The Tang server {named_url(server.url)} has no thumbprint. Add the one its keys have.")
    return servers
