"""validations_info: findings as the JSON text clients of the original parse."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from firstlight.core.hosts.rules.shown import shown_findings
from firstlight.core.model.host import Host
from firstlight.core.rules import Finding, Status

HOST_CATEGORIES: Final = ("network", "hardware", "operators")
_encode = msgspec.json.Encoder(order=None).encode


def host_validations(findings: Sequence[Finding], host: Host) -> str:
    if not findings:
        return ""
    shown = shown_findings(findings, host)
    groups: dict[str, list[dict[str, str]]] = {}
    for finding in shown:
        groups.setdefault(finding.category, []).append(_entry(finding))
    if "operators" in groups:
        groups["operators"].sort(key=lambda entry: entry["id"])
    ordered = {name: groups[name] for name in HOST_CATEGORIES if name in groups}
    return _encode(ordered).decode()


def cluster_validations(findings: Iterable[Finding]) -> str:
    groups: dict[str, list[dict[str, str]]] = {}
    for finding in findings:
        if finding.status is not Status.SUPPRESSED:
            groups.setdefault(finding.category, []).append(_entry(finding))
    if not groups:
        return ""
    ordered = {name: sorted(groups[name], key=lambda entry: entry["id"]) for name in sorted(groups)}
    return _encode(ordered).decode()


def _entry(finding: Finding) -> dict[str, str]:
    return {"id": finding.id, "status": finding.status.value, "message": finding.message}
