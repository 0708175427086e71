"""Where the image service offers what belongs to an infra-env. Nothing is built before somebody asks for it."""

from typing import Final
from urllib.parse import quote, urlencode

from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.steps.inputs import BootArtifacts

FILE_OF_TYPE: Final = {"full-iso": "full.iso", "minimal-iso": "minimal.iso", "disconnected-iso": "disconnected.iso"}


def image_url(infra_env: InfraEnv, *, base: str, token: str = "") -> str:
    """The discovery image. The URL alone must be enough for machines, so it holds the token where one is needed."""
    return f"{base.rstrip('/')}/{f'bytoken/{token}' if token else f'byid/{infra_env.id}'}/{image_file(infra_env)}"


def image_file(infra_env: InfraEnv) -> str:
    """The part of the URL that says which image."""
    parts = (infra_env.openshift_version, infra_env.cpu_architecture)
    return "/".join((*(quote(part, safe="") for part in parts), FILE_OF_TYPE[infra_env.image_type]))


def boot_artifacts(infra_env: InfraEnv, *, base: str, token: str = "") -> BootArtifacts:
    """Kernel, ramdisk and root file system for machines that boot over the network. Only the ramdisk holds secrets."""
    root = base.rstrip("/")
    query = urlencode({"arch": infra_env.cpu_architecture, "version": infra_env.openshift_version})
    proof = f"image_token={token}&" if token else ""
    return BootArtifacts(
        kernel_url=f"{root}/boot-artifacts/kernel?{query}",
        initrd_url=f"{root}/images/{infra_env.id}/pxe-initrd?{proof}{query}",
        rootfs_url=f"{root}/boot-artifacts/rootfs?{query}",
    )
