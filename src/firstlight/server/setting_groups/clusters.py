"""What new clusters start with, and what they are held to."""

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import CommaList


class ClusterSettings(SettingGroup):
    cluster_network_cidr: str = also("CLUSTER_NETWORK_CIDR", "CLUSTER_NETWORK_CIDR", default="10.128.0.0/14")
    """Network of the pods when the user names none."""
    cluster_network_host_prefix: int = also(
        "CLUSTER_NETWORK_HOST_PREFIX", "CLUSTER_NETWORK_HOST_PREFIX", default=23, ge=1, le=128
    )
    """How much of it each node gets."""
    service_network_cidr: str = also("SERVICE_NETWORK_CIDR", "SERVICE_NETWORK_CIDR", default="172.30.0.0/16")
    """Network of the services when the user names none."""
    cluster_network_cidr_ipv6: str = also("CLUSTER_NETWORK_CIDR_IPV6", "CLUSTER_NETWORK_CIDR_IPV6", default="fd01::/48")
    """The same for IPv6 pods."""
    cluster_network_host_prefix_ipv6: int = also(
        "CLUSTER_NETWORK_HOST_PREFIX_IPV6", "CLUSTER_NETWORK_HOST_PREFIX_IPV6", default=64, ge=1, le=128
    )
    """How much of it each node gets."""
    service_network_cidr_ipv6: str = also(
        "SERVICE_NETWORK_CIDR_IPV6", "SERVICE_NETWORK_CIDR_IPV6", default="fd02::/112"
    )
    """The same for IPv6 services."""
    ntp_default_server: str = also("NTP_DEFAULT_SERVER", "NTP_DEFAULT_SERVER", default="")
    """Comma list of time servers every new cluster starts with."""
    base_dns_domains: str = also("BASE_DNS_DOMAINS", "BASE_DNS_DOMAINS", default="")
    """Domains the service may write in: `domain:id/provider,…`."""
    hardware_requirements: str = also("HARDWARE_REQUIREMENTS", "HW_VALIDATOR_REQUIREMENTS", default="")
    """JSON list of hardware minima by version; gaps are filled from its `default`."""
    edge_workers_product_names: CommaList = also(
        "EDGE_WORKERS_PRODUCT_NAMES", "EDGE_WORKERS_PRODUCT_NAMES", default=("BlueField SoC",)
    )
    """Products that are taken for edge workers, with smaller minima."""
    disabled_host_validations: CommaList = also("DISABLED_HOST_VALIDATIONS", "DISABLED_HOST_VALIDATIONS", default=())
    """Ids of host checks that are not made."""
    disabled_cluster_validations: CommaList = also(
        "DISABLED_CLUSTER_VALIDATIONS", "DISABLED_CLUSTER_VALIDATIONS", default=()
    )
    """Ids of cluster checks that are not made."""
    auto_assign: bool = also("AUTO_ASSIGN", "ENABLE_AUTO_ASSIGN", default=True)
    """Suggest roles for hosts whose role is `auto-assign`."""
    skip_mco_reboot: bool = also("SKIP_MCO_REBOOT", "ENABLE_SKIP_MCO_REBOOT", default=True)
    """Spare installed hosts the second reboot where the release can."""
    virtual_interfaces: bool = also("VIRTUAL_INTERFACES", "ENABLE_VIRTUAL_INTERFACES", default=False)
    """Take virtual interfaces of hosts into account."""
    check_cluster_version: bool = also("CHECK_CLUSTER_VERSION", "CHECK_CLUSTER_VERSION", default=False)
    """Have the controller wait for the cluster version operator."""
    single_node_dnsmasq: bool = also("SINGLE_NODE_DNSMASQ", "ENABLE_SINGLE_NODE_DNSMASQ", default=True)
    """Let a single node answer its own names."""
    ipv6_support: bool = also("IPV6_SUPPORT", "IPV6_SUPPORT", default=True)
    """Accept IPv6 networks."""
    tna_clusters_support: bool = also("TNA_CLUSTERS_SUPPORT", "TNA_CLUSTERS_SUPPORT", default=True)
    """Accept two control-plane nodes with an arbiter."""
    tnf_clusters_support: bool = also("TNF_CLUSTERS_SUPPORT", "TNF_CLUSTERS_SUPPORT", default=False)
    """Accept two control-plane nodes that can fence each other."""
