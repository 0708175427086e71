"""The features whose support is tabulated, and what people call them."""

from enum import StrEnum
from typing import Final

from firstlight.core.model.cluster_status import PlatformType


class FeatureId(StrEnum):
    SNO = "SNO"
    TNA = "TNA"
    TNF = "TNF"
    VIP_AUTO_ALLOC = "VIP_AUTO_ALLOC"
    CUSTOM_MANIFEST = "CUSTOM_MANIFEST"
    SINGLE_NODE_EXPANSION = "SINGLE_NODE_EXPANSION"
    LVM = "LVM"
    ODF = "ODF"
    LSO = "LSO"
    CNV = "CNV"
    MCE = "MCE"
    MTV = "MTV"
    OSC = "OSC"
    NUTANIX_INTEGRATION = "NUTANIX_INTEGRATION"
    BAREMETAL_PLATFORM = "BAREMETAL_PLATFORM"
    NONE_PLATFORM = "NONE_PLATFORM"
    VSPHERE_INTEGRATION = "VSPHERE_INTEGRATION"
    DUAL_STACK_VIPS = "DUAL_STACK_VIPS"
    CLUSTER_MANAGED_NETWORKING = "CLUSTER_MANAGED_NETWORKING"
    USER_MANAGED_NETWORKING = "USER_MANAGED_NETWORKING"
    MINIMAL_ISO = "MINIMAL_ISO"
    FULL_ISO = "FULL_ISO"
    EXTERNAL_PLATFORM_OCI = "EXTERNAL_PLATFORM_OCI"
    DUAL_STACK = "DUAL_STACK"
    PLATFORM_MANAGED_NETWORKING = "PLATFORM_MANAGED_NETWORKING"
    EXTERNAL_PLATFORM = "EXTERNAL_PLATFORM"
    OVN_NETWORK_TYPE = "OVN_NETWORK_TYPE"
    SDN_NETWORK_TYPE = "SDN_NETWORK_TYPE"
    CILIUM_NETWORK_TYPE = "CILIUM_NETWORK_TYPE"
    CALICO_NETWORK_TYPE = "CALICO_NETWORK_TYPE"
    CISCO_ACI_NETWORK_TYPE = "CISCO_ACI_NETWORK_TYPE"
    NONE_NETWORK_TYPE = "NONE_NETWORK_TYPE"
    NODE_FEATURE_DISCOVERY = "NODE_FEATURE_DISCOVERY"
    NVIDIA_GPU = "NVIDIA_GPU"
    PIPELINES = "PIPELINES"
    SERVICEMESH = "SERVICEMESH"
    SERVERLESS = "SERVERLESS"
    OPENSHIFT_AI = "OPENSHIFT_AI"
    NON_STANDARD_HA_CONTROL_PLANE = "NON_STANDARD_HA_CONTROL_PLANE"
    AUTHORINO = "AUTHORINO"
    USER_MANAGED_LOAD_BALANCER = "USER_MANAGED_LOAD_BALANCER"
    NMSTATE = "NMSTATE"
    AMD_GPU = "AMD_GPU"
    KMM = "KMM"
    NODE_HEALTHCHECK = "NODE_HEALTHCHECK"
    SELF_NODE_REMEDIATION = "SELF_NODE_REMEDIATION"
    FENCE_AGENTS_REMEDIATION = "FENCE_AGENTS_REMEDIATION"
    NODE_MAINTENANCE = "NODE_MAINTENANCE"
    KUBE_DESCHEDULER = "KUBE_DESCHEDULER"
    CLUSTER_OBSERVABILITY = "CLUSTER_OBSERVABILITY"
    NUMA_RESOURCES = "NUMA_RESOURCES"
    OADP = "OADP"
    METALLB = "METALLB"
    DUAL_STACK_PRIMARY_IPV6 = "DUAL_STACK_PRIMARY_IPV6"
    LOKI = "LOKI"
    OPENSHIFT_LOGGING = "OPENSHIFT_LOGGING"


F: Final = FeatureId

PLATFORM_FEATURES: Final = {
    PlatformType.BAREMETAL: F.BAREMETAL_PLATFORM,
    PlatformType.NONE: F.NONE_PLATFORM,
    PlatformType.NUTANIX: F.NUTANIX_INTEGRATION,
    PlatformType.VSPHERE: F.VSPHERE_INTEGRATION,
    PlatformType.EXTERNAL: F.EXTERNAL_PLATFORM,
}

