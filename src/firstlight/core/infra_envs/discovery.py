"""From an infra-env to the files its hosts boot with."""

from msgspec import Struct

from firstlight.core.infra_envs.wishes import FULL
from firstlight.core.install.discovery import DiscoveryInputs
from firstlight.core.install.inputs import MirrorRegistries, ProxySettings
from firstlight.core.install.static_network import StaticNetwork, full_iso_delivery
from firstlight.core.model.infra_env import InfraEnv


class ServiceAddress(Struct, frozen=True, kw_only=True):
    """How booted hosts reach the service, and what they run."""

    url: str
    ca: str = ""
    skip_certificate_verification: bool = False
    agent_image: str
    agent_start_seconds: int = 600
    hosts_ca: str = ""
    mirrors: MirrorRegistries | None = None
    accept_any_image: bool = False


def discovery_inputs(
    infra_env: InfraEnv,
    *,
    network: StaticNetwork | None,
    pull_secret: str,
    service: ServiceAddress,
    image_type: str = "",
) -> DiscoveryInputs:
    """`image_type` asks for the config of another image than the infra-env's own."""
    inside = (image_type or infra_env.image_type) == FULL
    return DiscoveryInputs(
        infra_env_id=infra_env.id,
        service_url=service.url,
        agent_image=service.agent_image,
        skip_certificate_verification=service.skip_certificate_verification,
        service_ca=service.ca,
        agent_start_seconds=service.agent_start_seconds,
        company_ca=service.hosts_ca,
        mirrors=service.mirrors,
        accept_any_image=service.accept_any_image,
        pull_secret=pull_secret,
        ssh_keys=infra_env.ssh_authorized_key,
        proxy=proxy_settings(infra_env),
        trust_bundle=infra_env.additional_trust_bundle,
        ntp_sources=_listed(infra_env.ntp_sources),
        additional_ntp_sources=_listed(infra_env.additional_ntp_sources),
        network=full_iso_delivery(network) if network is not None and inside else None,
        override=infra_env.ignition_override,
    )


def proxy_settings(infra_env: InfraEnv) -> ProxySettings:
    proxy = infra_env.proxy
    return ProxySettings(http=proxy.http, https=proxy.https, no_proxy=proxy.no_proxy)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
