"""Small questions around a cluster: defaults, needed hardware, fitting platforms, waived checks, notes of the UI."""

import msgspec

from firstlight.core import wire
from firstlight.core.clusters.platforms import supported_platforms
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.operators.requirements import cluster_preflight
from firstlight.core.validate.names import FORBIDDEN_HOST_NAMES
from firstlight.core.wire.views.preflight import view_preflight
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.v2.clusters import CLUSTER, CLUSTERS
from firstlight.server.usecases import cluster_changes, cluster_views
from firstlight.server.usecases.world import World


@operation(
    "GET",
    CLUSTERS + "/default-config",
    id="V2GetClusterDefaultConfig",
    access=Access.READ,
    answer=wire.ClusterDefaultConfig,
    errors=(401, 403, 500),
)
async def default_config(world: World, call: Call[None, NoQuery]) -> wire.ClusterDefaultConfig:
    """What a cluster gets where its user says nothing."""
    del call
    service = world.service
    pods = wire.ClusterNetwork(cidr=service.cluster_network_cidr, host_prefix=service.cluster_network_host_prefix)
    pods_v6 = wire.ClusterNetwork(
        cidr=service.cluster_network_cidr_v6, host_prefix=service.cluster_network_host_prefix_v6
    )
    services = wire.ServiceNetwork(cidr=service.service_network_cidr)
    services_v6 = wire.ServiceNetwork(cidr=service.service_network_cidr_v6)
    return wire.ClusterDefaultConfig(
        cluster_network_cidr=service.cluster_network_cidr,
        cluster_network_host_prefix=service.cluster_network_host_prefix,
        service_network_cidr=service.service_network_cidr,
        ntp_source=service.default_ntp_source,
        inactive_deletion_hours=int(world.policy.timeouts.inactive_cluster.total_seconds() // 3600),
        cluster_networks_ipv4=(pods,),
        cluster_networks_dualstack=(pods, pods_v6),
        service_networks_ipv4=(services,),
        service_networks_dualstack=(services, services_v6),
        forbidden_hostnames=tuple(sorted(FORBIDDEN_HOST_NAMES)),
    )


@operation(
    "GET",
    CLUSTER + "/supported-platforms",
    id="GetClusterSupportedPlatforms",
    access=Access.READ,
    answer=tuple[str, ...],
    errors=(401, 403, 404, 500),
)
async def platforms(world: World, call: Call[None, NoQuery]) -> tuple[str, ...]:
    """Platforms that all hosts seen so far would suit."""
    state = await cluster_views.state_of(world, call.uuid("cluster_id"))
    return tuple(platform.value for platform in supported_platforms(state.cluster, state.hosts))


@operation(
    "GET",
    CLUSTER + "/preflight-requirements",
    id="v2GetPreflightRequirements",
    access=Access.READ,
    answer=wire.PreflightHardwareRequirements,
    errors=(401, 403, 404, 405, 500),
)
async def preflight_requirements(world: World, call: Call[None, NoQuery]) -> wire.PreflightHardwareRequirements:
    """What machines must have, before any is known."""
    cluster = await cluster_views.cluster_of(world, call.uuid("cluster_id"))
    return view_preflight(cluster_preflight(cluster, world.policy))


@operation(
    "GET",
    CLUSTER + "/ignored-validations",
    id="v2GetIgnoredValidations",
    answer=wire.IgnoredValidations,
    errors=(400, 401, 403, 404, 500),
)
async def get_ignored_validations(world: World, call: Call[None, NoQuery]) -> wire.IgnoredValidations:
    """Checks that may fail."""
    return _ignored(await cluster_views.cluster_of(world, call.uuid("cluster_id")))


@operation(
    "PUT",
    CLUSTER + "/ignored-validations",
    id="v2SetIgnoredValidations",
    body=wire.IgnoredValidations,
    body_name="ignoredValidations",
    success=201,
    answer=wire.IgnoredValidations,
    errors=(400, 401, 403, 404, 500),
)
async def set_ignored_validations(
    world: World, call: Call[wire.IgnoredValidations, NoQuery]
) -> wire.IgnoredValidations:
    """Say which checks may fail."""
    cluster = await cluster_changes.ignore_validations(
        world,
        call.uuid("cluster_id"),
        of_cluster=_ids(call.body.cluster_validation_ids),
        of_hosts=_ids(call.body.host_validation_ids),
        caller=call.actor,
    )
    return _ignored(cluster)


def _ids(sent: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Some clients send a list, some a string that holds a list; an empty string is an empty list."""
    if not isinstance(sent, str):
        return sent
    try:
        return msgspec.json.decode(sent, type=tuple[str, ...]) if sent.strip() else ()
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise Invalid('Ignored validations must be a list of ids, for example ["all"].') from None


def _ignored(cluster: Cluster) -> wire.IgnoredValidations:
    return wire.IgnoredValidations(
        cluster_validation_ids=_text(cluster.ignored_cluster_validations),
        host_validation_ids=_text(cluster.ignored_host_validations),
    )


def _text(ids: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(ids).decode() if ids else None


@operation("GET", CLUSTER + "/ui-settings", id="V2GetClusterUISettings", answer=str, errors=(400, 401, 403, 404, 500))
async def get_ui_settings(world: World, call: Call[None, NoQuery]) -> str:
    """Notes of the user interface."""
    return (await cluster_views.cluster_of(world, call.uuid("cluster_id"))).ui_settings


@operation(
    "PUT",
    CLUSTER + "/ui-settings",
    id="V2UpdateClusterUISettings",
    body=str,
    body_name="uiSettings",
    answer=str,
    errors=(400, 401, 403, 404, 500),
)
async def update_ui_settings(world: World, call: Call[str, NoQuery]) -> str:
    """Keep notes of the user interface."""
    cluster = await cluster_changes.keep_ui_settings(
        world, call.uuid("cluster_id"), settings=call.body, caller=call.actor
    )
    return cluster.ui_settings
