"""Releases, the registries they come from and the programs taken out of them."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import CommaList


class ReleaseSettings(SettingGroup):
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
    mirror_registries_conf: Path | None = None
    """A registries.conf with mirrors, for sites without internet; hosts and new clusters are given it."""
    mirror_registries_ca: Path | None = None
    """PEM file with the authorities that signed the mirrors' certificates."""
    plain_registries: CommaList = ()
    """Container registries, as `host:port`, that are asked over HTTP without TLS."""
    installer: Literal["release", "built-in"] = "release"
    """Who writes installation files: each release's own openshift-install, or we, which serves simulated hosts only."""
    openshift_install: Path | None = None
    """An openshift-install to use for every release, instead of taking each one's own out of its images."""
    installer_cache_bytes: int = Field(default=20 * 2**30, ge=0)
    """How much room programs taken out of releases may occupy; 0 means without bound."""
    installer_parallel: int = Field(default=2, ge=1, le=64)
    """Preparations that run openshift-install at the same time, each some seconds of CPU and 200 MB; others wait."""
    installer_niceness: int = Field(default=10, ge=0, le=19)
    """How far openshift-install steps back for everything else on the machine, as `nice` counts it."""
    install_invoker: str = also("INSTALL_INVOKER", "INSTALL_INVOKER", default="assisted-installer")
    """How installed clusters say they were installed."""
