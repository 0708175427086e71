"""Sets of operators that serve one purpose together."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from firstlight.core.errors import NotFound
from firstlight.core.operators.catalogue import OPERATORS, members
from firstlight.core.versions.feature_ids import FeatureId


class Bundle(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    description: str
    operators: tuple[str, ...] = ()
    optional_operators: tuple[str, ...] = ()


_KNOWN: Final = (
    Bundle(
        id="virtualization",
        title="Virtualization",
        description="Virtual machines and containers side by side on one cluster.",
    ),
    Bundle(
        id="openshift-ai",
        title="OpenShift AI",
        description="Build, train and serve models, with GPUs where there are some.",
    ),
)


def _always(_feature: FeatureId) -> bool:
    return True


def list_bundles(
    *, single_node: bool = False, is_available: Callable[[FeatureId], bool] = _always
) -> tuple[Bundle, ...]:
    """The bundles on offer.

    `is_available` says whether a feature exists for the version, architecture and platform in question: a bundle that
    would lack one of its operators is not offered, an optional operator is just left out.
    """
    return tuple(
        bundle
        for bundle in (_filled(known, single_node=single_node, is_available=is_available) for known in _KNOWN)
        if all(is_available(OPERATORS[name].feature) for name in bundle.operators)
    )


def bundle_named(bundle_id: str, *, single_node: bool = False) -> Bundle:
    """NotFound when there is no such bundle."""
    for known in _KNOWN:
        if known.id == bundle_id:
            return _filled(known, single_node=single_node, is_available=_always)
    names = ", ".join(known.id for known in _KNOWN)
    raise NotFound(f"The operator bundle '{bundle_id[:80]}' does not exist. There are {names}.")


def bundles_of(operator: str) -> tuple[str, ...]:
    """Ids of the bundles an operator can come with, sorted."""
    spec = OPERATORS.get(operator)
    return () if spec is None else tuple(sorted({place.bundle for place in spec.memberships}))


def _filled(bundle: Bundle, *, single_node: bool, is_available: Callable[[FeatureId], bool]) -> Bundle:
    optional = members(bundle.id, single_node=single_node, optional=True)
    return Bundle(
        id=bundle.id,
        title=bundle.title,
        description=bundle.description,
        operators=tuple(members(bundle.id, single_node=single_node)),
        optional_operators=tuple(name for name in optional if is_available(OPERATORS[name].feature)),
    )
