"""Disk encryption: whether the host has the TPM, or reaches the Tang servers, that its disks will need."""

from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_INVENTORY, change_cluster, is_day_two, refused
from firstlight.core.model.cluster import DiskEncryption
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.model.host_status import HostRole
from firstlight.core.model.reports import ReportKind
from firstlight.core.rules import SUPPRESSED, Fix, Status, Verdict, errored, passed, pending

NONE, ALL = "none", "all"
GROUPS: Final = {HostRole.MASTER: "masters", HostRole.ARBITER: "arbiters", HostRole.WORKER: "workers"}
UNKNOWN_STEP: Final = "failed to find action for step"
"""What agents answer that are too old to ask Tang servers."""


class _Clevis(Struct, frozen=True):
    tpm2: bool | None = None
    tang: tuple[dict[str, object], ...] | None = None


class _Luks(Struct, frozen=True):
    clevis: _Clevis | None = None


class _Storage(Struct, frozen=True):
    luks: tuple[_Luks, ...] | None = None


class _Ignition(Struct, frozen=True):
    storage: _Storage | None = None


def disk_encryption_requirements_satisfied(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if is_day_two(facts):
        return _as_running_cluster(facts, configured=cluster.disk_encryption.enable_on not in ("", NONE))
    covered = _covers(cluster.disk_encryption, facts.host.effective_role)
    if covered is None:
        return pending("Whether the disks are encrypted depends on the role of the host.", cause="no-role")
    if not covered:
        return SUPPRESSED
    return _tpm(facts) if cluster.disk_encryption.mode is EncryptionMode.TPM2 else _tang(facts)


def _covers(encryption: DiskEncryption, role: HostRole) -> bool | None:
    """Whether a host of this role gets encrypted disks; None while the role is open and matters."""
    chosen = {part.strip() for part in encryption.enable_on.split(",")} - {"", NONE}
    if not chosen or ALL in chosen:
        return ALL in chosen
    return None if role is HostRole.AUTO_ASSIGN else GROUPS.get(role, "") in chosen


def _as_running_cluster(facts: HostFacts, *, configured: bool) -> Verdict:
    """A host added later gets what the Ignition of the running cluster says."""
    reply = facts.reports.api_vip
    if reply is None or not reply.ignition:
        waiting = pending("The Ignition of the running cluster has not been fetched yet.", cause="no-ignition")
        return waiting if configured else SUPPRESSED
    devices = _luks_devices(reply.ignition)
    if devices is None:
        return errored("The Ignition of the running cluster cannot be read.", cause="unreadable-ignition")
    bindings = [device.clevis for device in devices if device.clevis is not None]
    if not bindings:
        return SUPPRESSED
    if not all(binding.tpm2 or binding.tang for binding in bindings):
        return refused(
            facts,
            "The running cluster encrypts disks with neither a TPM nor Tang servers. Mend the LUKS section of its"
            " worker machine config.",
            cause="invalid-luks",
            kind=ReportKind.API_VIP,
        )
    needed = [_tpm(facts)] if any(binding.tpm2 for binding in bindings) else []
    if any(binding.tang for binding in bindings):
        needed.append(_tang(facts))
    return next((verdict for verdict in needed if verdict.status is not Status.SUCCESS), needed[0])


@lru_cache(maxsize=256)
def _luks_devices(ignition: str) -> tuple[_Luks, ...] | None:
    """The encrypted devices of an Ignition config; None when it is none."""
    try:
        config = msgspec.json.decode(ignition, type=_Ignition)
    except (msgspec.DecodeError, RecursionError):
        return None
    return () if config.storage is None else config.storage.luks or ()


def _tpm(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    version = facts.reports.inventory.tpm_version
    if version == "2.0":
        return passed("The host has a TPM 2.0 for the keys of its disks.")
    message, cause = (
        ("The host shows no TPM. Enable it in the firmware", "no-tpm")
        if version in ("", NONE)
        else (
            f"The TPM of the host has version {version[:20]}, 2.0 is needed. Use a machine with such a TPM",
            "old-tpm",
        )
    )
    return refused(
        facts,
        f"{message}, use Tang servers, or install without disk encryption.",
        cause=cause,
        evidence={"found": version[:20], "needed": "2.0"},
        fixes=() if is_day_two(facts) else (_without_encryption(),),
    )


def _tang(facts: HostFacts) -> Verdict:
    reply = facts.reports.tang
    if reply is None:
        return pending("The host has not tried to reach the Tang servers yet.", cause="no-tang-report")
    if reply.success:
        return passed("The host reaches the Tang servers.")
    if UNKNOWN_STEP in reply.error:
        return SUPPRESSED
    return refused(
        facts,
        f"The host does not get its keys from the Tang servers: {reply.error or 'no reason given'}. Check their"
        " addresses and thumbprints, and that the host reaches them.",
        cause="tang-unreachable",
        kind=ReportKind.TANG,
        evidence={"error": reply.error},
        fixes=() if is_day_two(facts) else (_without_encryption(),),
    )


def _without_encryption() -> Fix:
    return change_cluster("Install without disk encryption", disk_encryption={"enable_on": NONE})
