"""Which stages of a host follow from what is seen of its node."""

from typing import Final

from firstlight.core.wire.words import HostStage
from firstlight.host.controller.documents import HostDocument
from firstlight.host.controller.objects import Node

UNDER_WAY: Final = frozenset({"installing", "installing-in-progress", "installing-pending-user-action"})
BEFORE_JOINED: Final = frozenset({"Rebooting", "Waiting for ignition", "Configuring"})
BEFORE_CONFIGURING: Final = frozenset({"Rebooting", "Waiting for ignition"})
REBOOTED: Final = BEFORE_JOINED | {"Joined", "Done"}
"""Stages of a host that has left the live system, or is about to."""
ENDED: Final = frozenset({"installed", "error", "cancelled", "disabled"})


def stages_to_tell(
    host: HostDocument, node: Node | None, *, has_ignited: bool, single_node: bool
) -> tuple[HostStage, ...]:
    """In this order; a stage the host has passed is never among them."""
    if host.status not in UNDER_WAY or host.stage == "Done":
        return ()
    if node is None:
        # A single node's list of stages has no Configuring.
        return ("Configuring",) if has_ignited and host.stage in BEFORE_CONFIGURING and not single_node else ()
    joined: tuple[HostStage, ...] = ("Joined",) if host.stage in BEFORE_JOINED else ()
    return (*joined, "Done") if node.is_ready else joined


def all_ended(hosts: tuple[HostDocument, ...]) -> bool:
    """Whether no host can change any more."""
    return bool(hosts) and all(host.status in ENDED for host in hosts)
