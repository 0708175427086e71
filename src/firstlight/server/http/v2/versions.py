"""Versions of the service's parts and of OpenShift, and the DNS domains the service may write in."""

from msgspec import Struct

from firstlight.core import wire
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.operations import Access, operation
from firstlight.server.usecases import catalogues
from firstlight.server.usecases.world import World


class VersionsQuery(Struct, frozen=True, kw_only=True):
    version: str = ""
    only_latest: bool = False


@operation("GET", "/v2/component-versions", id="v2ListComponentVersions", access=Access.READ, answer=wire.ListVersions)
async def list_component_versions(world: World, _call: Call[None, NoQuery]) -> wire.ListVersions:
    """List the versions of the parts of the service."""
    return wire.ListVersions(versions=catalogues.component_versions(world), release_tag=world.service.release_tag)


@operation(
    "GET",
    "/v2/openshift-versions",
    id="v2ListSupportedOpenshiftVersions",
    access=Access.READ,
    query=VersionsQuery,
    answer=dict[str, wire.OpenshiftVersion],
    errors=(400, 500, 503),
    etag=True,
)
async def list_openshift_versions(world: World, call: Call[None, VersionsQuery]) -> dict[str, wire.OpenshiftVersion]:
    """List the OpenShift releases that can be installed, by display name."""
    found = catalogues.openshift_versions(world, containing=call.query.version, only_latest=call.query.only_latest)
    return {
        name: wire.OpenshiftVersion(
            display_name=version.display_name,
            support_level=version.support_level,
            cpu_architectures=version.cpu_architectures,
            default=version.default,
        )
        for name, version in found.items()
    }


@operation(
    "GET",
    "/v2/release-sources",
    id="v2ListReleaseSources",
    access=Access.READ,
    answer=tuple[wire.ReleaseSource, ...],
)
async def list_release_sources(world: World, _call: Call[None, NoQuery]) -> tuple[wire.ReleaseSource, ...]:
    """List where releases are looked for."""
    return tuple(
        wire.ReleaseSource(
            openshift_version=source.openshift_version,
            multi_cpu_architectures=source.multi_cpu_architectures,
            upgrade_channels=tuple(
                wire.UpgradeChannel(cpu_architecture=channel.cpu_architecture, channels=channel.channels)
                for channel in source.upgrade_channels
            ),
        )
        for source in world.catalogue.sources
    )


@operation(
    "GET",
    "/v2/domains",
    id="V2ListManagedDomains",
    access=Access.READ,
    answer=tuple[wire.ManagedDomain, ...],
    errors=(500,),
)
async def list_managed_domains(world: World, _call: Call[None, NoQuery]) -> tuple[wire.ManagedDomain, ...]:
    """List the DNS domains the service may write records in."""
    domains = world.service.managed_domains
    return tuple(wire.ManagedDomain(domain=domain, provider=provider) for domain, provider in domains.items())
