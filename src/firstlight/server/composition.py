"""From settings to the values and ports everything else is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from firstlight import __version__
from firstlight.core.clusters.rules.book import cluster_rules
from firstlight.core.errors import Invalid
from firstlight.core.hosts.hardware_setting import parse_hardware
from firstlight.core.hosts.rules import host_rules
from firstlight.core.install.inputs import MirrorRegistries
from firstlight.core.install.mirrors import parse_registries_conf
from firstlight.core.model.policy import (
    DEFAULT_FINALIZING_LIMITS,
    DEFAULT_HARDWARE,
    DEFAULT_STAGE_TIMEOUTS,
    Policy,
    Timeouts,
    VersionedHardware,
)
from firstlight.core.versions.catalogue import Catalogue
from firstlight.core.versions.configured import configured_catalogue
from firstlight.server.auth.authenticator import Authenticator
from firstlight.server.auth.keys import key_pair
from firstlight.server.auth.setup import administrator, service_keys
from firstlight.server.auth.tokens import Lifetimes, Tokens
from firstlight.server.ports.clock import Clock
from firstlight.server.ports.store import Store
from firstlight.server.setting_types import duration
from firstlight.server.settings import Settings, managed_domains
from firstlight.server.usecases.world import ServiceFacts


def policy_of(settings: Settings, environment: Mapping[str, str]) -> Policy:
    """Settings as far as decisions depend on them."""
    return Policy(
        timeouts=timeouts_of(settings, environment),
        hardware=_hardware(settings.hardware_requirements),
        edge_worker_products=frozenset(name.lower().replace(" ", "") for name in settings.edge_workers_product_names),
        disabled_host_validations=_known(
            "DISABLED_HOST_VALIDATIONS", settings.disabled_host_validations, host_rules.ids()
        ),
        disabled_cluster_validations=_known(
            "DISABLED_CLUSTER_VALIDATIONS", settings.disabled_cluster_validations, cluster_rules.ids()
        ),
        disabled_steps=frozenset(settings.disabled_steps),
        soft_timeouts=settings.soft_timeouts,
        auto_assign_roles=settings.auto_assign,
        upgrade_agent=settings.upgrade_agent,
        agent_image=settings.agent_image,
        installer_image=settings.installer_image,
        controller_image=settings.controller_image,
        single_node_dnsmasq=settings.single_node_dnsmasq,
        ipv6_support=settings.ipv6_support,
        arbiter_clusters=settings.tna_clusters_support,
        fencing_clusters=settings.tnf_clusters_support,
        check_cluster_version=settings.check_cluster_version,
        skip_mco_reboot=settings.skip_mco_reboot,
        virtual_interfaces=settings.virtual_interfaces,
        inventory_max_bytes=settings.inventory_max_size,
        inventory_disk_min_bytes=settings.inventory_disk_min_size,
        poll_seconds=settings.poll_seconds,
    )


def _known(variable: str, given: tuple[str, ...], known: frozenset[str]) -> frozenset[str]:
    for name in given:
        if name not in known:
            raise Invalid(f"{variable} names '{name}', which is no check of this service.")
    return frozenset(given)


def _hardware(text: str) -> tuple[VersionedHardware, ...]:
    if not text.strip():
        return DEFAULT_HARDWARE
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Invalid(f"HW_VALIDATOR_REQUIREMENTS is not JSON: {error}.") from None
    return parse_hardware(decoded) if decoded else DEFAULT_HARDWARE


def timeouts_of(settings: Settings, environment: Mapping[str, str]) -> Timeouts:
    return Timeouts(
        silence=settings.host_max_disconnection_time,
        silence_bootstrap=settings.host_max_disconnection_time + timedelta(minutes=2),
        host_preparation=settings.prepare_for_installation_host_timeout,
        cluster_preparation=max(
            settings.prepare_for_installation_timeout,
            settings.disk_check_timeout,
        ),
        host_retry=settings.host_retry_timeout,
        host_retry_grace=settings.host_retry_grace,
        resetting=settings.reset_cluster_timeout,
        stages={
            stage: _configured(environment, f"HOST_STAGE_{_upper(stage)}_TIMEOUT", limit)
            for stage, limit in DEFAULT_STAGE_TIMEOUTS.items()
        },
        installation=settings.installation_timeout,
        finalizing=settings.finalizing_timeout,
        finalizing_stages={
            stage: replace(
                limit,
                hard=_configured(environment, f"FINALIZING_STAGE_{_upper(stage)}_TIMEOUT", limit.hard),
                soft=_configured(environment, f"FINALIZING_STAGE_{_upper(stage)}_TIMEOUT", limit.soft),
            )
            for stage, limit in DEFAULT_FINALIZING_LIMITS.items()
        },
        host_logs_collection=settings.host_log_collection_timeout,
        host_logs_pending=settings.host_log_pending_timeout,
        cluster_logs_collection=settings.log_collection_timeout,
        cluster_logs_pending=settings.log_pending_timeout,
        disk_check=settings.disk_check_timeout,
        image_availability=settings.image_availability_timeout,
        inactive_cluster=settings.deleted_inactive_after,
        inactive_infra_env=settings.infraenv_deleted_inactive_after,
        purge_deleted=settings.deleted_unregistered_after,
    )


def _upper(stage: str) -> str:
    return stage.upper().replace(" ", "_")


def _configured(environment: Mapping[str, str], name: str, default: timedelta) -> timedelta:
    text = environment.get(f"FIRSTLIGHT_{name}") or environment.get(name)
    if not text:
        return default
    parsed = duration(text)
    if not isinstance(parsed, timedelta):
        raise Invalid(f"{name} is '{text}', which is no duration. Write it like 90s, 40m or 1h30m.")
    return parsed


def service_facts(settings: Settings, *, link_key: bytes) -> ServiceFacts:
    path = settings.service_ca_cert_path
    return ServiceFacts(
        version=__version__,
        release_tag=settings.release_tag,
        listen=settings.listen,
        database="postgresql" if settings.database_location.startswith("postgres") else "sqlite",
        files="s3" if settings.blobs_location.startswith("s3:") else "folder",
        service_url=settings.service_url,
        image_service_url=settings.image_service_url,
        service_ca=path.read_text() if path is not None else "",
        hosts_ca=_text(settings.hosts_ca_path, "FIRSTLIGHT_HOSTS_CA_PATH"),
        mirrors=_mirrors(settings),
        accept_any_image=settings.accept_any_image,
        agent_start_seconds=int(settings.agent_timeout_start.total_seconds()),
        skip_certificate_verification=settings.skip_cert_verification,
        auth_type=settings.auth_type,
        default_image_type=settings.iso_image_type,
        cluster_network_cidr=settings.cluster_network_cidr,
        cluster_network_host_prefix=settings.cluster_network_host_prefix,
        service_network_cidr=settings.service_network_cidr,
        cluster_network_cidr_v6=settings.cluster_network_cidr_ipv6,
        cluster_network_host_prefix_v6=settings.cluster_network_host_prefix_ipv6,
        service_network_cidr_v6=settings.service_network_cidr_ipv6,
        default_ntp_source=settings.ntp_default_server,
        managed_domains=managed_domains(settings.base_dns_domains),
        public_registries=settings.public_container_registries,
        reject_unknown_fields=settings.reject_unknown_fields,
        image_service=settings.enable_image_service,
        install_invoker=settings.install_invoker,
        infra_env_id=settings.infra_env_id,
        event_rate_limits=_rate_limits(settings.event_rate_limits),
        link_key=link_key,
    )


@dataclass(frozen=True, slots=True)
class Access:
    """How callers prove who they are; nothing of it where everybody is administrator."""

    authenticator: Authenticator | None = None
    tokens: Tokens | None = None
    """Where the service makes tokens itself."""


async def access_of(settings: Settings, store: Store, clock: Clock) -> Access:
    """Makes and keeps what is missing: a key pair and the administrator's token."""
    if settings.auth_type == "none":
        return Access()
    public, private = settings.ec_public_key_pem, settings.ec_private_key_pem.get_secret_value()
    given = settings.admin_token.get_secret_value() if settings.admin_token is not None else ""
    if settings.auth_type == "agent-installer-local":
        foreign = Tokens(key_pair(public=public, private=private), admin_token=given)
        return Access(Authenticator(foreign, store, now=clock.now, schemed=True))
    tokens = Tokens(
        await service_keys(store, public=public, private=private),
        admin_token=await administrator(store, given=given, folder=settings.data_dir),
        lifetimes=Lifetimes(agent=settings.agent_token_lifetime, image=settings.image_expiration_time),
    )
    scoped = settings.local_auth_enforce_resource_scope
    return Access(Authenticator(tokens, store, now=clock.now, scoped=scoped), tokens)


