"""What step arguments need beyond the state of cluster and host: images of the release, addresses, secrets."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from msgspec import Struct

MCO, MUST_GATHER, COREOS = "machine-config-operator", "must-gather", "rhel-coreos"
PARTS: Final = frozenset({MCO, MUST_GATHER, COREOS})
"""Components of a release whose images hosts are told about."""


class ReleaseFacts(Struct, frozen=True, kw_only=True):
    """Images inside the cluster's release; empty until the release has been looked into."""

    mco_image: str = ""
    must_gather_images: Mapping[str, str] = {}
    """Operator name, or "ocp" → image."""
    coreos_image: str = ""
    """For machines that install into the system they run from."""


def release_facts(parts: Mapping[str, str], *, must_gather: Mapping[str, str]) -> ReleaseFacts:
    """What is known of a release: its own parts, and what an operator configured, which wins."""
    own = {"ocp": parts[MUST_GATHER]} if MUST_GATHER in parts else {}
    return ReleaseFacts(
        mco_image=parts.get(MCO, ""), must_gather_images=must_gather or own, coreos_image=parts.get(COREOS, "")
    )


class BootArtifacts(Struct, frozen=True, kw_only=True):
    """Where a machine finds its discovery system without a medium; the initrd URL is signed where that is needed."""

    kernel_url: str
    rootfs_url: str
    initrd_url: str


class StepInputs(Struct, frozen=True, kw_only=True):
    release: ReleaseFacts = ReleaseFacts()
    boot_artifacts: Mapping[UUID, BootArtifacts] = {}
    """Infra-env → artifacts."""
    ignition_tokens: Mapping[UUID, str] = {}
    """Day 2: host → token for the Ignition endpoint."""


NO_INPUTS = StepInputs()
