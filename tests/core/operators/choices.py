"""Operators as a cluster has them."""

from firstlight.core.model.cluster import Operator
from firstlight.core.model.cluster_status import OperatorKind


def chosen(*names: str) -> tuple[Operator, ...]:
    return (
        Operator(name="console", kind=OperatorKind.BUILTIN),
        *(Operator(name=name, kind=OperatorKind.OLM) for name in names),
    )
