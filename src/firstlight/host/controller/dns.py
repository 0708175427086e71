"""The address that the cluster's DNS needs. A Service that was faster keeps the DNS operator waiting for ever.

Only a Service that really has the address, while the DNS has none of its own, is removed, and by its identity.
"""

import asyncio
from collections.abc import Iterable, Sequence
from ipaddress import ip_network
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.host.controller.documents import Address
from firstlight.host.controller.matching import parse_address
from firstlight.host.controller.objects import ConfigMap, Service
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.site import Site
from firstlight.host.controller.yaml_text import read_documents

PLACE: Final = 10
DNS: Final = "openshift-dns/dns-default"
CONFIG: Final = "/api/v1/namespaces/kube-system/configmaps/cluster-config-v1"
SERVICES: Final = "/api/v1/services"
OPERATOR_PODS: Final = "/api/v1/namespaces/openshift-dns-operator/pods"
LOOKS: Final = 45


class _Networking(msgspec.Struct):
    service_network: tuple[str, ...] = msgspec.field(default=(), name="serviceNetwork")


class _InstallConfig(msgspec.Struct):
    networking: _Networking = msgspec.field(default_factory=_Networking)


class _Services(msgspec.Struct):
    items: tuple[Service, ...] | None = None


def dns_addresses(install_config: str) -> frozenset[Address]:
    """The tenth address of each service network. Raises `Invalid`."""
    try:
        documents = read_documents(install_config)
        networks = msgspec.convert(documents[0] if documents else {}, _InstallConfig).networking.service_network
        return frozenset(ip_network(network)[PLACE] for network in networks)
    except (msgspec.ValidationError, ValueError, IndexError) as reason:
        raise Invalid(f"The service networks of the install-config cannot be read: {reason}.") from reason


def squatters(services: Iterable[Service], addresses: frozenset[Address]) -> Sequence[Service]:
    """Services that have the DNS's address; none as soon as the DNS has a Service itself."""
    found = list(services)
    if any(service.key == DNS for service in found):
        return ()
    return [one for one in found if addresses & {parse_address(text) for text in one.spec.cluster_ips}]


async def settle_dns_address(site: Site) -> None:
    for _ in range(LOOKS):
        try:
            if await _look(site):
                return
        except TROUBLE as trouble:
            site.log.once("dns", f"The address of the DNS cannot be looked at: {trouble}.")
        await asyncio.sleep(site.settings.look_seconds)


async def _look(site: Site) -> bool:
    config = await site.kube.find(ConfigMap, CONFIG)
    if config is None:
        return False
    addresses = dns_addresses(config.data.get("install-config", ""))
    services = (await site.kube.read(_Services, SERVICES)).items or ()
    for service in squatters(services, addresses):
        async with await site.as_admin() as admin:
            path = f"/api/v1/namespaces/{service.metadata.namespace}/services/{service.metadata.name}"
            await admin.ask("DELETE", path, document={"preconditions": {"uid": service.metadata.uid}})
            await admin.ask("DELETE", OPERATOR_PODS)
        site.log.warning(f"The Service {service.key} had the address that the cluster's DNS needs; it is removed.")
    return any(service.key == DNS for service in services)
