"""Names: packets, the host's rules, and questions to a server that answers badly."""

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.links.dns_packets import AAAA, CNAME, A, dns_answer_of, dns_query
from firstlight.host.links.resolver_rules import ResolverRules, absolute_names, hosts_entries, resolver_rules
from firstlight.host.links.resolving import Resolver, Unanswered
from firstlight.host.root import Root

POINTER = b"\xc0\x0c"
"""The name of the question, as a reference."""


def name(text: str) -> bytes:
    return b"".join(bytes((len(label),)) + label.encode() for label in text.rstrip(".").split(".")) + b"\0"


def record(owner: bytes, kind: int, data: bytes) -> bytes:
    return owner + struct.pack("!HHIH", kind, 1, 60, len(data)) + data


def answered(query: bytes, *records: bytes, flags: int = 0x8180) -> bytes:
    return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + query[12:] + b"".join(records)


def test_aliases_are_followed() -> None:
    query = dns_query("www.lab.", kind=A, identifier=9)
    data = answered(query, record(POINTER, CNAME, name("web.lab")), record(name("WEB.lab"), A, bytes((192, 0, 2, 5))))
    answer = dns_answer_of(data, query=query)
    assert answer is not None
    assert answer.canonical("www.lab.") == "web.lab."
    assert answer.values("www.lab.", kind=A) == ("192.0.2.5",)


def test_aliases_in_a_circle_end() -> None:
    query = dns_query("a.lab.", kind=A, identifier=9)
    data = answered(query, record(POINTER, CNAME, name("b.lab")), record(name("b.lab"), CNAME, name("a.lab")))
    answer = dns_answer_of(data, query=query)
    assert answer is not None
    assert answer.values("a.lab.", kind=A) == ()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"\0\0" + data[2:],  # another question's answer
        lambda data: data[:2] + b"\1\0" + data[4:],  # a question
        lambda data: data.replace(b"\3www", b"\3wwx"),
        lambda data: data[:11],
    ],
)
def test_the_answer_to_something_else_is_nothing(spoil: Callable[[bytes], bytes]) -> None:
    query = dns_query("www.lab.", kind=A, identifier=9)
    assert dns_answer_of(spoil(answered(query)), query=query) is None


@given(st.binary(max_size=300))
def test_hostile_answers_end(data: bytes) -> None:
    query = dns_query("www.lab.", kind=A, identifier=9)
    dns_answer_of(data, query=query)
    answer = dns_answer_of(query[:2] + struct.pack("!HHHHH", 0x8180, 1, 5, 0, 0) + query[12:] + data, query=query)
    if answer is not None:
        answer.values("www.lab.", kind=A)


def test_a_name_that_points_at_itself() -> None:
    query = dns_query("www.lab.", kind=A, identifier=9)
    answer = dns_answer_of(answered(query, record(b"\xc0" + bytes((len(query),)), A, bytes(4))), query=query)
    assert answer is not None
    assert answer.records == ()


@pytest.mark.parametrize("text", ["", ".", "a..b", f"{'x' * 64}.lab", ".".join(["abcdefgh"] * 32)])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        dns_query(text, kind=A, identifier=1)


RULES = """\
# made by hand
nameserver 192.0.2.1
nameserver fe80::1%eth0 ; the router
nameserver nonsense
search lab.example. other.example
options ndots:2 timeout:1 attempts:9 rotate
"""


def test_the_rules_of_a_host() -> None:
    assert resolver_rules(RULES) == ResolverRules(
        servers=("192.0.2.1", "fe80::1%eth0"), search=("lab.example", "other.example"), dots=2, seconds=1, attempts=5
    )


@given(st.text())
def test_any_text_is_some_rule(text: str) -> None:
    rules = resolver_rules(text)
    assert rules.servers
    assert rules.seconds > 0
    hosts_entries(text, "name")


@pytest.mark.parametrize(
    ("asked", "tried"),
    [
        ("api.c.lab.", ("api.c.lab.",)),
        ("api.c.lab", ("api.c.lab.", "api.c.lab.lab.example.", "api.c.lab.other.example.")),
        ("api.c", ("api.c.lab.example.", "api.c.other.example.", "api.c.")),
    ],
)
def test_the_order_of_names(asked: str, tried: tuple[str, ...]) -> None:
    assert absolute_names(asked, resolver_rules(RULES)) == tried


def test_the_hosts_file_has_the_first_word() -> None:
    text = "127.0.0.1 localhost\n192.0.2.7 Api.lab api # here\nfd00::7 api.lab\nbroken api.lab\n"
    assert [str(ip) for ip in hosts_entries(text, "api.lab.")] == ["192.0.2.7", "fd00::7"]


class Lying(asyncio.DatagramProtocol):
    """A server that sends two wrong answers, then what `behave` says."""

    def __init__(self, behave: Callable[[bytes], bytes | None]) -> None:
        self.behave = behave
        self.asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.asked += 1
        self.transport.sendto(b"rubbish", addr)
        self.transport.sendto(b"\0\0" + answered(data)[2:], addr)
        if (answer := self.behave(data)) is not None:
            self.transport.sendto(answer, addr)


async def served(folder: Path, behave: Callable[[bytes], bytes | None]) -> tuple[Resolver, Lying]:
    (folder / "etc").mkdir()
    (folder / "etc/resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: Lying(behave), local_addr=("127.0.0.1", 0))
    return Resolver(Root(folder), port=transport.get_extra_info("sockname")[1]), server


@pytest.mark.anyio
async def test_wrong_answers_are_passed_over(tmp_path: Path) -> None:
    def behave(query: bytes) -> bytes:
        return answered(query, record(POINTER, A, bytes((192, 0, 2, 5)))) if query[-3] == A else answered(query)

    resolver, server = await served(tmp_path, behave)
    found = await resolver.resolve("api.lab")
    assert (found.ipv4, found.ipv6, found.canonical) == (("192.0.2.5",), (), "api.lab.")
    server.transport.close()


@pytest.mark.anyio
async def test_a_name_nobody_knows_is_empty_and_a_broken_server_is_an_error(tmp_path: Path) -> None:
    code = {"flags": 0x8183}
    resolver, server = await served(tmp_path, lambda query: answered(query, flags=code["flags"]))
    assert (await resolver.resolve("api.lab")).canonical == ""
    code["flags"] = 0x8182  # server failure
    server.asked = 0
    with pytest.raises(Unanswered, match=r"127\.0\.0\.1 answered a question about api\.lab\."):
        await resolver.ask("api.lab.", kind=AAAA)
    assert server.asked == 2
    server.transport.close()
