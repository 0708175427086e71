"""From requests about infra-envs to what they ask for."""

from firstlight.core.infra_envs.wishes import InfraEnvWish, ProxyWish
from firstlight.core.model.infra_env import HostNetworkConfig, KernelArgument, MacInterface
from firstlight.core.wire.infra_envs import HostStaticNetworkConfig, InfraEnvCreateParams, InfraEnvUpdateParams
from firstlight.core.wire.networks import Proxy


def infra_env_wish(params: InfraEnvCreateParams | InfraEnvUpdateParams) -> InfraEnvWish:
    networks, arguments = params.static_network_config, params.kernel_arguments
    return InfraEnvWish(
        proxy=None if params.proxy is None else _proxy(params.proxy),
        additional_ntp_sources=params.additional_ntp_sources,
        ntp_sources=params.ntp_sources,
        ssh_authorized_key=params.ssh_authorized_key,
        pull_secret=params.pull_secret,
        static_network=None if networks is None else tuple(_network(network) for network in networks),
        rendezvous_ip=params.rendezvous_ip,
        image_type=params.image_type,
        ignition_override=params.ignition_config_override,
        kernel_arguments=None
        if arguments is None
        else tuple(KernelArgument(each.operation or "append", each.value or "") for each in arguments),
        additional_trust_bundle=params.additional_trust_bundle,
        openshift_version=params.openshift_version,
        network_discovery_delay_seconds=params.network_discovery_delay_seconds,
    )


def _proxy(params: Proxy) -> ProxyWish:
    return ProxyWish(http=params.http_proxy, https=params.https_proxy, no_proxy=params.no_proxy)


def _network(params: HostStaticNetworkConfig) -> HostNetworkConfig:
    mapped = params.mac_interface_map or ()
    return HostNetworkConfig(
        network_yaml=params.network_yaml or "",
        mac_interface_map=tuple(MacInterface(each.mac_address or "", each.logical_nic_name or "") for each in mapped),
    )
