"""Base images: which are offered, where they come from, how the image service reaches the API."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from firstlight.server.setting_groups.group import SettingGroup, also


class ImageSettings(SettingGroup):
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
    iso_image_type: Literal["full-iso", "minimal-iso"] = also("ISO_IMAGE_TYPE", "ISO_IMAGE_TYPE", default="full-iso")
    """The kind of discovery image when nobody chose one."""
    enable_image_service: bool = also("ENABLE_IMAGE_SERVICE", "ENABLE_IMAGE_SERVICE", default=True)
    """Off: images come from elsewhere, and versions without a live image are offered too."""
    nmstatectl: Path | None = None
    """The program that prepares static networks before OpenShift 4.18; unset means the one on PATH."""
