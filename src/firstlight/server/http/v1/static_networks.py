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


class Card(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mac_address: Word
    logical_nic_name: Word


class Host(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As `static_network_config` of an infra-env has it."""

    network_yaml: str
    mac_interface_map: tuple[Card, ...] = ()


class Hosts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    hosts: tuple[Host, ...]
    openshift_version: Word = ""
    """What the hosts will boot; before 4.18 nmstate has to be at hand."""


class Rows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows, or the text of a CSV table."""

    rows: tuple[HostRow, ...] = ()
    table: str = ""


class Described(Struct, frozen=True, kw_only=True):
    hosts: tuple[Host, ...]
    rows: tuple[HostRow, ...]
    table: str


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
    return await network_documents.check(world, _configs(body), openshift_version=body.openshift_version)


@operation(
    "POST",
    "/v1/static-network/render",
    id="renderStaticNetwork",
    access=Access.READ,
    body=Rows,
    answer=Described,
    errors=(400,),
)
async def render_static_network(_world: World, call: Call[Rows, NoQuery]) -> Described:
    """Make descriptions from rows or from a CSV table."""
    made = await asyncio.to_thread(network_documents.render, rows=call.body.rows, table=call.body.table)
    return _view(made)


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
    return await asyncio.to_thread(network_documents.read, _configs(call.body))


def _configs(body: Hosts) -> tuple[HostNetworkConfig, ...]:
    return tuple(
        HostNetworkConfig(
            network_yaml=host.network_yaml,
            mac_interface_map=tuple(
                MacInterface(card.mac_address, card.logical_nic_name) for card in host.mac_interface_map
            ),
        )
        for host in body.hosts
    )


def _view(made: Rendered) -> Described:
    hosts = tuple(
        Host(
            network_yaml=host.network_yaml,
            mac_interface_map=tuple(
                Card(mac_address=card.mac_address, logical_nic_name=card.logical_nic_name)
                for card in host.mac_interface_map
            ),
        )
        for host in made.hosts
    )
    return Described(hosts=hosts, rows=made.rows, table=made.table)
