"""Published enumerations that requests are checked against.

Those that appear in requests only are literals, so the type checker knows them; those that also appear in answers are
plain strings limited at decoding, so that our own enums can be written there.
"""

from typing import Annotated, Literal

from firstlight.core.wire.shape import one_of

HighAvailabilityMode = Literal["Full", "None"]
Hyperthreading = Literal[
    "none",
    "masters",
    "arbiters",
    "workers",
    "masters,arbiters",
    "masters,workers",
    "arbiters,workers",
    "masters,arbiters,workers",
    "all",
]
NetworkType = Literal["OpenShiftSDN", "OVNKubernetes", "CiscoACI", "Cilium", "Calico", "None"]
CpuArchitecture = Literal["x86_64", "aarch64", "arm64", "ppc64le", "s390x"]
ReleaseArchitecture = Literal["x86_64", "aarch64", "arm64", "ppc64le", "s390x", "multi"]
ImageType = Literal["full-iso", "minimal-iso", "disconnected-iso"]
KernelArgumentOperation = Literal["append", "replace", "delete"]
DiskRole = Literal["none", "install"]
HostRoleChoice = Literal["auto-assign", "master", "arbiter", "worker"]
CertificateVerification = Literal["Enabled", "Disabled"]
ManifestFolder = Literal["manifests", "openshift"]
OperatorStatus = Literal["failed", "progressing", "available"]
LogsState = Literal["requested", "collecting", "completed", "timeout", ""]
EventSeverity = Literal["info", "warning", "error", "critical"]
EventCategory = Literal["user", "metrics"]
FinalizingStage = Literal[
    "Waiting for cluster operators",
    "Adding router ca",
    "Applying olm manifests",
    "Waiting for olm operators csv initialization",
    "Waiting for olm operators csv",
    "Waiting for OLM operator setup jobs",
    "Done",
]
HostStage = Literal[
    "Starting installation",
    "Waiting for control plane",
    "Waiting for bootkube",
    "Waiting for controller",
    "Installing",
    "Writing image to disk",
    "Copying registry data to disk",
    "Rebooting",
    "Waiting for ignition",
    "Configuring",
    "Joined",
    "Done",
    "Failed",
]
StepType = Literal[
    "connectivity-check",
    "execute",
    "inventory",
    "install",
    "free-network-addresses",
    "dhcp-lease-allocate",
    "api-vip-connectivity-check",
    "tang-connectivity-check",
    "ntp-synchronizer",
    "installation-disk-speed-check",
    "container-image-availability",
    "domain-resolution",
    "stop-installation",
    "logs-gather",
    "next-step-runner",
    "upgrade-agent",
    "download-boot-artifacts",
    "reboot-for-reclaim",
    "verify-vips",
]

PlatformType = Annotated[str, one_of("baremetal", "nutanix", "vsphere", "none", "external")]
CloudControllerManager = Annotated[str, one_of("", "External")]
LoadBalancerType = Annotated[str, one_of("cluster-managed", "user-managed")]
VipVerification = Annotated[str, one_of("unverified", "failed", "succeeded")]
DiskEncryptionMode = Annotated[str, one_of("tpmv2", "tang")]
DiskEncryptionRoles = Annotated[
    str,
    one_of(
        "none",
        "masters",
        "arbiters",
        "workers",
        "masters,arbiters",
        "masters,workers",
        "arbiters,workers",
        "masters,arbiters,workers",
        "all",
    ),
]
