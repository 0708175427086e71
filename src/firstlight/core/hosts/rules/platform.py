"""Whether the machine suits the platform the cluster is installed on."""

from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import NO_INVENTORY, change_cluster, refused
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.rules import SUPPRESSED, Fix, Verdict, errored, passed

VMWARE: Final = "VMware, Inc."
NUTANIX: Final = "Nutanix"
ORACLE: Final = "OracleCloud.com"
ORACLE_PLATFORM: Final = "oci"
OPENSTACK_PRODUCT: Final = "OpenStack Compute"


def compatible_with_cluster_platform(facts: HostFacts) -> Verdict:
    cluster = facts.context.cluster
    if cluster is None:
        return SUPPRESSED
    if facts.reports.inventory is None:
        return NO_INVENTORY
    wanted = required_manufacturer(cluster.platform)
    vendor = facts.reports.inventory.vendor
    found = "" if vendor is None else vendor.manufacturer
    if wanted is None or found == wanted:
        return passed(f"The host can be part of a cluster on the platform {cluster.platform.type}.")
    generic = PlatformType.NONE if cluster.user_managed_networking else PlatformType.BAREMETAL
    return refused(
        facts,
        f"On the platform {cluster.platform.type} every host must be made by {wanted}; this one is made by"
        f" {found or 'nobody known'}. Choose another platform or another host.",
        cause="wrong-platform",
        evidence={"platform": cluster.platform.type.value, "manufacturer": found, "needed": wanted},
        fixes=(change_cluster(f"Use the platform {generic}", platform={"type": generic.value}),),
    )


def valid_platform_network_settings(facts: HostFacts) -> Verdict:
    if facts.reports.inventory is None:
        return NO_INVENTORY
    vendor = facts.reports.inventory.vendor
    if vendor is None:
        return errored("The inventory does not say who made the machine.", cause="no-vendor")
    cluster = facts.context.cluster
    if vendor.product_name != OPENSTACK_PRODUCT:
        return passed("The machine goes with every kind of networking.")
    if cluster is None:
        return SUPPRESSED
    if cluster.user_managed_networking or cluster.is_single_node:
        return passed("The machine goes with user-managed networking.")
    return refused(
        facts,
        f"Hosts of the kind {OPENSTACK_PRODUCT} can only be installed as a single node or with user-managed"
        " networking.",
        cause="needs-user-managed-networking",
        evidence={"product_name": vendor.product_name},
        fixes=_user_managed(cluster.platform),
    )


def _user_managed(platform: Platform) -> tuple[Fix, ...]:
    # Nutanix clusters always keep their own network: such a request would be refused until the platform is another.
    if platform.type is PlatformType.NUTANIX:
        return ()
    return (change_cluster("Manage the network yourself", user_managed_networking=True),)


def required_manufacturer(platform: Platform) -> str | None:
    """Who must have made the machines of a platform; None when anybody may."""
    match platform.type:
        case PlatformType.VSPHERE:
            return VMWARE
        case PlatformType.NUTANIX:
            return NUTANIX
        case PlatformType.EXTERNAL if platform.external_name == ORACLE_PLATFORM:
            return ORACLE
        case _:
            return None
