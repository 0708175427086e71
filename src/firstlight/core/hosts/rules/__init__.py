"""The checks of a host, one file per topic, and the order in which they are shown."""

from collections.abc import Callable
from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules import (
    connection,
    dns,
    downloads,
    encryption,
    groups,
    hardware,
    identity,
    naming,
    network,
    paths,
    platform,
    storage,
)
from firstlight.core.rules import RuleBook, Verdict

NETWORK, HARDWARE = "network", "hardware"
OURS: Final = "identity"
"""A category the original does not have: v2 does not show it, and no guard waits for it."""

IN_ORDER: Final[tuple[tuple[str, str, Callable[[HostFacts], Verdict]], ...]] = (
    ("connected", NETWORK, connection.connected),
    ("media-connected", NETWORK, connection.media_connected),
    ("has-inventory", HARDWARE, hardware.has_inventory),
    ("inventory-not-partially-truncated", HARDWARE, hardware.inventory_not_partially_truncated),
    ("inventory-not-fully-truncated", HARDWARE, hardware.inventory_not_fully_truncated),
    ("has-min-cpu-cores", HARDWARE, hardware.has_min_cpu_cores),
    ("has-min-memory", HARDWARE, hardware.has_min_memory),
    ("has-min-valid-disks", HARDWARE, storage.has_min_valid_disks),
    ("machine-cidr-defined", NETWORK, network.machine_cidr_defined),
    ("has-cpu-cores-for-role", HARDWARE, hardware.has_cpu_cores_for_role),
    ("has-memory-for-role", HARDWARE, hardware.has_memory_for_role),
    ("hostname-unique", HARDWARE, naming.hostname_unique),
    ("belongs-to-machine-cidr", NETWORK, network.belongs_to_machine_cidr),
    ("hostname-valid", HARDWARE, naming.hostname_valid),
    ("ignition-downloadable", NETWORK, downloads.ignition_downloadable),
    ("belongs-to-majority-group", NETWORK, groups.belongs_to_majority_group),
    ("mtu-valid", NETWORK, paths.mtu_valid),
    ("valid-platform-network-settings", NETWORK, platform.valid_platform_network_settings),
    ("ntp-synced", NETWORK, connection.ntp_synced),
    ("time-synced-between-host-and-service", NETWORK, connection.time_synced_between_host_and_service),
    ("container-images-available", NETWORK, downloads.container_images_available),
    ("sufficient-installation-disk-speed", HARDWARE, storage.sufficient_installation_disk_speed),
    (
        "sufficient-network-latency-requirement-for-role",
        NETWORK,
        paths.sufficient_network_latency_requirement_for_role,
    ),
    ("sufficient-packet-loss-requirement-for-role", NETWORK, paths.sufficient_packet_loss_requirement_for_role),
    ("has-default-route", NETWORK, network.has_default_route),
    ("api-domain-name-resolved-correctly", NETWORK, dns.api_domain_name_resolved_correctly),
    ("api-int-domain-name-resolved-correctly", NETWORK, dns.api_int_domain_name_resolved_correctly),
    ("apps-domain-name-resolved-correctly", NETWORK, dns.apps_domain_name_resolved_correctly),
    ("compatible-with-cluster-platform", HARDWARE, platform.compatible_with_cluster_platform),
    ("dns-wildcard-not-configured", NETWORK, dns.dns_wildcard_not_configured),
    ("disk-encryption-requirements-satisfied", HARDWARE, encryption.disk_encryption_requirements_satisfied),
    ("non-overlapping-subnets", NETWORK, network.non_overlapping_subnets),
    ("vsphere-disk-uuid-enabled", HARDWARE, storage.vsphere_disk_uuid_enabled),
    ("compatible-agent", HARDWARE, connection.compatible_agent),
    ("no-skip-installation-disk", HARDWARE, storage.no_skip_installation_disk),
    ("no-skip-missing-disk", HARDWARE, storage.no_skip_missing_disk),
    ("no-ip-collisions-in-network", NETWORK, network.no_ip_collisions_in_network),
    ("no-iscsi-nic-belongs-to-machine-cidr", NETWORK, storage.no_iscsi_nic_belongs_to_machine_cidr),
    ("identity-unique", OURS, identity.identity_unique),
)
"""A check's id is its function's name with dashes."""

host_rules: Final = RuleBook[HostFacts]()
for _rule_id, _category, _judge in IN_ORDER:
    host_rules.rule(_rule_id, category=_category)(_judge)
