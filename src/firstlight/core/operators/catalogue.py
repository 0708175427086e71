"""All operators the service can install, and how a wish becomes the set a cluster waits for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster, Operator
from firstlight.core.model.cluster_status import OperatorKind
from firstlight.core.model.policy import Policy
from firstlight.core.operators import (
    amd_gpu,
    availability,
    cnv,
    kmm,
    kube_descheduler,
    lso,
    lvm,
    mce,
    node_feature_discovery,
    nvidia_gpu,
    observability,
    odf,
    openshift_ai,
    plain,
    small_workloads,
)
from firstlight.core.operators.spec import OperatorSpec

OPERATORS: Final[Mapping[str, OperatorSpec]] = {
    spec.name: spec
    for spec in sorted(
        (
            amd_gpu.SPEC,
            cnv.SPEC,
            kmm.SPEC,
            kube_descheduler.SPEC,
            lso.SPEC,
            lvm.SPEC,
            mce.SPEC,
            node_feature_discovery.SPEC,
            nvidia_gpu.SPEC,
            odf.SPEC,
            openshift_ai.SPEC,
            *availability.SPECS,
            *observability.SPECS,
            *plain.SPECS,
            *small_workloads.SPECS,
        ),
        key=lambda spec: spec.name,
    )
}
"""By name, sorted."""
ALIASES: Final = {"ocs": "odf"}
BUILTIN_TIMEOUT_SECONDS: Final = 3600


class OperatorRequest(Struct, frozen=True):
    name: str
    properties: str = ""


class BundleRequest(Struct, frozen=True):
    id: str
    optional_operators: tuple[str, ...] = ()


class _Capabilities(Struct):
    baseline: str = msgspec.field(name="baselineCapabilitySet", default="")
    additional: list[str] = msgspec.field(name="additionalEnabledCapabilities", default_factory=list[str])


class _Overrides(Struct):
    capabilities: _Capabilities | None = None


def supported_names() -> tuple[str, ...]:
    return tuple(OPERATORS)


def operator_named(name: str) -> OperatorSpec:
    """The operator of that name, old names included; Invalid when there is none."""
    spec = OPERATORS.get(ALIASES.get(name, name))
    if spec is None:
        known = ", ".join(OPERATORS)
        raise Invalid(f"The operator '{name[:80]}' is not supported. Choose among {known}.")
    return spec


def resolve(
    requested: Iterable[OperatorRequest], bundles: Iterable[BundleRequest], cluster: Cluster
) -> tuple[Operator, ...]:
    """The whole new set of OLM operators: what was asked for, what bundles bring, what those need.

    Whatever is not named any more goes; what stays keeps what is known of it. Invalid for an unknown operator or
    bundle, and for an operator that is not optional in the bundle it was asked with.
    """
    properties: dict[str, str] = {}
    sources: dict[str, list[str]] = {}
    for request in requested:
        name = operator_named(request.name).name
        properties[name] = request.properties or properties.get(name, "")
    for request in bundles:
        for name in _of_bundle(request, single_node=cluster.is_single_node):
            properties.setdefault(name, "")
            if request.id not in sources.setdefault(name, []):
                sources[name].append(request.id)
    known = {operator.name: operator for operator in cluster.operators if operator.kind is OperatorKind.OLM}
    return tuple(
        msgspec.structs.replace(
            known.get(name, Operator(name=name, kind=OperatorKind.OLM)),
            namespace=OPERATORS[name].namespace,
            subscription_name=OPERATORS[name].subscription_name(cluster.openshift_version),
            timeout_seconds=OPERATORS[name].timeout_minutes * 60,
            properties=properties.get(name, ""),
            dependency_only=name not in properties,
            source_bundles=tuple(sorted(sources.get(name, ()))),
        )
        for name in with_dependencies(properties, single_node=cluster.is_single_node)
    )


def _of_bundle(request: BundleRequest, *, single_node: bool) -> list[str]:
    names = members(request.id, single_node=single_node)
    optional = members(request.id, single_node=single_node, optional=True)
    if not names:
        known = ", ".join(sorted({place.bundle for spec in OPERATORS.values() for place in spec.memberships}))
        raise Invalid(f"The operator bundle '{request.id[:80]}' does not exist. Choose among {known}.")
    for asked in request.optional_operators:
        name = ALIASES.get(asked, asked)
        if name not in optional:
            offered = ", ".join(optional) or "none"
            raise Invalid(
                f"The operator '{asked[:80]}' is not optional in the bundle '{request.id}'. Optional there: {offered}."
            )
        names.append(name)
    return names


def members(bundle: str, *, single_node: bool, optional: bool = False) -> list[str]:
    """Names of the operators of a bundle, sorted: those it always brings, or those it offers."""
    return [
        spec.name
        for spec in OPERATORS.values()
        for place in spec.memberships
        if place.bundle == bundle
        and place.optional is optional
        and (place.on_single_node if single_node else place.on_several_nodes)
    ]


def with_dependencies(names: Iterable[str], *, single_node: bool) -> list[str]:
    """The names and everything they need, sorted."""
    found: set[str] = set()
    open_names = list(names)
    while open_names:
        name = open_names.pop()
        if name not in found:
            found.add(name)
            open_names += OPERATORS[name].depends_on(single_node=single_node)
    return sorted(found)


def builtin_operators(cluster: Cluster, policy: Policy) -> tuple[Operator, ...]:
    """Parts of OpenShift itself the controller reports on."""
    names: list[str] = []
    if has_console(cluster.install_config_overrides):
        names.append("console")
    if policy.check_cluster_version:
        names.append("cvo")
    known = {operator.name: operator for operator in cluster.operators if operator.kind is OperatorKind.BUILTIN}
    return tuple(
        known.get(name, Operator(name=name, kind=OperatorKind.BUILTIN, timeout_seconds=BUILTIN_TIMEOUT_SECONDS))
        for name in names
    )


def has_console(install_config_overrides: str) -> bool:
    """Whether the install config leaves the web console in: it is gone when the baseline is None and nobody adds it."""
    if not install_config_overrides:
        return True
    try:
        capabilities = msgspec.json.decode(install_config_overrides, type=_Overrides).capabilities
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Overrides are checked where they come in; what cannot be read here removes nothing.
        return True
    return capabilities is None or capabilities.baseline != "None" or "Console" in capabilities.additional


def monitored_operators(
    requested: Sequence[OperatorRequest], bundles: Sequence[BundleRequest], cluster: Cluster, *, policy: Policy
) -> tuple[Operator, ...]:
    """Everything the cluster will wait for: OpenShift's own parts, then the OLM operators."""
    return builtin_operators(cluster, policy) + resolve(requested, bundles, cluster)
