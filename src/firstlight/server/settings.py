"""Every setting of the server, put together from its groups: a TOML file, beaten by the environment, beaten by flags.

Each setting is read from `FIRSTLIGHT_<NAME>`; where the original service has a name of its own for it, that name is
understood as well, and ours wins.
"""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlencode, urlsplit

from pydantic import FilePath, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource

from firstlight.server.setting_groups.access import AccessSettings
from firstlight.server.setting_groups.clusters import ClusterSettings
from firstlight.server.setting_groups.hosts import HostSettings
from firstlight.server.setting_groups.images import ImageSettings
from firstlight.server.setting_groups.limits import LimitSettings
from firstlight.server.setting_groups.listening import ListeningSettings
from firstlight.server.setting_groups.releases import ReleaseSettings
from firstlight.server.setting_groups.storage import StorageSettings


class Settings(
    LimitSettings,
    ClusterSettings,
    HostSettings,
    ReleaseSettings,
    ImageSettings,
    AccessSettings,
    ListeningSettings,
    StorageSettings,
):
    config: FilePath | None = None
    """TOML file with any of these settings under their lower-case names."""

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
