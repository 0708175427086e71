"""What pages draw: the map of hosts and networks, and the course of an installation."""

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import network_map, timeline
from firstlight.server.usecases.network_map import NetworkMap
from firstlight.server.usecases.timeline import Lanes, Timeline
from firstlight.server.usecases.world import World


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/connectivity",
    id="getClusterConnectivity",
    access=Access.READ,
    answer=NetworkMap,
    errors=(404,),
    etag=True,
)
async def get_connectivity(world: World, call: Call[None, NoQuery]) -> NetworkMap:
    """Map a cluster's hosts and networks: broken paths, taken and free addresses."""
    return await network_map.network_map(world, call.uuid("cluster_id"))


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/timeline",
    id="getClusterTimeline",
    access=Access.READ,
    query=Lanes,
    answer=Timeline,
    errors=(404,),
)
async def get_timeline(world: World, call: Call[None, Lanes]) -> Timeline:
    """Tell when each host was in which stage of the installation."""
    return await timeline.timeline(world, call.uuid("cluster_id"), call.query)
