from contextlib import suppress
from typing import Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, field

from firstlight.server.http.call import NoQuery
from firstlight.server.http.errors import BadRequest
from firstlight.server.http.query import QueryReader

ID = UUID("f1a57e51-0000-4000-8000-000000000001")


class Events(Struct, frozen=True, kw_only=True):
    cluster_id: UUID | None = None
    host_ids: tuple[UUID, ...] = ()
    severities: tuple[Literal["info", "error"], ...] = ()
    limit: int | None = None
    order: Literal["ascending", "descending"] = "ascending"
    exclude_hosts: bool = field(default=False, name="exclude-hosts")
    deleted_hosts: bool | None = None
    message: str = ""


class Files(Struct, frozen=True, kw_only=True):
    file_name: Literal["kubeconfig", "kubeadmin-password"]


EVENTS = QueryReader(Events)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Events()),
        ("unknown=1", Events()),
        (f"cluster_id={ID}", Events(cluster_id=ID)),
        (f"host_ids={ID},{ID}", Events(host_ids=(ID, ID))),
        (f"host_ids={ID}&host_ids={ID}", Events(host_ids=(ID, ID))),
        ("severities=info,error", Events(severities=("info", "error"))),
        ("severities=info%2Cerror", Events(severities=("info", "error"))),
        ("severities=", Events()),
        ("severities=,", Events()),
        ("limit=10", Events(limit=10)),
        ("limit=-1", Events(limit=-1)),
        ("limit=", Events()),
        ("limit=1&limit=2", Events(limit=2)),
        ("order=descending", Events(order="descending")),
        ("exclude-hosts=true", Events(exclude_hosts=True)),
        ("exclude-hosts=True", Events(exclude_hosts=True)),
        ("exclude-hosts=1", Events(exclude_hosts=True)),
        ("exclude-hosts=false", Events()),
        ("exclude-hosts", Events()),
        ("deleted_hosts=false", Events(deleted_hosts=False)),
        ("message=two+words%20here", Events(message="two words here")),
        ("message=%ff", Events(message="�")),
    ],
)
def test_accepted(query: str, expected: Events) -> None:
    assert EVENTS.read(query.encode()) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("cluster_id=x", 'cluster_id in query must be of type uuid: "x"'),
        (f"host_ids={ID},x", 'host_ids.1 in query must be of type uuid: "x"'),
        ("limit=ten", 'limit in query must be of type int64: "ten"'),
        ("limit=1.5", 'limit in query must be of type int64: "1.5"'),
        ("limit=9223372036854775808", 'limit in query must be of type int64: "9223372036854775808"'),
        ("limit=²", 'limit in query must be of type int64: "²"'),
        ("order=sideways", "order in query should be one of [ascending descending]"),
        ("severities=info,bad", "severities.1 in query should be one of [error info]"),
        ("exclude-hosts=maybe", 'exclude-hosts in query must be of type bool: "maybe"'),
        ("&".join(["a=1"] * 1001), "the query string has more than 1000 parameters"),
    ],
)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        EVENTS.read(query.encode())
    assert str(caught.value) == message


@pytest.mark.parametrize("query", ["", "file_name=", "other=1"])
def test_required(query: str) -> None:
    with pytest.raises(BadRequest, match=r"^file_name in query is required$"):
        QueryReader(Files).read(query.encode())


def test_an_operation_without_query_ignores_everything() -> None:
    assert QueryReader(NoQuery).read(b"&&&=%zz") == NoQuery()


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: f"limit={text}&host_ids={text}".encode()))
def test_any_query_is_read_or_refused(query: bytes) -> None:
    with suppress(BadRequest):
        assert isinstance(EVENTS.read(query), Events)


@pytest.mark.parametrize("query", ["message=%00", "message=a%00b", "unknown=%00", "message=\0"])
def test_nul_is_refused_wherever_it_stands(query: str) -> None:
    with pytest.raises(BadRequest, match="NUL"):
        EVENTS.read(query.encode())


def test_what_only_looks_like_nul_is_taken() -> None:
    assert EVENTS.read(b"message=%2500").message == "%00"
