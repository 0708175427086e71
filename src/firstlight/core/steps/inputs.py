"""What step arguments need beyond the state of cluster and host: images of the release, addresses, secrets."""

from collections.abc import Mapping
from uuid import UUID

from msgspec import Struct


class ReleaseFacts(Struct, frozen=True, kw_only=True):
    """Images inside the cluster's release; empty until the release has been looked into."""

    mco_image: str = ""
    must_gather_images: Mapping[str, str] = {}
    """Operator name, or "ocp" → image."""
    coreos_image: str = ""
    """For machines that install into the system they run from."""


class BootArtifacts(Struct, frozen=True, kw_only=True):
    """Where a machine that is given back finds its discovery system; the initrd URL is signed where that is needed."""

    kernel_url: str
    rootfs_url: str
    initrd_url: str


class StepInputs(Struct, frozen=True, kw_only=True):
    release: ReleaseFacts = ReleaseFacts()
    boot_artifacts: Mapping[UUID, BootArtifacts] = {}
    """Infra-env → artifacts."""
    ignition_ca: str = ""
    """Day 2: base64 PEM of the authority behind the cluster's machine config server; empty means plain HTTP."""
    ignition_tokens: Mapping[UUID, str] = {}
    """Day 2: host → token for the Ignition endpoint."""


NO_INPUTS = StepInputs()
