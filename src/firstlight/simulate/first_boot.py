"""A machine starts from its new disk: it fetches Ignition, joins as a node and becomes ready."""

from collections.abc import Callable
from typing import Final

from firstlight.simulate.agent import Agent
from firstlight.simulate.control_plane import ControlPlane, Node

BOOT_SECONDS: Final = 40.0
CONFIGURE_SECONDS: Final = 30.0
READY_SECONDS: Final = 20.0


async def boot_from_disk(agent: Agent, plane: ControlPlane, *, start_controller: Callable[[], None]) -> None:
    """Until the node is ready. A single node brings its configuration along and runs the controller itself."""
    host_id = agent.machine.id
    agent.phase = "booting"
    await agent.pace.rest(BOOT_SECONDS)
    if not plane.single_node:
        plane.nodes[host_id] = Node.WAITING
        agent.phase = "fetching Ignition"
        await plane.serves.wait()
    plane.nodes[host_id] = Node.IGNITED
    agent.phase = "configuring"
    await agent.pace.rest(CONFIGURE_SECONDS)
    plane.nodes[host_id] = Node.JOINED
    if plane.single_node:
        start_controller()
    await agent.pace.rest(READY_SECONDS)
    plane.nodes[host_id] = Node.READY
    agent.phase = "ready"
