"""`dhcp-lease-allocate`: leases for the two virtual addresses, each taken by a machine that exists for a moment only.

A private macvlan with the address's own MAC asks the DHCP server; the lease stays when the link is gone.
"""

from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import IPv4Address
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader
from firstlight.core.wire.step_arguments import DhcpAllocationRequest
from firstlight.core.wire.step_outputs import DhcpAllocationResponse
from firstlight.host.actions.action import Action, Done, Site, failed, first_document, replied
from firstlight.host.links import netlink
from firstlight.host.links.dhcp import NoLease, take_lease
from firstlight.host.links.dhcp_lease import address_in, lease_text
from firstlight.host.links.frames import mac_bytes, mac_text

_LEASE_SECONDS: Final = 28.0


_WANTED: Final = Reader(DhcpAllocationRequest)


async def allocate(arguments: tuple[str, ...], _site: Site) -> Done:
    wanted = first_document(arguments, _WANTED)
    macs = _mac(wanted.api_vip_mac), _mac(wanted.ingress_vip_mac)
    try:
        api, api_lease = await _leased(
            "api", parent=wanted.interface, mac=macs[0], previous=address_in(wanted.api_vip_lease)
        )
        ingress, ingress_lease = await _leased(
            "ingress", parent=wanted.interface, mac=macs[1], previous=address_in(wanted.ingress_vip_lease)
        )
    except NoLease as reason:
        return failed(str(reason))
    except OSError as reason:
        return failed(f"No DHCP lease can be asked for over {wanted.interface}: {reason}.")
    return replied(
        DhcpAllocationResponse(
            api_vip_address=str(api),
            ingress_vip_address=str(ingress),
            api_vip_lease=api_lease,
            ingress_vip_lease=ingress_lease,
        )
    )


async def _leased(name: str, *, parent: str, mac: str, previous: IPv4Address | None) -> tuple[IPv4Address, str]:
    # A link of that name is a remainder of an agent that was killed.
    with suppress(OSError):
        netlink.delete_link(name)
    link = netlink.create_macvlan(name, parent=parent, mac=mac)
    try:
        host_name = f"{mac.replace(':', '-')}-{name}"
        answer = await take_lease(link, host_name=host_name, previous=previous, limit=_LEASE_SECONDS)
    finally:
        with suppress(OSError):
            netlink.delete_link(name)
    return answer.address, lease_text(answer, interface=name, now=datetime.now(UTC))


def _mac(text: str) -> str:
    try:
        return mac_text(mac_bytes(text))
    except ValueError as reason:
        raise Invalid(f"{text!r} is not a MAC address.") from reason


DHCP_LEASES: Final = Action(step_type="dhcp-lease-allocate", perform=allocate, limit_seconds=90.0, exclusive=True)
