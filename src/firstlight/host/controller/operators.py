"""How operators are, in the service's words. The order of conditions says nothing."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from firstlight.core.wire.words import OperatorStatus
from firstlight.host.controller.documents import OperatorDocument
from firstlight.host.controller.objects import ClusterOperator, Condition, Csv, Subscription

CVO: Final = "cvo"
CONSOLE: Final = "console"
DEGRADED: Final = ("Degraded", "Failing")
LONGEST_INFO: Final = 2000
TIMED_OUT: Final = "The operator was not ready when the time for its stage was over."
SETTLED: Final = frozenset({"available", "failed"})


class Standing(Struct, frozen=True, kw_only=True):
    status: OperatorStatus
    info: str = ""
    version: str = ""


def standing(operator: ClusterOperator) -> Standing:
    """Of a ClusterOperator or the ClusterVersion."""
    status, info = _status(operator.status.conditions)
    versions = operator.status.versions
    version = operator.status.desired.version or (versions[0].version if versions else "")
    return Standing(status=status, info=info[:LONGEST_INFO], version=version)


def _status(conditions: Iterable[Condition]) -> tuple[OperatorStatus, str]:
    found = {condition.type: condition for condition in conditions}

    def holds(name: str) -> bool:
        return name in found and found[name].status == "True"

    trouble = next((found[name] for name in DEGRADED if holds(name)), None)
    if holds("Available"):
        return "available", trouble.message if trouble else found["Available"].message
    if trouble is not None:
        return "failed", trouble.message
    if holds("Progressing"):
        return "progressing", found["Progressing"].message
    if "Available" in found and found["Available"].status == "False":
        return "failed", found["Available"].message
    return "progressing", ""


def csv_of(
    operator: OperatorDocument, *, subscriptions: Mapping[str, Subscription], csvs: Mapping[str, Csv]
) -> Csv | None:
    """What an operator's subscription installed, once it did."""
    subscription = subscriptions.get(f"{operator.namespace}/{operator.subscription_name}")
    if subscription is None or not subscription.status.current_csv:
        return None
    return csvs.get(f"{operator.namespace}/{subscription.status.current_csv}")


def csv_standing(csv: Csv | None, *, failed_for: float, patience: float) -> Standing:
    """`failed_for` is how long it has been failed without a break: OLM repairs some failures by itself."""
    if csv is None:
        return Standing(status="progressing", info="The subscription has not installed anything yet.")
    version, message = csv.spec.version, csv.status.message[:LONGEST_INFO]
    if csv.status.phase == "Succeeded":
        return Standing(status="available", info=message, version=version)
    if csv.status.phase == "Failed" and failed_for >= patience:
        return Standing(status="failed", info=message, version=version)
    return Standing(status="progressing", info=message, version=version)


def is_news(operator: OperatorDocument, now: Standing) -> bool:
    """Whether the service should hear of it. What is available once stays so for the installation."""
    if operator.status == "available":
        return False
    return operator.status != now.status or (bool(now.info) and (operator.status_info or "") != now.info)


def is_settled(operator: OperatorDocument) -> bool:
    return operator.status in SETTLED


def console_is_wanted(version: ClusterOperator | None) -> bool:
    """A cluster without the capability has no console to wait for; one that does not say so has."""
    enabled = version.status.capabilities.enabled_capabilities if version is not None else None
    return enabled is None or "Console" in enabled
