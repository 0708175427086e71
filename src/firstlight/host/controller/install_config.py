"""What the controller reads of the install-config that a cluster keeps."""

from ipaddress import ip_network
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.host.controller.kube.client import Kube
from firstlight.host.controller.objects import ConfigMap
from firstlight.host.controller.yaml_text import read_documents
from firstlight.host.recognising import Address

PATH: Final = "/api/v1/namespaces/kube-system/configmaps/cluster-config-v1"
DNS_PLACE: Final = 10


class _Networking(msgspec.Struct, frozen=True):
    service_network: tuple[str, ...] = msgspec.field(default=(), name="serviceNetwork")


class InstallConfig(msgspec.Struct, frozen=True):
    networking: _Networking = _Networking()
    platform: dict[str, object] = {}

    @property
    def platform_type(self) -> str:
        return next(iter(self.platform), "")

    def dns_addresses(self) -> frozenset[Address]:
        """The tenth address of each service network. Raises `Invalid`."""
        try:
            return frozenset(ip_network(network)[DNS_PLACE] for network in self.networking.service_network)
        except (ValueError, IndexError) as reason:
            raise Invalid(f"The service networks of the install-config cannot be read: {reason}.") from reason


def read_install_config(text: str) -> InstallConfig:
    """Raises `Invalid`."""
    try:
        documents = read_documents(text)
        return msgspec.convert(documents[0] if documents else {}, InstallConfig)
    except msgspec.ValidationError as reason:
        raise Invalid(f"The install-config of the cluster cannot be read: {reason}.") from reason


async def install_config_of(kube: Kube) -> InstallConfig | None:
    """None if the cluster does not keep one (yet)."""
    found = await kube.find(ConfigMap, PATH)
    return read_install_config(found.data.get("install-config", "")) if found is not None else None
