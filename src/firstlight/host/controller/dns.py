"""The address that the cluster's DNS needs. A Service that was faster keeps the DNS operator waiting for ever.

Only a Service that really has the address, while the DNS has none of its own, is removed, and by its identity.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from firstlight.host.controller.install_config import install_config_of
from firstlight.host.controller.objects import Service
from firstlight.host.controller.repeating import TROUBLE
from firstlight.host.controller.site import Site
from firstlight.host.recognising import Address, parse_address

DNS: Final = "openshift-dns/dns-default"
SERVICES: Final = "/api/v1/services"
OPERATOR_PODS: Final = "/api/v1/namespaces/openshift-dns-operator/pods"


class _Services(msgspec.Struct):
    items: tuple[Service, ...] | None = None


def squatters(services: Iterable[Service], addresses: frozenset[Address]) -> Sequence[Service]:
    """Services that have the DNS's address; none as soon as the DNS has a Service itself."""
    found = list(services)
    if any(service.key == DNS for service in found):
        return ()
    return [one for one in found if addresses & {parse_address(text) for text in one.spec.cluster_ips}]


async def settle_dns_address(site: Site) -> None:
    """Until the DNS is there, or the installation is over: on slow machines its operator comes late."""
    while True:
        try:
            if await _look(site):
                return
        except TROUBLE as trouble:
            site.log.once("dns", f"The address of the DNS cannot be looked at: {trouble}.")
        await asyncio.sleep(site.settings.look_seconds)


async def _look(site: Site) -> bool:
    config = await install_config_of(site.kube)
    if config is None:
        return False
    addresses = config.dns_addresses()
    services = (await site.kube.read(_Services, SERVICES)).items or ()
    for service in squatters(services, addresses):
        async with await site.as_admin() as admin:
            path = f"/api/v1/namespaces/{service.metadata.namespace}/services/{service.metadata.name}"
            await admin.ask("DELETE", path, document={"preconditions": {"uid": service.metadata.uid}})
            await admin.ask("DELETE", OPERATOR_PODS)
        site.log.warning(f"The Service {service.key} had the address that the cluster's DNS needs; it is removed.")
    return any(service.key == DNS for service in services)
