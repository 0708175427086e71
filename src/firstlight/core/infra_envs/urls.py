"""Where the image service offers what belongs to an infra-env. Nothing is built before somebody asks for it."""

from typing import Final
from urllib.parse import quote, urlencode

from firstlight.core.install.ipxe import BootArtifacts
from firstlight.core.model.infra_env import InfraEnv

FILE_OF_TYPE: Final = {"full-iso": "full.iso", "minimal-iso": "minimal.iso", "disconnected-iso": "disconnected.iso"}


def image_url(infra_env: InfraEnv, *, base: str) -> str:
    """The discovery image, for callers nobody is asked to prove."""
    parts = (str(infra_env.id), infra_env.openshift_version, infra_env.cpu_architecture)
    path = "/".join(quote(part, safe="") for part in parts)
    return f"{base.rstrip('/')}/byid/{path}/{FILE_OF_TYPE[infra_env.image_type]}"


def boot_artifacts(infra_env: InfraEnv, *, base: str) -> BootArtifacts:
    """Kernel, ramdisk and root file system for machines that boot over the network."""
    root = base.rstrip("/")
    query = urlencode({"arch": infra_env.cpu_architecture, "version": infra_env.openshift_version})
    return BootArtifacts(
        kernel_url=f"{root}/boot-artifacts/kernel?{query}",
        initrd_url=f"{root}/images/{infra_env.id}/pxe-initrd?{query}",
        rootfs_url=f"{root}/boot-artifacts/rootfs?{query}",
    )
