"""Every setting of the server, in one place: a TOML file, beaten by the environment, beaten by flags.

Each setting is read from `FIRSTLIGHT_<NAME>`; where the original service has a name of its own for it, that name is
understood as well, and ours wins.
"""

import socket
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

from pydantic import AliasChoices, Field, FilePath, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from firstlight.server.setting_types import Address, CommaList, Duration, LogLevel, TlsVersion


def also(name: str, *originals: str, default: Any, **bounds: Any) -> Any:
    """A setting with the names the original has for it."""
    return Field(default=default, validation_alias=AliasChoices(f"FIRSTLIGHT_{name}", *originals), **bounds)


def default_data_dir() -> Path:
    return Path("~/.local/share/firstlight").expanduser()


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="FIRSTLIGHT_",
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        env_ignore_empty=True,
    )

    config: FilePath | None = None
    """TOML file with any of these settings under their lower-case names."""
    listen: Address = "127.0.0.1:8090"
    """Address and port of the API and the web UI."""
    images_listen: Address = "127.0.0.1:8888"
    """Address and port of the image service."""
    data_dir: Path = Field(
        default_factory=default_data_dir, validation_alias=AliasChoices("FIRSTLIGHT_DATA_DIR", "WORK_DIR")
    )
    """Where the embedded database and files live."""
    database_url: SecretStr | None = None
    """PostgreSQL URL; unset means the SQLite file in the data directory."""
    blobs_url: str | None = None
    """`s3://bucket?endpoint=…&region=…` or a folder; unset means a folder in the data directory."""
    aws_access_key_id: SecretStr | None = also("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID", default=None)
    """Key id for the bucket; unset means the surroundings are asked (profile, instance role)."""
    aws_secret_access_key: SecretStr | None = also("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", default=None)
    """The secret that belongs to it."""

    # The original's way of naming database and object store.
    db_host: str = also("DB_HOST", "DB_HOST", default="")
    """Host of a PostgreSQL server; used with the four below when `database_url` is unset."""
    db_port: int = also("DB_PORT", "DB_PORT", default=5432)
    """Its port."""
    db_user: str = also("DB_USER", "DB_USER", default="")
    """Its user."""
    db_pass: SecretStr = also("DB_PASS", "DB_PASS", default=SecretStr(""))
    """The user's password."""
    db_name: str = also("DB_NAME", "DB_NAME", default="")
    """The database."""
    s3_endpoint_url: str = also("S3_ENDPOINT_URL", "S3_ENDPOINT_URL", default="")
    """Address of an S3 server; used with the two below when `blobs_url` is unset."""
    s3_region: str = also("S3_REGION", "S3_REGION", default="")
    """Its region."""
    s3_bucket: str = also("S3_BUCKET", "S3_BUCKET", default="")
    """The bucket; empty means no S3."""

    service_base_url: str = also("SERVICE_BASE_URL", "SERVICE_BASE_URL", default="")
    """What hosts call; unset means the listener's own address."""
    image_service_base_url: str = also("IMAGE_SERVICE_BASE_URL", "IMAGE_SERVICE_BASE_URL", default="")
    """Where image links point; unset means the image listener's own address."""
    service_ca_cert_path: Path | None = also("SERVICE_CA_CERT_PATH", "SERVICE_CA_CERT_PATH", default=None)
    """PEM file with the authority that signed the service's certificate; hosts are given it."""
    skip_cert_verification: bool = also("SKIP_CERT_VERIFICATION", "SKIP_CERT_VERIFICATION", default=False)
    """Hosts do not check the service's certificate."""
    auth_type: Literal["none", "local", "agent-installer-local"] = also("AUTH_TYPE", "AUTH_TYPE", default="none")
    """Who may call: `none` lets everybody in, so keep the listener on loopback or put a proxy with a login before it.
    `local` asks for tokens that the service signs itself; `agent-installer-local` for those of the agent-based
    installer."""
    ec_public_key_pem: str = also("EC_PUBLIC_KEY_PEM", "EC_PUBLIC_KEY_PEM", default="")
    """The key that checks tokens (P-256, PEM or its base64); unset means the private key's."""
    ec_private_key_pem: SecretStr = also("EC_PRIVATE_KEY_PEM", "EC_PRIVATE_KEY_PEM", default=SecretStr(""))
    """The key that signs tokens; unset means one that is made at the first start and kept in the database."""
    admin_token: SecretStr | None = None
    """The administrator's token with `local`; unset means one that is made at the first start. Either way it is left in
    the file `admin-token` of the data directory."""
    local_auth_enforce_resource_scope: bool = also(
        "LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", "LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", default=True
    )
    """Machines may touch only their own infra-env and cluster."""
    image_expiration_time: Duration = also("IMAGE_EXPIRATION_TIME", "IMAGE_EXPIRATION_TIME", default=timedelta(hours=4))
    """How long an image URL is good for with `local`."""
    agent_token_lifetime: Duration = timedelta(hours=720)
    """How long the token in a discovery image lets new machines in with `local`; 0 means for ever."""
    images_api_token: SecretStr | None = None
    """What an image service that runs alone follows the API's events with; unset, it asks the API more often."""
    serve_https: bool | None = also("SERVE_HTTPS", "SERVE_HTTPS", default=None)
    """Speak HTTPS, API and images alike; unset means yes when the two files below are given."""
    https_cert_file: Path | None = also("HTTPS_CERT_FILE", "HTTPS_CERT_FILE", default=None)
    """PEM file with the certificate and its chain; looked at every half minute for a new one."""
    https_key_file: Path | None = also("HTTPS_KEY_FILE", "HTTPS_KEY_FILE", default=None)
    """PEM file with its key."""
    tls_min_version: TlsVersion = also("TLS_MIN_VERSION", "TLS_MIN_VERSION", default="1.2")
    """The oldest TLS that is spoken: 1.2 or 1.3."""
    max_connections: int = Field(default=10_000, ge=1)
    """Connections to the API at the same time; further ones are answered 503."""
    images_max_connections: int = Field(default=10_000, ge=1)
    """The same for the image service."""
    images_max_requests: int = also("IMAGES_MAX_REQUESTS", "MAX_CONCURRENT_REQUESTS", default=4_096, ge=1)
    """Downloads of images at the same time; further ones are answered 503 and told when to come again."""
    slow_client_timeout: Duration = timedelta(seconds=30)
    """How long the head of a request may take; a body may take as much, and a second for every KiB of it."""
    idle_timeout: Duration = timedelta(minutes=2)
    """How long a connection without requests is kept."""
    images_stall_timeout: Duration = timedelta(minutes=10)
    """How long a reader may take no byte of an image before it is cut off."""
    allowed_domains: CommaList = also("ALLOWED_DOMAINS", "ALLOWED_DOMAINS", default=())
    """Origins that browsers may call the API from."""
    allowed_hosts: CommaList = ()
    """Names the service may be called by while authentication is off, beside addresses, `localhost`, this machine's
    own name and those in the base URLs. `*.lab.example.com` means any name below it; `*` means any at all, and then
    web pages can pass themselves off as ours."""
    log_level: LogLevel = also("LOG_LEVEL", "LOG_LEVEL", default="info")
    """The least important lines that are still written."""
    log_format: Literal["text", "json"] = also("LOG_FORMAT", "LOG_FORMAT", default="text")
    """Lines for people, or JSON for machines."""
    release_tag: str = also("RELEASE_TAG", "RELEASE_TAG", default="")
    """Shown by `GET /v2/component-versions`."""
    liveness_timeout: Duration = also("LIVENESS_TIMEOUT", "LIVENESS_VALIDATION_TIMEOUT", default=timedelta(minutes=5))
    """How old the oldest overdue work may be before `/health` complains."""

    os_images: str = also("OS_IMAGES", "OS_IMAGES", default="")
    """JSON list of the live images offered; empty means the built-in list."""
    images_dir: Path | None = None
    """Where base images are kept; unset means a folder in the data directory."""
    images_seed_dir: Path | None = None
    """A folder with base images brought along, for sites without internet: looked at before anything is downloaded."""
    images_prefetch: bool = False
    """Download every base image at start rather than each when it is first asked for."""
    images_parallel_downloads: int = Field(default=2, ge=1, le=16)
    """Base images that are downloaded at the same time."""
    images_api_url: str = ""
    """The API as the image service reaches it; unset means the listener of this service."""
    assisted_service_scheme: str = also("ASSISTED_SERVICE_SCHEME", "ASSISTED_SERVICE_SCHEME", default="http")
    """How the image service calls the API, when the host below is named."""
    assisted_service_host: str = also("ASSISTED_SERVICE_HOST", "ASSISTED_SERVICE_HOST", default="")
    """Host and port of the API, as the original image service is told it."""
    images_api_ca_file: Path | None = also("IMAGES_API_CA_FILE", "ASSISTED_SERVICE_API_TRUSTED_CA_FILE", default=None)
    """Certificates the image service trusts the API by, beside the system's."""
    os_images_request_headers: SecretStr = also(
        "OS_IMAGES_REQUEST_HEADERS", "OS_IMAGES_REQUEST_HEADERS", default=SecretStr("")
    )
    """JSON object of headers that every download of a base image gets."""
    os_images_request_query_params: SecretStr = also(
        "OS_IMAGES_REQUEST_QUERY_PARAMS", "OS_IMAGES_REQUEST_QUERY_PARAMS", default=SecretStr("")
    )
    """JSON object of query parameters that every download of a base image gets."""
    os_images_ca_file: Path | None = also("OS_IMAGES_CA_FILE", "OS_IMAGE_DOWNLOAD_TRUSTED_CA_FILE", default=None)
    """Certificates trusted for base image downloads, beside the system's."""
    os_images_insecure: bool = also("OS_IMAGES_INSECURE", "INSECURE_SKIP_VERIFY", default=False)
    """Take base images from servers whose certificate cannot be checked."""
    release_images: str = also("RELEASE_IMAGES", "RELEASE_IMAGES", default="")
    """JSON list of the releases offered; empty means the built-in list."""
    release_sources: str = also("RELEASE_SOURCES", "RELEASE_SOURCES", default="")
    """JSON list of channels to look for releases in."""
    must_gather_images: str = also("MUST_GATHER_IMAGES", "MUST_GATHER_IMAGES", default="")
    """JSON object: must-gather images by version."""
    ignored_openshift_versions: str = also("IGNORED_OPENSHIFT_VERSIONS", "IGNORED_OPENSHIFT_VERSIONS", default="")
    """JSON list of versions that are not offered."""
    public_container_registries: CommaList = also(
        "PUBLIC_CONTAINER_REGISTRIES",
        "PUBLIC_CONTAINER_REGISTRIES",
        default=("quay.io", "registry.ci.openshift.org"),
    )
    """Registries that need no entry in a pull secret."""
    agent_image: str = also(
        "AGENT_IMAGE", "AGENT_DOCKER_IMAGE", default="quay.io/edge-infrastructure/assisted-installer-agent:latest"
    )
    """The agent that discovered hosts run."""
    agent_timeout_start: Duration = also("AGENT_TIMEOUT_START", "AGENT_TIMEOUT_START", default=timedelta(minutes=10))
    """How long a booted host may take to fetch and start its agent before it tries again."""
    hosts_ca_path: Path | None = None
    """PEM file with authorities that every discovered host trusts."""
    mirror_registries_conf: Path | None = None
    """A registries.conf with mirrors, for sites without internet; hosts and new clusters are given it."""
    mirror_registries_ca: Path | None = None
    """PEM file with the authorities that signed the mirrors' certificates."""
    accept_any_image: bool = also("ACCEPT_ANY_IMAGE", "FORCE_INSECURE_POLICY_JSON", default=False)
    """With mirrors: hosts check no signatures of container images."""
    installer_image: str = also(
        "INSTALLER_IMAGE", "INSTALLER_IMAGE", default="quay.io/edge-infrastructure/assisted-installer:latest"
    )
    """The installer that hosts run."""
    controller_image: str = also(
        "CONTROLLER_IMAGE",
        "CONTROLLER_IMAGE",
        default="quay.io/edge-infrastructure/assisted-installer-controller:latest",
    )
    """The controller that runs in the new cluster."""
    nmstatectl: Path | None = None
    """The program that prepares static networks before OpenShift 4.18; unset means the one on PATH."""
    iso_image_type: Literal["full-iso", "minimal-iso"] = also("ISO_IMAGE_TYPE", "ISO_IMAGE_TYPE", default="full-iso")
    """The kind of discovery image when nobody chose one."""
    enable_image_service: bool = also("ENABLE_IMAGE_SERVICE", "ENABLE_IMAGE_SERVICE", default=True)
    """Off: images come from elsewhere, and versions without a live image are offered too."""
    cluster_network_cidr: str = also("CLUSTER_NETWORK_CIDR", "CLUSTER_NETWORK_CIDR", default="10.128.0.0/14")
    """Network of the pods when the user names none."""
    cluster_network_host_prefix: int = also(
        "CLUSTER_NETWORK_HOST_PREFIX", "CLUSTER_NETWORK_HOST_PREFIX", default=23, ge=1, le=128
    )
    """How much of it each node gets."""
    service_network_cidr: str = also("SERVICE_NETWORK_CIDR", "SERVICE_NETWORK_CIDR", default="172.30.0.0/16")
    """Network of the services when the user names none."""
    cluster_network_cidr_ipv6: str = also("CLUSTER_NETWORK_CIDR_IPV6", "CLUSTER_NETWORK_CIDR_IPV6", default="fd01::/48")
    """The same for IPv6 pods."""
    cluster_network_host_prefix_ipv6: int = also(
        "CLUSTER_NETWORK_HOST_PREFIX_IPV6", "CLUSTER_NETWORK_HOST_PREFIX_IPV6", default=64, ge=1, le=128
    )
    """How much of it each node gets."""
    service_network_cidr_ipv6: str = also(
        "SERVICE_NETWORK_CIDR_IPV6", "SERVICE_NETWORK_CIDR_IPV6", default="fd02::/112"
    )
    """The same for IPv6 services."""
    ntp_default_server: str = also("NTP_DEFAULT_SERVER", "NTP_DEFAULT_SERVER", default="")
    """Comma list of time servers every new cluster starts with."""
    base_dns_domains: str = also("BASE_DNS_DOMAINS", "BASE_DNS_DOMAINS", default="")
    """Domains the service may write in: `domain:id/provider,…`."""
    reject_unknown_fields: bool = also("REJECT_UNKNOWN_FIELDS", "ENABLE_REJECT_UNKNOWN_FIELDS", default=True)
    """Refuse request bodies with fields that the API does not know."""
    installer: Literal["release", "built-in"] = "release"
    """Who writes installation files: each release's own openshift-install, or we, which serves simulated hosts only."""
    openshift_install: Path | None = None
    """An openshift-install to use for every release, instead of taking each one's own out of its images."""
    installer_cache_bytes: int = Field(default=20 * 2**30, ge=0)
    """How much room programs taken out of releases may occupy; 0 means without bound."""
    plain_registries: CommaList = ()
    """Container registries, as `host:port`, that are asked over HTTP without TLS."""
    install_invoker: str = also("INSTALL_INVOKER", "INSTALL_INVOKER", default="assisted-installer")
    """How installed clusters say they were installed."""
    infra_env_id: UUID | None = also("INFRA_ENV_ID", "INFRA_ENV_ID", default=None)
    """The id the one infra-env of an appliance gets; others get a new one each."""
    event_rate_limits: str = also("EVENT_RATE_LIMITS", "EVENT_RATE_LIMITS", default="")
    """JSON object: how often, at most, events of a name are listed, such as `{"name": "2h"}`."""

    hardware_requirements: str = also("HARDWARE_REQUIREMENTS", "HW_VALIDATOR_REQUIREMENTS", default="")
    """JSON list of hardware minima by version; gaps are filled from its `default`."""
    edge_workers_product_names: CommaList = also(
        "EDGE_WORKERS_PRODUCT_NAMES", "EDGE_WORKERS_PRODUCT_NAMES", default=("BlueField SoC",)
    )
    """Products that are taken for edge workers, with smaller minima."""
    disabled_host_validations: CommaList = also("DISABLED_HOST_VALIDATIONS", "DISABLED_HOST_VALIDATIONS", default=())
    """Ids of host checks that are not made."""
    disabled_cluster_validations: CommaList = also(
        "DISABLED_CLUSTER_VALIDATIONS", "DISABLED_CLUSTER_VALIDATIONS", default=()
    )
    """Ids of cluster checks that are not made."""
    disabled_steps: CommaList = also("DISABLED_STEPS", "DISABLED_STEPS", default=())
    """Agent steps that are never handed out."""
    soft_timeouts: bool = also("SOFT_TIMEOUTS", "ENABLE_SOFT_TIMEOUTS", default=False)
    """Stages that take too long are told, but do not fail the installation."""
    auto_assign: bool = also("AUTO_ASSIGN", "ENABLE_AUTO_ASSIGN", default=True)
    """Suggest roles for hosts whose role is `auto-assign`."""
    upgrade_agent: bool = also("UPGRADE_AGENT", "ENABLE_UPGRADE_AGENT", default=True)
    """Ask agents of another version to upgrade themselves."""
    skip_mco_reboot: bool = also("SKIP_MCO_REBOOT", "ENABLE_SKIP_MCO_REBOOT", default=True)
    """Spare installed hosts the second reboot where the release can."""
    virtual_interfaces: bool = also("VIRTUAL_INTERFACES", "ENABLE_VIRTUAL_INTERFACES", default=False)
    """Take virtual interfaces of hosts into account."""
    check_cluster_version: bool = also("CHECK_CLUSTER_VERSION", "CHECK_CLUSTER_VERSION", default=False)
    """Have the controller wait for the cluster version operator."""
    single_node_dnsmasq: bool = also("SINGLE_NODE_DNSMASQ", "ENABLE_SINGLE_NODE_DNSMASQ", default=True)
    """Let a single node answer its own names."""
    ipv6_support: bool = also("IPV6_SUPPORT", "IPV6_SUPPORT", default=True)
    """Accept IPv6 networks."""
    tna_clusters_support: bool = also("TNA_CLUSTERS_SUPPORT", "TNA_CLUSTERS_SUPPORT", default=True)
    """Accept two control-plane nodes with an arbiter."""
    tnf_clusters_support: bool = also("TNF_CLUSTERS_SUPPORT", "TNF_CLUSTERS_SUPPORT", default=False)
    """Accept two control-plane nodes that can fence each other."""
    inventory_max_size: int = also("INVENTORY_MAX_SIZE", "AGENT_INVENTORY_MAX_SIZE", default=0, ge=0)
    """Bytes an agent's inventory may have; 0 means no limit of the agent's own."""
    inventory_disk_min_size: int = also("INVENTORY_DISK_MIN_SIZE", "AGENT_INVENTORY_DISK_MIN_SIZE", default=0, ge=0)
    """Bytes below which agents leave disks out of a long inventory."""
    poll_seconds: int = Field(default=60, ge=1, le=600)
    """How often a calm agent asks."""

    host_max_disconnection_time: Duration = also(
        "HOST_MAX_DISCONNECTION_TIME", "HOST_MAX_DISCONNECTION_TIME", default=timedelta(minutes=3)
    )
    """Silence after which a host counts as disconnected."""
    prepare_for_installation_timeout: Duration = also(
        "PREPARE_FOR_INSTALLATION_TIMEOUT", "PREPARE_FOR_INSTALLATION_TIMEOUT", default=timedelta(minutes=10)
    )
    """How long a cluster may prepare its installation."""
    prepare_for_installation_host_timeout: Duration = also(
        "PREPARE_FOR_INSTALLATION_HOST_TIMEOUT", "PREPARE_FOR_INSTALLATION_HOST_TIMEOUT", default=timedelta(minutes=8)
    )
    """How long a host may."""
    disk_check_timeout: Duration = also("DISK_CHECK_TIMEOUT", "DISK_CHECK_TIMEOUT", default=timedelta(minutes=8))
    """How long measuring a disk may take."""
    image_availability_timeout: Duration = also(
        "IMAGE_AVAILABILITY_TIMEOUT", "IMAGE_AVAILABILITY_TIMEOUT", default=timedelta(minutes=16)
    )
    """How long a host may take to fetch the images of a release."""
    installation_timeout: Duration = also("INSTALLATION_TIMEOUT", "INSTALLATION_TIMEOUT", default=timedelta(hours=24))
    """How long hosts may install."""
    finalizing_timeout: Duration = also("FINALIZING_TIMEOUT", "FINALIZING_TIMEOUT", default=timedelta(hours=5))
    """How long a new cluster may take to finalize."""
    reset_cluster_timeout: Duration = also(
        "RESET_CLUSTER_TIMEOUT", "RESET_CLUSTER_TIMEOUT", default=timedelta(minutes=3)
    )
    """How long a reset waits for hosts to come back."""
    log_collection_timeout: Duration = also(
        "LOG_COLLECTION_TIMEOUT", "LOG_COLLECTION_TIMEOUT", default=timedelta(minutes=60)
    )
    """How long collecting a cluster's logs may take."""
    log_pending_timeout: Duration = also("LOG_PENDING_TIMEOUT", "LOG_PENDING_TIMEOUT", default=timedelta(minutes=10))
    """How long nobody may have begun to."""
    host_log_collection_timeout: Duration = also(
        "HOST_LOG_COLLECTION_TIMEOUT", "HOST_LOG_COLLECTION_TIMEOUT", default=timedelta(minutes=10)
    )
    """How long collecting a host's logs may take."""
    host_log_pending_timeout: Duration = also(
        "HOST_LOG_PENDING_TIMEOUT", "HOST_LOG_PENDING_TIMEOUT", default=timedelta(minutes=2)
    )
    """How long nobody may have begun to."""
    deleted_inactive_after: Duration = also(
        "DELETED_INACTIVE_AFTER", "DELETED_INACTIVE_AFTER", default=timedelta(hours=480)
    )
    """Clusters in which nothing happened for this long are given up."""
    deleted_unregistered_after: Duration = also(
        "DELETED_UNREGISTERED_AFTER", "DELETED_UNREGISTERED_AFTER", default=timedelta(hours=72)
    )
    """What was given up goes for good after this long."""
    infraenv_deleted_inactive_after: Duration = also(
        "INFRAENV_DELETED_INACTIVE_AFTER", "INFRAENV_DELETED_INACTIVE_AFTER", default=timedelta(hours=480)
    )
    """The same as for clusters, for infra-envs without hosts."""
    deregister_inactive: bool = also("DEREGISTER_INACTIVE", "ENABLE_DEREGISTER_INACTIVE_GC", default=True)
    """Give up what is inactive."""
    purge_deleted: bool = also("PURGE_DELETED", "ENABLE_DELETE_UNREGISTER_GC", default=True)
    """Remove for good what was given up."""

    @model_validator(mode="after")
    def require_both_files(self) -> Self:
        needed = self.serve_https or self.https_cert_file is not None or self.https_key_file is not None
        if needed and (self.https_cert_file is None or self.https_key_file is None):
            raise ValueError("HTTPS needs both HTTPS_CERT_FILE and HTTPS_KEY_FILE")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is given
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is given
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        given = {**env_settings(), **init_settings()}
        path = given.get("config") or given.get("FIRSTLIGHT_CONFIG")
        toml = TomlConfigSettingsSource(settings_cls, toml_file=Path(path) if path else None)
        return init_settings, env_settings, toml

    @property
    def database_location(self) -> str:
        """A URL, with its password, or the path of the embedded file."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        if self.db_host:
            login = f"{quote(self.db_user)}:{quote(self.db_pass.get_secret_value())}@" if self.db_user else ""
            return f"postgresql://{login}{self.db_host}:{self.db_port}/{quote(self.db_name)}"
        return str(self.data_dir / "firstlight.sqlite")

    @property
    def blobs_location(self) -> str:
        if self.blobs_url is not None:
            return self.blobs_url
        if self.s3_bucket:
            query = urlencode(
                {key: value for key, value in (("endpoint", self.s3_endpoint_url), ("region", self.s3_region)) if value}
            )
            return f"s3://{self.s3_bucket}?{query}"
        return str(self.data_dir / "blobs")

    @property
    def listen_address(self) -> tuple[str, int]:
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - an empty host means every interface

    @property
    def is_loopback_only(self) -> bool:
        host, _ = self.listen_address
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def service_url(self) -> str:
        return self.service_base_url.rstrip("/") or f"{self.scheme}://{self.listen}"

    @property
    def scheme(self) -> str:
        return "https" if self.https_files is not None else "http"

    @property
    def https_files(self) -> tuple[Path, Path] | None:
        """Certificate and key, when HTTPS is spoken."""
        if self.serve_https is False or self.https_cert_file is None or self.https_key_file is None:
            return None
        return self.https_cert_file, self.https_key_file

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names API and images answer to while everybody is administrator, beside addresses and `localhost`."""
        urls = (self.service_url, self.image_service_url, self.api_url_for_images)
        called = (urlsplit(url).hostname for url in urls)
        return tuple(dict.fromkeys((*self.allowed_hosts, socket.gethostname(), *filter(None, called))))

    @property
    def images_folder(self) -> Path:
        return self.images_dir or self.data_dir / "images"

    @property
    def api_url_for_images(self) -> str:
        if self.images_api_url:
            return self.images_api_url.rstrip("/")
        if self.assisted_service_host:
            return f"{self.assisted_service_scheme}://{self.assisted_service_host}"
        host, port = self.listen_address
        near = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
        return f"{self.scheme}://{near}:{port}"

    @property
    def image_service_url(self) -> str:
        return self.image_service_base_url.rstrip("/") or f"{self.scheme}://{self.images_listen}"


def managed_domains(text: str) -> Mapping[str, str]:
    """`domain:id/provider,…` as the original writes it."""
    found: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        domain, _, rest = item.partition(":")
        found[domain] = rest.rpartition("/")[2] or "route53"
    return found
