"""An infra-env as v2 answers it."""

import msgspec

from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.wire import infra_envs as wire
from firstlight.core.wire.dates import zulu, zulu_stored
from firstlight.core.wire.networks import Proxy

_encode = msgspec.json.Encoder().encode


def view_infra_env(infra_env: InfraEnv) -> wire.InfraEnv:
    proxy = infra_env.proxy
    return wire.InfraEnv(
        kind="InfraEnv",
        id=infra_env.id,
        href=f"/api/assisted-install/v2/infra-envs/{infra_env.id}",
        name=infra_env.name,
        type=infra_env.image_type,
        updated_at=zulu_stored(infra_env.updated_at),
        created_at=zulu_stored(infra_env.created_at),
        expires_at=zulu(infra_env.expires_at),
        openshift_version=infra_env.openshift_version,
        user_name=infra_env.user_name,
        org_id=infra_env.org_id,
        email_domain=infra_env.email_domain,
        proxy=Proxy(http_proxy=proxy.http or None, https_proxy=proxy.https or None, no_proxy=proxy.no_proxy or None),
        additional_ntp_sources=infra_env.additional_ntp_sources,
        ntp_sources=infra_env.ntp_sources,
        ssh_authorized_key=infra_env.ssh_authorized_key,
        pull_secret_set=infra_env.pull_secret_set,
        static_network_config=_encode(infra_env.static_network).decode() if infra_env.static_network else "",
        rendezvous_ip=infra_env.rendezvous_ip or None,
        ignition_config_override=infra_env.ignition_override,
        cluster_id=infra_env.cluster_id,
        download_url=infra_env.download_url,
        cpu_architecture=infra_env.cpu_architecture,
        kernel_arguments=_encode(infra_env.kernel_arguments).decode() if infra_env.kernel_arguments else None,
        additional_trust_bundle=infra_env.additional_trust_bundle,
        network_discovery_delay_seconds=infra_env.network_discovery_delay_seconds or None,
    )
