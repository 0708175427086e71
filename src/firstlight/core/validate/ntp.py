"""Comma lists of NTP servers."""

import re
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.addresses import is_ip
from firstlight.core.validate.quoting import shown

_SERVER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,61}[a-z0-9]")


def check_ntp_sources(sources: str) -> str:
    """IP addresses or host names separated by commas; empty means none."""
    for source in sources.split(",") if sources else ():
        if not is_ip(source) and not _SERVER_NAME.fullmatch(source):
            raise Invalid(
                f"The NTP source {shown(source)} is not valid. Use IP addresses or lower-case host names of 2 to 63"
                " characters, separated by commas without spaces."
            )
    return sources


def check_one_kind_of_ntp(*, additional: str | None, only: str | None) -> None:
    """`additional` adds servers to those found, `only` replaces them: a request can mean one of the two."""
    if additional is not None and only is not None:
        raise Invalid("Additional NTP sources and NTP sources exclude each other. Send only one of the two.")
