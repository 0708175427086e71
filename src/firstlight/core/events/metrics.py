"""Numbers kept beside the events people read: no name, a dotted key in place of the sentence."""

from dataclasses import dataclass

from firstlight.core.events.event import Category, ClusterEvent, HostEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstallationResults(ClusterEvent):
    category = Category.METRICS
    template = "cluster.installation.results"

    result: str
    duration: float
    openshift_version: str
    hosts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStageDuration(HostEvent):
    category = Category.METRICS
    template = "host.stage.duration"

    host_stage: str
    host_role: str
    result: str
    duration: float
    vendor: str
    product: str
    disk_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemoryAndCpu(HostEvent):
    category = Category.METRICS
    template = "host.mem.cpu"

    host_result: str
    core_count: int
    mem_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSizeAndType(HostEvent):
    category = Category.METRICS
    template = "disk.size.type"

    host_result: str
    disk_type: str
    disk_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NicSpeed(HostEvent):
    category = Category.METRICS
    template = "nic.speed"

    host_result: str
    nic_speed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowHost(HostEvent):
    """Deciding about one host took longer than it should."""

    category = Category.METRICS
    template = "host_monitor.slow_host"

    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCluster(ClusterEvent):
    """Deciding about one cluster took longer than it should."""

    category = Category.METRICS
    template = "cluster_monitor.slow_cluster"

    duration: float
