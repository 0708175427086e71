"""How long a reader of pieces goes on with the version it began with."""

from datetime import UTC, datetime

from firstlight.core.images.virtual import Memory, VirtualFile
from firstlight.server.imaging.answers import Image, make_image
from firstlight.server.imaging.pins import GAP_SECONDS, LONGEST_SECONDS, MOST, Pins


def image(tag: str) -> Image:
    return make_image(VirtualFile((Memory(b"x"),)), {}, etag=tag, last_modified=datetime.now(UTC), name="x")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


OLD, NEW = image("old"), image("new")


def begun() -> tuple[Pins, Clock]:
    clock = Clock()
    pins = Pins(clock)
    assert pins.choose("client", b"/x", OLD) is OLD
    return pins, clock


def test_a_pause_of_exactly_the_gap_is_no_end() -> None:
    pins, clock = begun()
    clock.now += GAP_SECONDS
    assert pins.choose("client", b"/x", NEW) is OLD
    clock.now += GAP_SECONDS + 0.1
    assert pins.choose("client", b"/x", NEW) is NEW


def test_nobody_reads_an_old_version_for_ever() -> None:
    pins, clock = begun()
    start = clock.now
    while clock.now + 20 <= start + LONGEST_SECONDS:
        clock.now += 20
        assert pins.choose("client", b"/x", NEW) is OLD
    clock.now += 20
    assert pins.choose("client", b"/x", NEW) is NEW


def test_the_time_counts_from_the_change_on() -> None:
    pins, clock = begun()
    for _ in range(100):
        clock.now += 20
        assert pins.choose("client", b"/x", OLD) is OLD
    clock.now += 20
    assert pins.choose("client", b"/x", NEW) is OLD


def test_others_are_not_held() -> None:
    pins, _ = begun()
    assert pins.choose("other", b"/x", NEW) is NEW
    assert pins.choose("client", b"/y", NEW) is NEW


def test_memory_is_bounded() -> None:
    pins, _ = begun()
    for number in range(MOST):
        pins.choose(str(number), b"/x", OLD)
    assert pins.choose("client", b"/x", NEW) is NEW