PLATFORM_IDS: Final = frozenset({*PLATFORM_FEATURES.values(), F.EXTERNAL_PLATFORM_OCI})
"""Features that are a platform: left out of an answer about one platform."""

NETWORK_TYPE_FEATURES: Final = {
    "OVNKubernetes": F.OVN_NETWORK_TYPE,
    "OpenShiftSDN": F.SDN_NETWORK_TYPE,
    "Cilium": F.CILIUM_NETWORK_TYPE,
    "Calico": F.CALICO_NETWORK_TYPE,
    "CiscoACI": F.CISCO_ACI_NETWORK_TYPE,
    "None": F.NONE_NETWORK_TYPE,
}

TITLES: Final = {
    F.SNO: "Single Node OpenShift",
    F.TNA: "Two Nodes with Arbiter",
    F.TNF: "Two Nodes with Fencing",
    F.VIP_AUTO_ALLOC: "VIP allocation by DHCP",
    F.CUSTOM_MANIFEST: "Custom Manifests",
    F.SINGLE_NODE_EXPANSION: "Single Node Expansion",
    F.LVM: "Logical Volume Manager Storage",
    F.ODF: "OpenShift Data Foundation",
    F.LSO: "Local Storage Operator",
    F.CNV: "OpenShift Virtualization",
    F.MCE: "Multicluster Engine",
    F.MTV: "Migration Toolkit for Virtualization",
    F.OSC: "OpenShift Sandboxed Containers",
    F.NUTANIX_INTEGRATION: "Nutanix Integration",
    F.BAREMETAL_PLATFORM: "Bare Metal Platform",
    F.NONE_PLATFORM: "None Platform",
    F.VSPHERE_INTEGRATION: "vSphere Integration",
    F.DUAL_STACK_VIPS: "Dual-Stack VIPs",
    F.CLUSTER_MANAGED_NETWORKING: "Cluster Managed Networking",
    F.USER_MANAGED_NETWORKING: "User Managed Networking",
    F.MINIMAL_ISO: "Minimal ISO",
    F.FULL_ISO: "Full ISO",
    F.EXTERNAL_PLATFORM_OCI: "Oracle Cloud Infrastructure Platform",
    F.DUAL_STACK: "Dual-Stack",
    F.PLATFORM_MANAGED_NETWORKING: "Platform Managed Networking",
    F.EXTERNAL_PLATFORM: "External Platform",
    F.OVN_NETWORK_TYPE: "OVN Network Type",
    F.SDN_NETWORK_TYPE: "SDN Network Type",
    F.CILIUM_NETWORK_TYPE: "Cilium Network Type",
    F.CALICO_NETWORK_TYPE: "Calico Network Type",
    F.CISCO_ACI_NETWORK_TYPE: "Cisco ACI Network Type",
    F.NONE_NETWORK_TYPE: "No Network Type",
    F.NODE_FEATURE_DISCOVERY: "Node Feature Discovery",
    F.NVIDIA_GPU: "NVIDIA GPU",
    F.PIPELINES: "OpenShift Pipelines",
    F.SERVICEMESH: "OpenShift Service Mesh",
    F.SERVERLESS: "OpenShift Serverless",
    F.OPENSHIFT_AI: "OpenShift AI",
    F.NON_STANDARD_HA_CONTROL_PLANE: "Non-Standard Control Plane Size",
    F.AUTHORINO: "Authorino",
    F.USER_MANAGED_LOAD_BALANCER: "User Managed Load Balancer",
    F.NMSTATE: "Kubernetes NMState",
    F.AMD_GPU: "AMD GPU",
    F.KMM: "Kernel Module Management",
    F.NODE_HEALTHCHECK: "Node Health Check",
    F.SELF_NODE_REMEDIATION: "Self Node Remediation",
    F.FENCE_AGENTS_REMEDIATION: "Fence Agents Remediation",
    F.NODE_MAINTENANCE: "Node Maintenance",
    F.KUBE_DESCHEDULER: "Kube Descheduler",
    F.CLUSTER_OBSERVABILITY: "Cluster Observability",
    F.NUMA_RESOURCES: "NUMA Resources",
    F.OADP: "OpenShift API for Data Protection",
    F.METALLB: "MetalLB",
    F.DUAL_STACK_PRIMARY_IPV6: "Dual-Stack with primary IPv6",
    F.LOKI: "Loki",
    F.OPENSHIFT_LOGGING: "OpenShift Logging",
}
