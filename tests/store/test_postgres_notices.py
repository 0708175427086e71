"""Notices share PostgreSQL's: in order, whole, and never longer than it takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.server.ports.database import MAX_NOTICE_BYTES, Notify
from firstlight.server.store.postgres_notices import notices_in, payloads

ROOM = MAX_NOTICE_BYTES - len("c\x1f")

NOTICES = st.lists(
    st.builds(
        Notify,
        st.sampled_from(["changes", "events", "due"]),
        st.text(st.characters(exclude_characters="\x1e\x1f\0", codec="utf-8"), max_size=20)
        | st.integers(1, ROOM + 3).map(lambda size: "x" * size),
    )
)


@given(NOTICES)
def test_what_was_told_is_heard_in_order(told: list[Notify]) -> None:
    sent = list(payloads(told))
    heard = [notice for payload in sent for notice in notices_in(payload)]
    assert [channel for channel, _ in heard] == [notice.channel for notice in told]
    assert all(len(payload.encode()) <= MAX_NOTICE_BYTES for payload in sent)
    assert all(text in (notice.payload, "") for (_, text), notice in zip(heard, told, strict=True))


@pytest.mark.parametrize(("size", "heard"), [(ROOM, "x" * ROOM), (ROOM + 1, "")])
def test_one_too_long_for_its_envelope_says_look_for_yourself(size: int, heard: str) -> None:
    (payload,) = payloads([Notify("c", "x" * size)])
    assert list(notices_in(payload)) == [("c", heard)]


@pytest.mark.parametrize(("second", "count"), [(ROOM - 5, 1), (ROOM - 4, 2)])
def test_as_few_as_have_room(second: int, count: int) -> None:
    """The first takes four bytes and one more between them."""
    assert len(list(payloads([Notify("c", "xx"), Notify("c", "x" * second)]))) == count
    assert list(payloads([])) == []
