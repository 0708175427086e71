"""Clusters and hosts as rows of tables, and one change to many hosts."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct

from firstlight.core.model.host_status import HostRole
from firstlight.core.wire.words import HostRoleChoice
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import cluster_table, host_changes, host_table
from firstlight.server.usecases.cluster_table import ClusterRow
from firstlight.server.usecases.host_changes import HostVerdict, ManyHostsWish
from firstlight.server.usecases.host_table import HostFilter, HostPage
from firstlight.server.usecases.world import World


class HostReference(Struct, frozen=True, kw_only=True):
    infra_env_id: UUID
    id: UUID


class HostsChange(Struct, frozen=True, kw_only=True):
    """What is left out stays as it is; a label with the value null goes."""

    hosts: Annotated[tuple[HostReference, ...], Meta(max_length=20_000)]
    name_template: str | None = None
    first_number: Annotated[int, Meta(ge=0, le=1_000_000)] = 1
    role: HostRoleChoice | None = None
    labels: dict[str, str | None] | None = None
    dry_run: bool = False


class HostsChanged(Struct, frozen=True, kw_only=True):
    changed: int
    results: tuple[HostVerdict, ...]


@operation("GET", "/v1/clusters", id="listClusterRows", access=Access.READ, answer=tuple[ClusterRow, ...], etag=True)
async def list_cluster_rows(world: World, call: Call[None, NoQuery]) -> tuple[ClusterRow, ...]:
    """List clusters as rows of a table, newest first."""
    return await cluster_table.cluster_rows(world, caller=call.actor)


@operation(
    "GET",
    "/v1/clusters/{cluster_id:uuid}/hosts",
    id="listClusterHostRows",
    access=Access.READ,
    query=HostFilter,
    answer=HostPage,
    errors=(404,),
    etag=True,
)
async def list_cluster_host_rows(world: World, call: Call[None, HostFilter]) -> HostPage:
    """List a cluster's hosts as rows of a table: filtered, sorted, one page."""
    return await host_table.hosts_of_cluster(world, call.uuid("cluster_id"), call.query)


@operation(
    "GET",
    "/v1/infra-envs/{infra_env_id:uuid}/hosts",
    id="listInfraEnvHostRows",
    access=Access.READ,
    query=HostFilter,
    answer=HostPage,
    errors=(404,),
    etag=True,
)
async def list_infra_env_host_rows(world: World, call: Call[None, HostFilter]) -> HostPage:
    """List an infra-env's hosts as rows of a table: filtered, sorted, one page."""
    return await host_table.hosts_of_infra_env(world, call.uuid("infra_env_id"), call.query)


@operation(
    "POST",
    "/v1/host-changes",
    id="changeHosts",
    body=HostsChange,
    body_name="hostsChange",
    answer=HostsChanged,
    errors=(400,),
)
async def change_hosts(world: World, call: Call[HostsChange, NoQuery]) -> HostsChanged:
    """Change many hosts at once; each gets a verdict of its own, and a dry run changes nothing."""
    body = call.body
    wish = ManyHostsWish(
        name_pattern=body.name_template,
        first_number=body.first_number,
        role=None if body.role is None else HostRole(body.role),
        labels=body.labels,
    )
    keys = [(host.infra_env_id, host.id) for host in body.hosts]
    results = await host_changes.change_hosts(world, keys, wish, dry_run=body.dry_run, caller=call.actor)
    return HostsChanged(changed=sum(not result.error for result in results), results=results)
