"""All checks of a cluster by id, in the order they are told."""

from collections.abc import Callable
from typing import Final

from firstlight.core.clusters.facts import ClusterFacts
from firstlight.core.clusters.rules import defined, hosts, networks, platform, vips
from firstlight.core.rules import RuleBook, Verdict

NETWORK: Final = "network"
HOSTS_DATA: Final = "hosts-data"
CONFIGURATION: Final = "configuration"

_RULES: Final[tuple[tuple[str, str, Callable[[ClusterFacts], Verdict]], ...]] = (
    (NETWORK, "machine-cidr-defined", defined.machine_cidr_defined),
    (NETWORK, "cluster-cidr-defined", defined.cluster_cidr_defined),
    (NETWORK, "service-cidr-defined", defined.service_cidr_defined),
    (NETWORK, "machine-cidr-equals-to-calculated-cidr", networks.machine_cidr_equals_to_calculated_cidr),
    (NETWORK, "api-vips-defined", defined.api_vips_defined),
    (NETWORK, "ingress-vips-defined", defined.ingress_vips_defined),
    (NETWORK, "api-vips-valid", vips.api_vips_valid),
    (NETWORK, "ingress-vips-valid", vips.ingress_vips_valid),
    (HOSTS_DATA, "all-hosts-are-ready-to-install", hosts.all_hosts_are_ready_to_install),
    (HOSTS_DATA, "sufficient-masters-count", hosts.sufficient_masters_count),
    (NETWORK, "dns-domain-defined", defined.dns_domain_defined),
    (CONFIGURATION, "pull-secret-set", defined.pull_secret_set),
    (NETWORK, "no-cidrs-overlapping", networks.no_cidrs_overlapping),
    (NETWORK, "networks-same-address-families", networks.networks_same_address_families),
    (NETWORK, "network-prefix-valid", networks.network_prefix_valid),
    (NETWORK, "network-type-valid", networks.network_type_valid),
    (NETWORK, "custom-manifests-requirements-satisfied", platform.custom_manifests_requirements_satisfied),
    (NETWORK, "ntp-server-configured", hosts.ntp_server_configured),
    (CONFIGURATION, "platform-requirements-satisfied", platform.platform_requirements_satisfied),
)

cluster_rules: Final = RuleBook[ClusterFacts]()
for _category, _rule_id, _judge in _RULES:
    cluster_rules.rule(_rule_id, category=_category)(_judge)
