"""The code on a machine's console: stable, readable, and spread out for ids that begin alike."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.hosts.short_code import ALPHABET, LENGTH, plain_code, short_code


def test_the_code_of_an_id_never_changes() -> None:
    assert short_code(UUID("d626ff1d-7374-6dea-7559-e2240d8124fa")) == short_code(
        UUID("D626FF1D-7374-6DEA-7559-E2240D8124FA")
    )


@given(st.uuids())
def test_a_code_can_be_read_out_and_typed(host_id: UUID) -> None:
    code = short_code(host_id)
    assert len(code) == LENGTH
    assert set(code) <= set(ALPHABET)
    assert plain_code(code.lower()) == code


def test_ids_of_one_vendor_get_codes_that_differ() -> None:
    ids = [UUID(int=0x4C4C4544_0034_3010_8034_000000000000 + number) for number in range(1000)]
    assert len({short_code(host_id) for host_id in ids}) > 990


@pytest.mark.parametrize("typed", ["ab-cde", " ABCDE ", "a b c d e"])
def test_how_a_code_is_typed_does_not_matter(typed: str) -> None:
    assert plain_code(typed) == "ABCDE"
