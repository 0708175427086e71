"""What the image service needs to know, as a value that can be handed to its process."""

from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.server.auth.certificates import Version
from firstlight.server.auth.limits import Limits
from firstlight.server.settings import Settings


class Options(Struct, frozen=True, kw_only=True):
    listen: str = "127.0.0.1:8888"
    api_url: str
    """Without a path."""
    base_url: str
    """What hosts call; it stands in minimal images."""
    folder: str
    seed_folder: str = ""
    os_images: str = ""
    """OS_IMAGES as configured; empty means the built-in list."""
    prefetch: bool = False
    parallel_downloads: int = 2
    request_headers: dict[str, str] = {}
    request_query: dict[str, str] = {}
    download_ca_file: str = ""
    download_insecure: bool = False
    api_ca_file: str = ""
    api_token: str = ""
    """What the service follows the API's events with."""
    api_pin_file: str = ""
    """The certificate the API answers with, when it is the one beside us."""
    cert_file: str = ""
    """With the key: HTTPS is spoken."""
    key_file: str = ""
    oldest_tls: Version = "1.2"
    limits: Limits = Limits()
    allowed_domains: tuple[str, ...] = ()
    host_names: tuple[str, ...] | None = None
    """What the service is called by, beside addresses; none: any name will do, since callers prove who they are."""
    log_level: str = "info"
    log_json: bool = False

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)


def options_of(settings: Settings) -> Options:
    headers = settings.os_images_request_headers.get_secret_value()
    query = settings.os_images_request_query_params.get_secret_value()
    return Options(
        listen=settings.images_listen,
        api_url=settings.api_url_for_images,
        base_url=settings.image_service_url,
        folder=str(settings.images_folder),
        seed_folder=str(settings.images_seed_dir or ""),
        os_images=settings.os_images,
        prefetch=settings.images_prefetch,
        parallel_downloads=settings.images_parallel_downloads,
        request_headers=_mapping(headers, "OS_IMAGES_REQUEST_HEADERS"),
        request_query=_mapping(query, "OS_IMAGES_REQUEST_QUERY_PARAMS"),
        download_ca_file=str(settings.os_images_ca_file or ""),
        download_insecure=settings.os_images_insecure,
        api_ca_file=str(settings.images_api_ca_file or ""),
        api_token=settings.images_api_token.get_secret_value() if settings.images_api_token is not None else "",
        api_pin_file=_pin(settings),
        cert_file=str(settings.https_files[0]) if settings.https_files else "",
        key_file=str(settings.https_files[1]) if settings.https_files else "",
        oldest_tls=settings.tls_min_version,
        limits=Limits(
            connections=settings.images_max_connections,
            requests=settings.images_max_requests,
            head_seconds=settings.slow_client_timeout.total_seconds(),
            idle_seconds=settings.idle_timeout.total_seconds(),
            stall_seconds=settings.images_stall_timeout.total_seconds(),
        ),
        allowed_domains=settings.allowed_domains,
        host_names=settings.host_names if settings.auth_type == "none" else None,
        log_level=settings.log_level,
        log_json=settings.log_format == "json",
    )


def _pin(settings: Settings) -> str:
    is_own = not settings.images_api_url and not settings.assisted_service_host
    return str(settings.https_files[0]) if is_own and settings.https_files else ""


_EXAMPLE: Final = '{"name": "value"}'


def _mapping(text: str, variable: str) -> dict[str, str]:
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # What is wrong with it is not repeated: it may hold a password.
        raise Invalid(f"{variable} cannot be read. Write it as {_EXAMPLE}.") from None
