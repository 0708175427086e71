"""Where the service listens, by which names it is called, and how much it lets callers do at once."""

from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import Address, CommaList, Duration, LogLevel, TlsVersion


class ListeningSettings(SettingGroup):
    listen: Address = "127.0.0.1:8090"
    """Address and port of the API and the web UI."""
    images_listen: Address = "127.0.0.1:8888"
    """Address and port of the image service."""
    service_base_url: str = also("SERVICE_BASE_URL", "SERVICE_BASE_URL", default="")
    """What hosts call; unset means the listener's own address."""
    image_service_base_url: str = also("IMAGE_SERVICE_BASE_URL", "IMAGE_SERVICE_BASE_URL", default="")
    """Where image links point; unset means the image listener's own address."""
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
    reject_unknown_fields: bool = also("REJECT_UNKNOWN_FIELDS", "ENABLE_REJECT_UNKNOWN_FIELDS", default=True)
    """Refuse request bodies with fields that the API does not know."""
    log_level: LogLevel = also("LOG_LEVEL", "LOG_LEVEL", default="info")
    """The least important lines that are still written."""
    log_format: Literal["text", "json"] = also("LOG_FORMAT", "LOG_FORMAT", default="text")
    """Lines for people, or JSON for machines."""
    release_tag: str = also("RELEASE_TAG", "RELEASE_TAG", default="")
    """Shown by `GET /v2/component-versions`."""
    liveness_timeout: Duration = also("LIVENESS_TIMEOUT", "LIVENESS_VALIDATION_TIMEOUT", default=timedelta(minutes=5))
    """How old the oldest overdue work may be before `/health` complains."""
    event_rate_limits: str = also("EVENT_RATE_LIMITS", "EVENT_RATE_LIMITS", default="")
    """JSON object: how often, at most, events of a name are listed, such as `{"name": "2h"}`."""
