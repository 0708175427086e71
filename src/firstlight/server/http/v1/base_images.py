"""Base images: which are here, and getting more."""

from typing import Annotated

from msgspec import Meta, Struct

from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.usecases import base_images
from firstlight.server.usecases.base_images import LONGEST_WAIT, BaseImageList
from firstlight.server.usecases.world import World

Word = Annotated[str, Meta(min_length=1, max_length=100)]


class ListQuery(Struct, frozen=True, kw_only=True):
    state: str = ""
    """What an earlier answer had; something else is waited for."""
    wait: Annotated[int, Meta(ge=0, le=LONGEST_WAIT)] = 0


class FetchParams(Struct, frozen=True, kw_only=True):
    version: Word
    cpu_architecture: Word


@operation("GET", "/v1/base-images", id="listBaseImages", access=Access.READ, query=ListQuery, answer=BaseImageList)
async def list_base_images(world: World, call: Call[None, ListQuery]) -> BaseImageList:
    """List the base images of the image service; `wait` some seconds for another `state` than the one known."""
    return await base_images.follow(world, known=call.query.state, seconds=call.query.wait)


@operation(
    "POST", "/v1/base-images/actions/fetch", id="fetchBaseImage", body=FetchParams, success=202, errors=(400, 404, 503)
)
async def fetch_base_image(world: World, call: Call[FetchParams, NoQuery]) -> Empty:
    """Have a base image downloaded unless it is here; the list tells how far it is."""
    await base_images.fetch(world, version=call.body.version, architecture=call.body.cpu_architecture)
    return Empty()
