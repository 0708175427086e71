"""How many control-plane nodes a cluster may have: one, or a number that depends on the release."""

from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.model.policy import Policy
from firstlight.core.versions.numbers import at_least

SINGLE_NODE: Final = "None"
"""The published name of the mode without high availability."""
USUAL: Final = 3
MOST: Final = 5
FEWEST_WITH_QUORUM_KEEPER: Final = 2
"""With an arbiter, or masters that fence each other."""
SINGLE_NODE_SINCE: Final = "4.8"
MORE_SINCE: Final = "4.18"
TWO_SINCE: Final = "4.19"


def count_of(*, mode: str | None, count: int | None) -> int:
    """The number of control-plane nodes meant by the two ways to say it; Invalid when they disagree."""
    if mode is None:
        return USUAL if count is None else count
    if mode == SINGLE_NODE:
        if count not in (None, 1):
            raise Invalid(
                f"Without high availability a cluster has one control-plane node, not {count}. Ask for 1, or for the"
                " high availability mode Full."
            )
        return 1
    if count == 1:
        raise Invalid(
            "One control-plane node is not highly available. Ask for 3, or for the high availability mode None."
        )
    return USUAL if count is None else count


def check_count(count: int, *, version: str, policy: Policy) -> None:
    """Invalid when the release cannot have that many control-plane nodes."""
    if count == 1:
        if version and not at_least(version, SINGLE_NODE_SINCE):
            raise Invalid(f"A single node needs OpenShift {SINGLE_NODE_SINCE} or newer, this is {version}.")
        return
    fewest, most = allowed_counts(version, policy=policy)
    if not fewest <= count <= most:
        meant = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise Invalid(
            f"A highly available cluster of OpenShift {version} has {meant} control-plane nodes, but {count} are asked"
            " for. Choose another number or another version."
        )


def allowed_counts(version: str, *, policy: Policy) -> tuple[int, int]:
    """The fewest and the most control-plane nodes of a highly available cluster."""
    if not at_least(version, MORE_SINCE):
        return USUAL, USUAL
    small = policy.arbiter_clusters or policy.fencing_clusters
    if small and at_least(version, TWO_SINCE):
        return FEWEST_WITH_QUORUM_KEEPER, MOST
    return USUAL, MOST
