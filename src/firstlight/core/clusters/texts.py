"""Sentences shown as a cluster's status_info."""

from typing import Final

from firstlight.core.clusters.headcount import count
from firstlight.core.clusters.retrying import failed_itself
from firstlight.core.clusters.situation import ClusterSituation, failed_operators
from firstlight.core.model.host_status import HostRole, HostStatus

NOT_READY: Final = "Cluster is not ready for install"
INPUT_NEEDED: Final = "User input is required before the cluster can be installed"
READY: Final = "Cluster is ready to be installed"
PREPARING: Final = "Cluster is being prepared for installation"
INSTALLING: Final = "Installation is in progress"
FINALIZING: Final = "Hosts are installed; the cluster's operators are settling"
CANCELLED: Final = "Installation was cancelled by the user"
RESET: Final = "Installation was reset by the user"
PREPARATION_TIMEOUT: Final = "The cluster did not finish its preparation in time"
HOST_STOPPED_PREPARING: Final = "A host stopped preparing for the installation"
USER_TOO_LATE: Final = "The installation waited too long for a host that needs its user"
FINALIZING_TIMEOUT: Final = "The cluster's operators did not settle in time"
INSTALLED: Final = "Cluster is installed"
ADDING_HOSTS: Final = "Cluster is ready to add hosts"
UNMONITORED: Final = "Cluster is installed without this service"


def _named(facts: ClusterSituation, status: HostStatus) -> str:
    return facts.names_of(lambda host: host.status is status) or "none"


def preparation_failed(facts: ClusterSituation) -> str:
    failed = [host for host in facts.hosts if host.status is HostStatus.PREPARING_FAILED]
    if failed:
        return f"Preparation failed on {_named(facts, HostStatus.PREPARING_FAILED)}. Mend it and install again"
    return f"Preparation of the cluster failed: {facts.cluster.preparation.reason}. Mend it and install again"


def hosts_failed(facts: ClusterSituation) -> str:
    return f"Too many hosts failed: {_named(facts, HostStatus.ERROR)}"


def waits_for_retry(facts: ClusterSituation) -> str:
    failed = facts.names_of(failed_itself) or "a failed host"
    return f"The installation waits until somebody tries {failed} again or replaces it"


def hosts_wait(facts: ClusterSituation) -> str:
    return f"Waiting for somebody to attend to {_named(facts, HostStatus.INSTALLING_PENDING_USER_ACTION)}"


def installation_timeout(facts: ClusterSituation) -> str:
    minutes = int(facts.policy.timeouts.installation.total_seconds() // 60)
    return f"The installation did not end within {minutes} minutes"


def stage_minutes(facts: ClusterSituation) -> int:
    limit = facts.finalizing_limit
    if limit is None:
        return 0
    return int((limit.soft if facts.soft else limit.hard).total_seconds() // 60)


def stage_timeout(facts: ClusterSituation) -> str:
    stage = facts.cluster.progress.finalizing_stage
    return f"Finalizing stage '{stage}' did not end within {stage_minutes(facts)} minutes"


def stage_slow(facts: ClusterSituation) -> str:
    stage = facts.cluster.progress.finalizing_stage
    return (
        f"Finalizing stage '{stage}' takes longer than {stage_minutes(facts)} minutes. "
        "Look at the cluster's operators for the reason; the installation goes on"
    )


def installed(facts: ClusterSituation) -> str:
    failed = failed_operators(facts.cluster)
    if failed:
        return f"Cluster is installed but degraded: failed operators {', '.join(failed)}"
    workers = count(facts.hosts, HostRole.WORKER)
    joined = count(facts.hosts, HostRole.WORKER, frozenset({HostStatus.INSTALLED}))
    if joined < workers:
        return f"Cluster is installed, but {workers - joined} of {workers} workers did not join"
    return INSTALLED
