"""What only the user's own manifests can bring."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, cast

import msgspec

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules.networks import NEEDS_MANIFESTS
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.rules import Verdict, failed, passed

ORACLE: Final = "oci"


def custom_manifests_requirements_satisfied(facts: ClusterFacts) -> Verdict:
    network_type = overridden_network_type(facts.cluster.install_config_overrides) or facts.cluster.network_type
    if network_type not in NEEDS_MANIFESTS:
        return passed("The cluster needs no manifests of its user.")
    if facts.cluster.has_custom_manifests:
        return passed(f"There are manifests of the user for the network type {network_type}.")
    return failed(
        f"The network type {network_type} comes with manifests of its own. Upload them before installing.",
        cause="no-custom-manifests",
        evidence={"network_type": network_type},
    )


def platform_requirements_satisfied(facts: ClusterFacts) -> Verdict:
    platform = facts.cluster.platform
    if platform.type is not PlatformType.EXTERNAL or platform.external_name != ORACLE:
        return passed("The platform needs nothing else.")
    if facts.cluster.has_custom_manifests:
        return passed("There are manifests of the user for Oracle Cloud Infrastructure.")
    return failed(
        "Oracle Cloud Infrastructure needs manifests for its cloud controller and storage. Upload them before "
        "installing.",
        cause="no-custom-manifests",
        evidence={"platform": ORACLE},
    )


@lru_cache(maxsize=1024)
def overridden_network_type(overrides: str) -> str:
    """The network type an install-config override asks for; keys count in any case. Empty when it asks for none."""
    try:
        document: object = msgspec.json.decode(overrides.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return ""
    found = _entry(_entry(document, "networking"), "networktype")
    return found if isinstance(found, str) else ""


def _entry(document: object, name: str) -> object:
    if not isinstance(document, Mapping):
        return None
    entries = cast("Mapping[object, object]", document)
    return next((value for key, value in entries.items() if isinstance(key, str) and key.lower() == name), None)
