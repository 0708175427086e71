"""The queue of the slow cable: one pair waits, everybody else passes, and nobody is overtaken."""

from lab.relay import Queue, octets

FIRST, SECOND, OTHER = (octets(f"52:54:00:00:00:0{number}") for number in (1, 2, 3))
EVERYBODY = b"\xff" * 6
LEFT, RIGHT = 3, 4


def a_queue() -> Queue:
    return Queue(seconds=0.075, between=frozenset({FIRST, SECOND}))


def test_frames_of_the_pair_wait_in_both_directions() -> None:
    queue = a_queue()
    queue.put(SECOND + FIRST + b"there", to=RIGHT, now=10.0)
    queue.put(FIRST + SECOND + b"back", to=LEFT, now=10.01)
    assert queue.due(10.074) == []
    assert queue.due(10.076) == [(RIGHT, SECOND + FIRST + b"there")]
    assert queue.due(11.0) == [(LEFT, FIRST + SECOND + b"back")]


def test_frames_of_others_pass_at_once() -> None:
    queue = a_queue()
    for frame in (OTHER + FIRST, SECOND + OTHER, EVERYBODY + FIRST, b""):
        queue.put(frame, to=LEFT, now=10.0)
        assert queue.due(10.0) == [(LEFT, frame)]


def test_frames_keep_their_order_and_the_queue_knows_when_to_look_again() -> None:
    queue = a_queue()
    assert queue.pause(10.0) is None
    frames = [SECOND + FIRST + bytes([number]) for number in range(5)]
    for frame in frames:
        queue.put(frame, to=RIGHT, now=10.0)
    assert round(queue.pause(10.05) or 0, 6) == 0.025
    assert queue.pause(12.0) == 0.0
    assert [frame for _, frame in queue.due(10.075)] == frames