def _text(path: Path | None, setting: str) -> str:
    if path is None:
        return ""
    try:
        return path.read_text()
    except (OSError, UnicodeError) as error:
        raise Invalid(f"The file that {setting} names cannot be read: {error}.") from None


def _mirrors(settings: Settings) -> MirrorRegistries | None:
    text = _text(settings.mirror_registries_conf, "FIRSTLIGHT_MIRROR_REGISTRIES_CONF")
    authorities = _text(settings.mirror_registries_ca, "FIRSTLIGHT_MIRROR_REGISTRIES_CA")
    if not text:
        return None
    try:
        return parse_registries_conf(text, ca_bundle=authorities)
    except Invalid as refusal:
        raise Invalid(f"FIRSTLIGHT_MIRROR_REGISTRIES_CONF cannot be used. {refusal}") from None


def _rate_limits(text: str) -> Mapping[str, float]:
    if not text.strip():
        return {}
    limits: dict[str, float] = {}
    for name, value in msgspec.json.decode(text, type=dict[str, str]).items():
        parsed = duration(value)
        if not isinstance(parsed, timedelta):
            raise Invalid(f"EVENT_RATE_LIMITS says '{value}' for {name}, which is no duration. Write it like 2h.")
        limits[name] = parsed.total_seconds()
    return limits


def catalogue_of(settings: Settings) -> Catalogue:
    return configured_catalogue(
        release_images=settings.release_images,
        os_images=settings.os_images,
        release_sources=settings.release_sources,
        must_gather_images=settings.must_gather_images,
        ignored_versions=settings.ignored_openshift_versions,
    )
