"""What a user may ask of an infra-env, and the rules for each field of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.install import static_network
from firstlight.core.install.ignition import parse as parse_ignition
from firstlight.core.install.static_network import HostNetwork, MacMapping
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.infra_env import HostNetworkConfig, InfraEnv, KernelArgument, Proxy
from firstlight.core.validate.arguments import check_kernel_argument
from firstlight.core.validate.ntp import check_ntp_sources, check_one_kind_of_ntp
from firstlight.core.validate.proxy import check_http_proxy, check_https_proxy, check_no_proxy
from firstlight.core.validate.pull_secret import check_pull_secret
from firstlight.core.validate.ssh_keys import check_ssh_keys
from firstlight.core.validate.trust_bundle import check_trust_bundle
from firstlight.core.versions.architectures import CpuArchitecture

FULL: Final = "full-iso"
MINIMAL: Final = "minimal-iso"
DISCONNECTED: Final = "disconnected-iso"
MULTI: Final = "multi"
MOST_KERNEL_ARGUMENTS: Final = 100
MOST_STATIC_HOSTS: Final = 1_000
LONGEST_DELAY: Final = 3_600
"""Seconds a booting host may wait for its network cards."""

ParseCertificate = Callable[[bytes], object]


class ProxyWish(Struct, frozen=True, kw_only=True):
    http: str | None = None
    https: str | None = None
    no_proxy: str | None = None


class InfraEnvWish(Struct, frozen=True, kw_only=True):
    """None leaves a field as it is. An empty key, override or pull secret does so as well; empty lists clear."""

    proxy: ProxyWish | None = None
    additional_ntp_sources: str | None = None
    ntp_sources: str | None = None
    ssh_authorized_key: str | None = None
    pull_secret: str | None = None
    static_network: tuple[HostNetworkConfig, ...] | None = None
    rendezvous_ip: str | None = None
    image_type: str | None = None
    ignition_override: str | None = None
    kernel_arguments: tuple[KernelArgument, ...] | None = None
    additional_trust_bundle: str | None = None
    openshift_version: str | None = None
    network_discovery_delay_seconds: int | None = None


def granted(
    infra_env: InfraEnv, wish: InfraEnvWish, *, networks: Sequence[object], parse_certificate: ParseCertificate
) -> InfraEnv:
    """The record with every wish but the version's fulfilled, or a refusal that names the field.

    `networks` are the parsed descriptions of `wish.static_network`, one each.
    """
    check_one_kind_of_ntp(additional=wish.additional_ntp_sources, only=wish.ntp_sources)
    after = infra_env
    if wish.proxy is not None:
        after = replace(after, proxy=_proxy(after, wish.proxy))
    if wish.additional_ntp_sources is not None:
        after = replace(after, additional_ntp_sources=check_ntp_sources(wish.additional_ntp_sources))
    if wish.ntp_sources is not None:
        after = replace(after, ntp_sources=check_ntp_sources(wish.ntp_sources))
    if wish.ssh_authorized_key:
        after = replace(after, ssh_authorized_key=check_ssh_keys(wish.ssh_authorized_key))
    if wish.ignition_override:
        parse_ignition(wish.ignition_override)
        after = replace(after, ignition_override=wish.ignition_override)
    if wish.static_network is not None:
        after = replace(after, static_network=_static_network(wish.static_network, networks))
    if wish.kernel_arguments is not None:
        after = replace(after, kernel_arguments=_kernel_arguments(wish.kernel_arguments))
    if wish.additional_trust_bundle is not None:
        bundle = check_trust_bundle(wish.additional_trust_bundle, parse=parse_certificate)
        after = replace(after, additional_trust_bundle=bundle)
    if wish.pull_secret:
        after = replace(after, pull_secret_set=True)
    if wish.network_discovery_delay_seconds is not None:
        after = replace(after, network_discovery_delay_seconds=_delay(wish.network_discovery_delay_seconds))
    return _with_image(after, wish)


def _with_image(infra_env: InfraEnv, wish: InfraEnvWish) -> InfraEnv:
    image_type = wish.image_type or infra_env.image_type
    if infra_env.cpu_architecture == CpuArchitecture.S390X and image_type == MINIMAL:
        raise Invalid("There is no minimal ISO for s390x. Choose the image type full-iso.")
    rendezvous = infra_env.rendezvous_ip if wish.rendezvous_ip is None else wish.rendezvous_ip
    if wish.rendezvous_ip and image_type != DISCONNECTED:
        raise Invalid("A rendezvous IP is used by the image type disconnected-iso only. Leave it out, or choose that.")
    return replace(infra_env, image_type=image_type, rendezvous_ip=rendezvous)


def _proxy(infra_env: InfraEnv, wish: ProxyWish) -> Proxy:
    before = infra_env.proxy
    return Proxy(
        http=before.http if wish.http is None else check_http_proxy(wish.http),
        https=before.https if wish.https is None else check_https_proxy(wish.https),
        no_proxy=before.no_proxy
        if wish.no_proxy is None
        else check_no_proxy(wish.no_proxy, version=infra_env.openshift_version),
    )


def _kernel_arguments(arguments: tuple[KernelArgument, ...]) -> tuple[KernelArgument, ...]:
    if len(arguments) > MOST_KERNEL_ARGUMENTS:
        raise Invalid(f"{len(arguments)} kernel arguments are given, and at most {MOST_KERNEL_ARGUMENTS} are possible.")
    for argument in arguments:
        check_kernel_argument(argument.value, operation=argument.operation)
    return arguments


def _delay(seconds: int) -> int:
    if seconds > LONGEST_DELAY:
        raise Invalid(f"Hosts cannot wait {seconds} s for their network; at most {LONGEST_DELAY} s are possible.")
    return seconds


def _static_network(
    configs: tuple[HostNetworkConfig, ...], documents: Sequence[object]
) -> tuple[HostNetworkConfig, ...]:
    if len(configs) > MOST_STATIC_HOSTS:
        raise Invalid(f"{len(configs)} hosts are described, and at most {MOST_STATIC_HOSTS} fit into one infra-env.")
    networks = host_networks(configs)
    for position, (network, document) in enumerate(zip(networks, documents, strict=True)):
        static_network.require_valid(network, document, position=position)
    return configs


def host_networks(configs: Iterable[HostNetworkConfig]) -> tuple[HostNetwork, ...]:
    """The stored descriptions as the install room knows them."""
    return tuple(
        HostNetwork(
            network_yaml=config.network_yaml,
            mac_interface_map=tuple(
                MacMapping(mac_address=entry.mac_address, logical_nic_name=entry.logical_nic_name)
                for entry in config.mac_interface_map
            ),
        )
        for config in configs
    )


def require_pull_secret(text: str, *, images: Iterable[str], public: Iterable[str], what: str) -> None:
    """`what` says whose pull secret it is."""
    try:
        check_pull_secret(text, images=images, exempt=public)
    except Invalid as problem:
        raise Invalid(f"pull secret for {what} is invalid: {problem}") from None


def require_same_architecture(architecture: str, cluster: Cluster) -> None:
    """What an imported cluster runs on is not known: its release names no architectures, and anything suits it."""
    possible = cluster.release_architectures if cluster.cpu_architecture == MULTI else (cluster.cpu_architecture,)
    if possible and architecture not in possible:
        raise Invalid(
            f"Cluster {cluster.name} is made for {', '.join(possible)}, so its infra-env cannot be for {architecture}. "
            "Set cpu_architecture to one of the cluster's."
        )
