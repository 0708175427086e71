"""Static networks before they are stored: checked, made from rows of a table, and turned into rows again."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from firstlight.core.model.infra_env import HostNetworkConfig, MacInterface
from firstlight.core.network.host_rows import HostRow
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import network_documents
from firstlight.server.usecases.network_documents import Checked, Read, Rendered
from firstlight.server.usecases.world import World

Word = Annotated[str, Meta(max_length=100)]


class Card(MacInterface, frozen=True, forbid_unknown_fields=True):
    """As stored; what callers misspell is refused."""


class Host(HostNetworkConfig, frozen=True, forbid_unknown_fields=True):
    """As `static_network_config` of an infra-env has it."""

    mac_interface_map: tuple[Card, ...] = ()


class Hosts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    hosts: tuple[Host, ...]
    openshift_version: Word = ""
    """What the hosts will boot; before 4.18 nmstate has to be at hand."""


class Rows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows, or the text of a CSV table."""

    rows: tuple[HostRow, ...] = ()
    table: str = ""


@operation(
    "POST",
    "/v1/static-network/check",
    id="checkStaticNetwork",
    access=Access.READ,
    body=Hosts,
    answer=Checked,
    errors=(400,),
)
async def check_static_network(world: World, call: Call[Hosts, NoQuery]) -> Checked:
    """Tell what is wrong with static networks; nothing is stored."""
    body = call.body
    return await network_documents.check(world, body.hosts, openshift_version=body.openshift_version)


@operation(
    "POST",
    "/v1/static-network/render",
    id="renderStaticNetwork",
    access=Access.READ,
    body=Rows,
    answer=Rendered,
    errors=(400,),
)
async def render_static_network(_world: World, call: Call[Rows, NoQuery]) -> Rendered:
    """Make descriptions from rows or from a CSV table."""
    return await asyncio.to_thread(network_documents.render, rows=call.body.rows, table=call.body.table)


@operation(
    "POST",
    "/v1/static-network/read",
    id="readStaticNetwork",
    access=Access.READ,
    body=Hosts,
    answer=Read,
    errors=(400,),
)
async def read_static_network(_world: World, call: Call[Hosts, NoQuery]) -> Read:
    """Find the rows that stand for descriptions; a description that says more than a row has none."""
    return await asyncio.to_thread(network_documents.read, call.body.hosts)
