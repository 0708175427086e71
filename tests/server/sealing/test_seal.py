"""Sealing: what comes out is what went in, in its own place and with a known key only."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from firstlight.core.errors import Unavailable
from firstlight.server.sealing.seal import HEAD_BYTES, OVERHEAD, Seal, is_sealed

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
SEAL = Seal([OLD])


@given(some.binary(max_size=2_000), some.text(max_size=40))
def test_what_was_sealed_can_be_opened(plain: bytes, place: str) -> None:
    kept = SEAL.sealed(plain, place=place)
    assert len(kept) == len(plain) + OVERHEAD
    assert SEAL.opened(kept, place=place) == plain


@given(some.binary(min_size=8, max_size=200))
def test_nothing_of_the_content_shows(plain: bytes) -> None:
    assert plain not in SEAL.sealed(plain, place="here")[HEAD_BYTES:]


def test_the_same_content_in_the_same_place_has_the_same_bytes_and_elsewhere_others() -> None:
    kept = SEAL.sealed(b"content", place="here")
    assert Seal([OLD]).sealed(b"content", place="here") == kept
    assert SEAL.sealed(b"content", place="there")[HEAD_BYTES:] != kept[HEAD_BYTES:]
    # Content and place must not be able to lend each other letters.
    assert SEAL.sealed(b"econtent", place="her")[:HEAD_BYTES] != kept[:HEAD_BYTES]


@pytest.mark.parametrize("plain", [b"", b"x", b"{}", b'{"auths": {}}', b"-----BEGIN CERTIFICATE-----"])
def test_what_was_kept_before_there_was_encryption_is_read_as_it_is(plain: bytes) -> None:
    assert not is_sealed(plain)
    assert SEAL.opened(plain, place="here") == plain
    assert not SEAL.is_current(plain)


def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    kept, both = SEAL.sealed(b"content", place="here"), Seal([NEW, OLD])
    assert both.opened(kept, place="here") == b"content"
    assert both.knows(kept)
    assert not both.is_current(kept)
    again = both.sealed(b"content", place="here")
    assert both.is_current(again)
    assert Seal([NEW]).opened(again, place="here") == b"content"


def test_an_unknown_key_is_named_with_what_to_do() -> None:
    kept = SEAL.sealed(b"content", place="the kubeconfig")
    with pytest.raises(Unavailable, match=f"(?s)the kubeconfig.*{SEAL.key.name}.*FIRSTLIGHT_ENCRYPTION_KEY"):
        Seal([NEW]).opened(kept, place="the kubeconfig")


@given(some.integers(min_value=HEAD_BYTES - 12, max_value=OVERHEAD + 7 - 1), some.integers(1, 255))
def test_what_was_altered_is_refused(position: int, change: int) -> None:
    kept = bytearray(SEAL.sealed(b"content", place="here"))
    kept[position] ^= change
    with pytest.raises(Unavailable, match="damaged"):
        SEAL.opened(bytes(kept), place="here")


def test_it_cannot_be_carried_to_another_place() -> None:
    with pytest.raises(Unavailable, match="there was damaged or put there"):
        SEAL.opened(SEAL.sealed(b"content", place="here"), place="there")
