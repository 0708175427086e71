"""Two machines with one id stay two hosts, and one machine stays one."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.hosts.identity import Placement, derived_id, place, same_machine
from firstlight.core.model.fingerprint import Fingerprint, make_fingerprint, read_fingerprint, write_fingerprint
from firstlight.core.model.host import Host
from tests.builders.hosts import a_host

CLAIMED = UUID("11111111-2222-3333-4444-555555555555")
BOARD = "0123456789abcdef"
macs = st.lists(st.from_regex(r"\A[0-9a-f]{12}\Z"), max_size=40)
prints = st.builds(make_fingerprint, board=st.from_regex(r"\A[0-9a-f]{16}\Z"), macs=macs)


def a_print(*macs: str, board: str = BOARD) -> Fingerprint:
    return make_fingerprint(board=board, macs=macs)


ONE, TWO = a_print("525400000001"), a_print("525400000002")


def known(fingerprint: Fingerprint | None, *, host_id: UUID = CLAIMED, claimed_id: UUID | None = None) -> Host:
    return a_host(id=host_id, fingerprint=fingerprint, claimed_id=claimed_id)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(ONE, ONE, True, id="equal"),
        pytest.param(ONE, TWO, False, id="same-board-other-cards"),
        pytest.param(ONE, a_print("525400000001", "525400000009", board="f" * 16), True, id="one-card-in-common"),
        pytest.param(ONE, a_print(), True, id="no-cards-told-same-board"),
        pytest.param(ONE, a_print(board="f" * 16), False, id="no-cards-told-other-board"),
    ],
)
def test_same_machine(one: Fingerprint, other: Fingerprint, same: bool) -> None:
    assert same_machine(one, other) is same
    assert same_machine(other, one) is same


TWIN = derived_id(CLAIMED, TWO)


@pytest.mark.parametrize(
    ("told", "hosts", "placement"),
    [
        pytest.param(None, [known(ONE)], Placement(host_id=CLAIMED), id="an-agent-that-says-nothing"),
        pytest.param(ONE, [], Placement(host_id=CLAIMED), id="the-first"),
        pytest.param(ONE, [known(ONE)], Placement(host_id=CLAIMED), id="the-first-again"),
        pytest.param(ONE, [known(None)], Placement(host_id=CLAIMED), id="known-before-fingerprints"),
        pytest.param(TWO, [known(ONE)], Placement(host_id=TWIN, claimed_id=CLAIMED), id="the-second"),
        pytest.param(
            a_print("525400000002", "525400000077"),
            [known(ONE), known(TWO, host_id=TWIN, claimed_id=CLAIMED)],
            Placement(host_id=TWIN, claimed_id=CLAIMED),
            id="the-second-again-with-one-more-card",
        ),
        pytest.param(
            TWO,
            [known(TWO, host_id=TWIN, claimed_id=CLAIMED)],
            Placement(host_id=TWIN, claimed_id=CLAIMED),
            id="the-second-after-the-first-was-deleted",
        ),
        pytest.param(
            TWO, [known(TWO, host_id=UUID(int=7))], Placement(host_id=CLAIMED), id="the-same-cards-under-another-id"
        ),
    ],
)
def test_placement(told: Fingerprint | None, hosts: list[Host], placement: Placement) -> None:
    assert place(CLAIMED, told, known=hosts) == placement
    assert place(CLAIMED, told, known=hosts[::-1]) == placement


@given(machines=st.lists(prints, max_size=6))
def test_registering_again_changes_nothing(machines: list[Fingerprint]) -> None:
    hosts: dict[UUID, Host] = {}
    for machine in machines:
        first = place(CLAIMED, machine, known=hosts.values())
        hosts[first.host_id] = known(machine, host_id=first.host_id, claimed_id=first.claimed_id)
        assert place(CLAIMED, machine, known=hosts.values()).host_id in hosts
    assert not machines or CLAIMED in hosts


@given(prints)
def test_the_header_carries_all_of_it(fingerprint: Fingerprint) -> None:
    assert read_fingerprint(write_fingerprint(fingerprint)) == fingerprint


@given(st.text())
def test_other_headers_mean_nothing(text: str) -> None:
    found = read_fingerprint(text)
    assert found is None or read_fingerprint(write_fingerprint(found)) == found


@pytest.mark.parametrize("text", ["", "1;board=;macs=", f"2;board={BOARD};macs=", f"1;board={BOARD};macs=\n"])
def test_broken_headers(text: str) -> None:
    assert read_fingerprint(text) is None
