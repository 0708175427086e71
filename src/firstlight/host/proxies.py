"""Which proxy a URL goes through, by the variables and rules that the original's tools follow.

`NO_PROXY` knows `*`, hosts, domain suffixes, addresses, networks, and hosts with a port; loopback is always direct.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

PROXY_VARIABLES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_PORTS: Final = {"http": 80, "https": 443}


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The URL of the proxy, or None for a direct connection."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    proxy = _variable(environment, f"{parts.scheme}_proxy") if parts.scheme in _PORTS else ""
    if not proxy or not host:
        return None
    if is_direct(host, port=port or _PORTS[parts.scheme], exceptions=_variable(environment, "no_proxy")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_direct(host: str, *, port: int, exceptions: str) -> bool:
    """Whether an exception list names this host."""
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_covers(item.strip().lower(), host.lower(), port, address) for item in exceptions.split(","))


def _covers(item: str, host: str, port: int, address: IPv4Address | IPv6Address | None) -> bool:
    if item in ("", "*"):
        return item == "*"
    try:
        network = ip_network(item, strict=False)
    except ValueError:
        pass
    else:
        return address is not None and address.version == network.version and address in network
    name, _, number = item.rpartition(":")
    if name and number.isdigit():
        if int(number) != port:
            return False
        item = name
    exact = item.strip("[]")
    if address is not None:
        return _address(exact) == address
    # A leading dot (or "*.") asks for names below the domain only; without it the domain itself is meant too.
    below = exact.removeprefix("*")
    return host.endswith(below if below.startswith(".") else f".{below}") or host == exact


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name.upper()) or environment.get(name) or ""


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text.strip("[]"))
    except ValueError:
        return None
