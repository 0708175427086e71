"""How settings are written: durations, lists, addresses and levels as people write them."""

import re
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import NoDecode

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
HIGHEST_PORT = 65_535
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")


def duration(value: object) -> object:
    """Durations the way people write them: `90s`, `3m`, `1h30m`; a bare number is seconds."""
    if not isinstance(value, str) or not (text := value.strip()):
        return value
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return timedelta(seconds=float(text))
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return value
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in parts))


def comma_list(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip().strip('"')
    return tuple(item.strip() for item in text.split(",") if item.strip())


Duration = Annotated[timedelta, BeforeValidator(duration)]
CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(comma_list)]


def address(value: str) -> str:
    """`host:port`; an empty host means every interface, an IPv6 address stands in brackets."""
    _, separator, port = value.rpartition(":")
    if not separator or not (port.isascii() and port.isdecimal() and int(port) <= HIGHEST_PORT):
        raise ValueError(f"'{value}' is no address with a port. Write it like 127.0.0.1:8090 or [::1]:8090")
    return value


def level(value: object) -> object:
    """Log levels as the original spells them too: any case, `warn` for `warning`."""
    word = value.strip().lower() if isinstance(value, str) else value
    return "warning" if word == "warn" else word


def tls_version(value: object) -> object:
    """`1.3`, or `VersionTLS13` as the original spells it."""
    word = str(value).strip().removeprefix("VersionTLS").removeprefix("TLSv").replace(".", "")
    return {"12": "1.2", "13": "1.3"}.get(word, value)


TlsVersion = Annotated[Literal["1.2", "1.3"], BeforeValidator(tls_version)]
Address = Annotated[str, AfterValidator(address)]
LogLevel = Annotated[Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(level)]
