"""Operators on offer and the bundles they come in."""

from typing import Literal

from msgspec import Struct

from firstlight.core import wire
from firstlight.core.operators.bundles import Bundle
from firstlight.core.operators.catalogue import supported_names
from firstlight.server.http.call import Call, NoQuery
from firstlight.server.http.errors import NOT_FOUND_WITHOUT_WORDS
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.http.v2.support_levels import AnyArchitecture, Platform
from firstlight.server.usecases import catalogues
from firstlight.server.usecases.catalogues import Question
from firstlight.server.usecases.world import World


class BundleQuery(Struct, frozen=True, kw_only=True):
    feature_ids: tuple[Literal["SNO"], ...] = ()


class BundlesQuery(BundleQuery, frozen=True, kw_only=True):
    openshift_version: str = ""
    cpu_architecture: AnyArchitecture = "x86_64"
    platform_type: Platform | None = None
    external_platform_name: str = ""


@operation(
    "GET",
    "/v2/supported-operators",
    id="V2ListSupportedOperators",
    answer=tuple[str, ...],
    errors=(401, 403, 500),
    etag=True,
)
async def list_supported_operators(_world: World, _call: Call[None, NoQuery]) -> tuple[str, ...]:
    """List the operators that can be installed with a cluster."""
    return supported_names()


@operation(
    "GET",
    "/v2/supported-operators/{operator_name}",
    id="V2ListOperatorProperties",
    access=Access.READ,
    answer=tuple[wire.OperatorProperty, ...],
    errors=(401, 403, 404, 500),
)
async def list_operator_properties(
    _world: World, call: Call[None, NoQuery]
) -> tuple[wire.OperatorProperty, ...] | Empty:
    """List the settings an operator offers; none does."""
    return () if catalogues.knows_operator(call.text("operator_name")) else NOT_FOUND_WITHOUT_WORDS


@operation(
    "GET",
    "/v2/operators/bundles",
    id="V2ListBundles",
    query=BundlesQuery,
    answer=tuple[wire.Bundle, ...],
    errors=(400, 500),
    etag=True,
)
async def list_bundles(_world: World, call: Call[None, BundlesQuery]) -> tuple[wire.Bundle, ...]:
    """List bundles of operators, with a version only those that can be installed."""
    asked = call.query
    question = None
    if asked.openshift_version:
        question = Question(
            openshift_version=asked.openshift_version,
            cpu_architecture=asked.cpu_architecture,
            platform=asked.platform_type or "",
            external_platform=asked.external_platform_name,
        )
    found = catalogues.bundles(question, single_node=bool(asked.feature_ids))
    return tuple(_view(bundle) for bundle in found)


@operation(
    "GET",
    "/v2/operators/bundles/{id}",
    id="V2GetBundle",
    query=BundleQuery,
    answer=wire.Bundle,
    errors=(400, 404, 500),
)
async def get_bundle(_world: World, call: Call[None, BundleQuery]) -> wire.Bundle:
    """Get one bundle of operators."""
    return _view(catalogues.bundle(call.text("id"), single_node=bool(call.query.feature_ids)))


def _view(bundle: Bundle) -> wire.Bundle:
    return wire.Bundle(
        id=bundle.id,
        title=bundle.title,
        description=bundle.description,
        operators=bundle.operators,
        optional_operators=bundle.optional_operators,
    )
