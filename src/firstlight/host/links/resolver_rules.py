"""How the host resolves names: its resolver configuration, its hosts file, and the order in which names are tried."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from msgspec import Struct

from firstlight.host.links.rows import IpAddress

_MOST_SERVERS: Final = 3
_MOST_DOMAINS: Final = 16


class ResolverRules(Struct, frozen=True, kw_only=True):
    """What `resolv.conf` says."""

    servers: tuple[str, ...] = ("127.0.0.1",)
    """Addresses, perhaps with a zone."""
    search: tuple[str, ...] = ()
    dots: int = 1
    """A name with at least this many dots is first tried as it is."""
    seconds: int = 5
    attempts: int = 2


def resolver_rules(text: str) -> ResolverRules:
    """Unknown or broken lines are passed over, as every resolver does."""
    servers: list[str] = []
    rules = ResolverRules()
    search, dots, seconds, attempts = rules.search, rules.dots, rules.seconds, rules.attempts
    for line in text.splitlines():
        words = line.split("#", 1)[0].split(";", 1)[0].split()
        match words:
            case ["nameserver", server, *_] if _is_address(server):
                servers.append(server)
            case ["domain", domain, *_]:
                search = (domain,)
            case ["search", *domains]:
                search = tuple(domains[:_MOST_DOMAINS])
            case ["options", *options]:
                for option in options:
                    name, _, number = option.partition(":")
                    value = int(number) if number.isascii() and number.isdigit() else -1
                    dots = min(value, 15) if name == "ndots" and value >= 0 else dots
                    seconds = min(max(value, 1), 30) if name == "timeout" and value >= 0 else seconds
                    attempts = min(max(value, 1), 5) if name == "attempts" and value >= 0 else attempts
            case _:
                pass
    return ResolverRules(
        servers=tuple(servers[:_MOST_SERVERS]) or rules.servers,
        search=tuple(domain.rstrip(".") for domain in search if domain.rstrip(".")),
        dots=dots,
        seconds=seconds,
        attempts=attempts,
    )


def absolute_names(name: str, rules: ResolverRules) -> tuple[str, ...]:
    """The absolute names to be tried, in order; a final dot asks for the name as it is and nothing else."""
    if name.endswith("."):
        return (name,)
    with_search = tuple(f"{name}.{domain}." for domain in rules.search)
    if name.count(".") >= rules.dots:
        return (f"{name}.", *with_search)
    return (*with_search, f"{name}.")


def hosts_entries(text: str, name: str) -> tuple[IpAddress, ...]:
    """The addresses that a hosts file gives a name."""
    wanted = name.rstrip(".").lower()
    found: list[IpAddress] = []
    for line in text.splitlines():
        address, *names = line.split("#", 1)[0].split() or [""]
        if wanted in (item.rstrip(".").lower() for item in names) and _is_address(address):
            ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
            found.append(ip)
    return tuple(dict.fromkeys(found))


def _is_address(text: str) -> bool:
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
