"""How many control-plane nodes: each release's limits, from both sides."""

import pytest

from firstlight.core.clusters.control_planes import check_count, count_of
from firstlight.core.errors import Invalid
from firstlight.core.model.policy import Policy

SMALL_ALLOWED = Policy(arbiter_clusters=True, fencing_clusters=False)
SMALL_REFUSED = Policy(arbiter_clusters=False, fencing_clusters=False)
FENCED = Policy(arbiter_clusters=False, fencing_clusters=True)


@pytest.mark.parametrize(
    ("mode", "count", "result"),
    [
        (None, None, 3),
        ("Full", None, 3),
        ("None", None, 1),
        (None, 1, 1),
        (None, 5, 5),
        ("None", 1, 1),
        ("Full", 4, 4),
    ],
)
def test_two_ways_to_say_it(mode: str | None, count: int | None, result: int) -> None:
    assert count_of(mode=mode, count=count) == result


@pytest.mark.parametrize(("mode", "count"), [("None", 3), ("None", 0), ("Full", 1)])
def test_ways_that_disagree(mode: str, count: int) -> None:
    with pytest.raises(Invalid):
        count_of(mode=mode, count=count)


@pytest.mark.parametrize(
    ("version", "policy", "allowed"),
    [
        ("4.17.9", SMALL_ALLOWED, {1, 3}),
        ("4.18.0", SMALL_ALLOWED, {1, 3, 4, 5}),
        ("4.19.0", SMALL_ALLOWED, {1, 2, 3, 4, 5}),
        ("4.19.0", FENCED, {1, 2, 3, 4, 5}),
        ("4.19.0", SMALL_REFUSED, {1, 3, 4, 5}),
        ("4.7.0", SMALL_ALLOWED, {3}),
        ("4.8.0", SMALL_ALLOWED, {1, 3}),
    ],
)
def test_limits_of_releases(version: str, policy: Policy, allowed: set[int]) -> None:
    for count in range(-1, 8):
        if count in allowed:
            check_count(count, version=version, policy=policy)
        else:
            with pytest.raises(Invalid):
                check_count(count, version=version, policy=policy)
