"""The words of a cluster's life."""

from enum import StrEnum
from typing import Final


class ClusterStatus(StrEnum):
    INSUFFICIENT = "insufficient"
    """Some blocking check fails."""
    PENDING_FOR_INPUT = "pending-for-input"
    """The user still owes an answer."""
    READY = "ready"
    PREPARING_FOR_INSTALLATION = "preparing-for-installation"
    INSTALLING = "installing"
    INSTALLING_PENDING_USER_ACTION = "installing-pending-user-action"
    FINALIZING = "finalizing"
    """Enough hosts are installed; operators settle."""
    INSTALLED = "installed"
    ADDING_HOSTS = "adding-hosts"
    """Day 2."""
    ERROR = "error"
    CANCELLED = "cancelled"
    UNMONITORED = "unmonitored"
    """Disconnected clusters: a record, nothing more."""


C = ClusterStatus
BEFORE_INSTALLATION: Final = frozenset({C.INSUFFICIENT, C.PENDING_FOR_INPUT, C.READY})
UPDATABLE: Final = BEFORE_INSTALLATION | {C.ADDING_HOSTS}
"""Statuses in which the cluster may be changed and new hosts may join."""


class ClusterKind(StrEnum):
    CLUSTER = "Cluster"
    ADD_HOSTS = "AddHostsCluster"
    DISCONNECTED = "DisconnectedCluster"


class PlatformType(StrEnum):
    BAREMETAL = "baremetal"
    NUTANIX = "nutanix"
    VSPHERE = "vsphere"
    NONE = "none"
    EXTERNAL = "external"


class PreparationStatus(StrEnum):
    NOT_STARTED = "not_started"
    FAILED = "failed"
    SUCCESS = "success"


class FinalizingStage(StrEnum):
    """Steps of the in-cluster controller, exactly as it reports them."""

    CLUSTER_OPERATORS = "Waiting for cluster operators"
    ROUTER_CA = "Adding router ca"
    OLM_MANIFESTS = "Applying olm manifests"
    OLM_CSV_INITIALIZATION = "Waiting for olm operators csv initialization"
    OLM_CSV = "Waiting for olm operators csv"
    OLM_SETUP_JOBS = "Waiting for OLM operator setup jobs"
    DONE = "Done"


class OperatorKind(StrEnum):
    BUILTIN = "builtin"
    OLM = "olm"


class OperatorStatus(StrEnum):
    AVAILABLE = "available"
    PROGRESSING = "progressing"
    FAILED = "failed"


class LoadBalancer(StrEnum):
    CLUSTER_MANAGED = "cluster-managed"
    USER_MANAGED = "user-managed"


class EncryptionMode(StrEnum):
    TPM2 = "tpmv2"
    TANG = "tang"
