"""Operators and bundles."""

from uuid import UUID

from firstlight.core.wire.shape import Answer, Body
from firstlight.core.wire.words import OperatorStatus


class MonitoredOperator(Answer, frozen=True, kw_only=True):
    """An operator of the cluster and its state."""

    status_updated_at: str
    bundles: tuple[str, ...] | None
    source_bundles: tuple[str, ...] | None
    cluster_id: UUID | None = None
    name: str = ""
    version: str = ""
    namespace: str = ""
    subscription_name: str = ""
    operator_type: str = ""
    properties: str = ""
    timeout_seconds: int = 0
    status: str = ""
    status_info: str = ""
    dependency_only: bool = False


class Bundle(Answer, frozen=True, kw_only=True):
    """A set of operators offered together."""

    operators: tuple[str, ...]
    optional_operators: tuple[str, ...]
    id: str = ""
    title: str = ""
    description: str = ""


class OperatorProperty(Answer, frozen=True, kw_only=True):
    """A setting an operator offers."""

    options: tuple[str, ...]
    name: str = ""
    data_type: str = ""
    mandatory: bool = False
    description: str = ""
    default_value: str = ""


class OperatorMonitorReport(Body, frozen=True, kw_only=True):
    """The controller's word on one operator."""

    name: str | None = None
    version: str | None = None
    status: OperatorStatus | None = None
    status_info: str | None = None


class OperatorCreateParams(Body, frozen=True, kw_only=True):
    """An operator the user wants."""

    name: str | None = None
    properties: str | None = None


class BundleCreateParams(Body, frozen=True, kw_only=True):
    """A bundle the user wants."""

    id: str
    optional_operators: tuple[str, ...] | None = None
