"""VIPs by DHCP: which leased addresses may be VIPs, and the leases as the new cluster gets them."""

import re
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.network.addresses import in_network, normal_address

EXPIRY: Final = re.compile(r"(?<![\w-])(renew|rebind|expire)\s[^;]*;")


def leased_vips(api: str, ingress: str, *, network: str) -> tuple[str, str]:
    """The leased addresses in normal form; Invalid if they cannot be VIPs in this machine network."""
    for what, address in (("API", api), ("ingress", ingress)):
        if not in_network(address, network):
            raise Invalid(f"The leased {what} VIP {address} is not in the machine network {network}.")
    vips = str(normal_address(api)), str(normal_address(ingress))
    if vips[0] == vips[1]:
        raise Invalid(f"DHCP gave the address {api} to both VIPs; the API and the ingress VIP must differ.")
    return vips


def never_expiring(lease: str) -> str:
    """The lease as the new cluster gets it: keepalived renews it there, until then it must not lapse."""
    return EXPIRY.sub(r"\1 never;", lease)
