"""What the service says of itself."""

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import about
from firstlight.server.usecases.about import About
from firstlight.server.usecases.world import World


@operation("GET", "/v1/about", id="getAbout", access=Access.READ, answer=About)
async def get_about(world: World, _call: Call[None, NoQuery]) -> About:
    """Tell version, setup, counts, and what about the setup may surprise."""
    return await about.about(world)
