"""Which steps a host's agent is to run next, by status, and how soon it is to ask again.

The tables are those agents have always been served. The rhythm is faster than it was while an answer is missing that
somebody waits for, and while something fails that may be mended at any moment; it depends on facts alone, so that equal
facts give equal plans.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.plan import Step, StepPlan, StepType
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import REPORT_FIELDS
from firstlight.core.steps import arguments, install_arguments
from firstlight.core.steps.inputs import NO_INPUTS, StepInputs
from firstlight.core.steps.occasion import Neighbourhood, Occasion, has_seen_all, neighbourhood_of
from firstlight.core.steps.replies import REPORT_OF

S, T = HostStatus, StepType

SOON_SECONDS: Final = 5
"""Something is about to happen, though not by this host's doing."""
AWAITED_SECONDS: Final = 2
"""A report is missing that a decision waits for; large clusters are given more time."""
HOSTS_PER_EXTRA_SECOND: Final = 50


class Row(Struct, frozen=True):
    steps: tuple[StepType, ...] = ()
    calm: bool = False
    """Nothing is hurried here: twice the usual interval."""
    exit: bool = False
    soon: bool = False


_CHECKS: Final = (T.CONNECTIVITY_CHECK, T.TANG, T.FREE_ADDRESSES, T.DHCP_LEASE)
_NAMES: Final = (T.NTP, T.DOMAIN_RESOLUTION)
_OVER: Final = Row((T.LOGS_GATHER, T.STOP_INSTALLATION), calm=True)
NOTHING: Final = Row()

DAY_ONE: Final[Mapping[HostStatus, Row]] = {
    S.DISCOVERING: Row((T.INVENTORY,)),
    S.KNOWN: Row((*_CHECKS, T.INVENTORY, *_NAMES, T.VERIFY_VIPS)),
    S.INSUFFICIENT: Row((T.INVENTORY, *_CHECKS, *_NAMES, T.VERIFY_VIPS)),
    S.PENDING_FOR_INPUT: Row((T.INVENTORY, *_CHECKS, *_NAMES, T.VERIFY_VIPS)),
    S.DISCONNECTED: Row((T.INVENTORY,), calm=True),
    S.PREPARING_FOR_INSTALLATION: Row((T.DHCP_LEASE, T.DISK_SPEED, T.IMAGE_AVAILABILITY), soon=True),
    S.PREPARING_SUCCESSFUL: Row(soon=True),
    S.INSTALLING: Row((T.INSTALL, T.DHCP_LEASE), soon=True),
    S.INSTALLING_IN_PROGRESS: Row((T.DHCP_LEASE,)),
    S.DISABLED: Row(calm=True),
    S.RESETTING: Row(calm=True),
    S.ERROR: _OVER,
    S.CANCELLED: _OVER,
    S.BINDING: Row(exit=True),
}
DAY_TWO: Final[Mapping[HostStatus, Row]] = {
    S.DISCOVERING: Row((T.INVENTORY, *_NAMES)),
    S.KNOWN: Row((T.CONNECTIVITY_CHECK, T.API_VIP, T.TANG, T.INVENTORY, *_NAMES)),
    S.INSUFFICIENT: Row((T.INVENTORY, T.CONNECTIVITY_CHECK, T.API_VIP, T.TANG, *_NAMES)),
    S.PENDING_FOR_INPUT: Row((T.INVENTORY, T.CONNECTIVITY_CHECK, T.API_VIP, T.TANG)),
    S.DISCONNECTED: Row((T.INVENTORY,), calm=True),
    S.INSTALLING: Row((T.INSTALL,), soon=True),
    S.DISABLED: Row(calm=True),
    S.RESETTING: Row(calm=True),
    S.ERROR: _OVER,
    S.CANCELLED: _OVER,
    S.BINDING: Row(exit=True),
}
POOL: Final[Mapping[HostStatus, Row]] = {
    S.DISCOVERING_UNBOUND: Row((T.INVENTORY, T.NTP)),
    S.INSUFFICIENT_UNBOUND: Row((T.INVENTORY, T.NTP)),
    S.KNOWN_UNBOUND: Row((T.INVENTORY, T.NTP)),
    S.DISCONNECTED_UNBOUND: Row((T.INVENTORY,), calm=True),
    S.DISABLED_UNBOUND: Row(calm=True),
    S.UNBINDING: Row(exit=True),
    S.UNBINDING_PENDING_USER_ACTION: Row(exit=True),
    S.RECLAIMING: Row((T.DOWNLOAD_BOOT_ARTIFACTS,), soon=True),
    S.RECLAIMING_REBOOTING: Row((T.REBOOT_FOR_RECLAIM,), calm=True, exit=True),
}
UPGRADABLE: Final = frozenset(
    {
        S.BINDING,
        S.DISCOVERING,
        S.INSUFFICIENT,
        S.KNOWN,
        S.PENDING_FOR_INPUT,
        S.DISCOVERING_UNBOUND,
        S.INSUFFICIENT_UNBOUND,
        S.KNOWN_UNBOUND,
    }
)

BUILDERS: Final[Mapping[StepType, Callable[[Occasion], Step | None]]] = {
    T.INVENTORY: arguments.inventory,
    T.CONNECTIVITY_CHECK: arguments.connectivity_check,
    T.FREE_ADDRESSES: arguments.free_addresses,
    T.DHCP_LEASE: arguments.dhcp_lease,
    T.API_VIP: arguments.api_vip,
    T.TANG: arguments.tang,
    T.NTP: arguments.ntp,
    T.DISK_SPEED: arguments.disk_speed,
    T.IMAGE_AVAILABILITY: arguments.image_availability,
    T.DOMAIN_RESOLUTION: arguments.domain_resolution,
    T.VERIFY_VIPS: arguments.verify_vips,
    T.INSTALL: install_arguments.install,
    T.STOP_INSTALLATION: install_arguments.stop_installation,
    T.LOGS_GATHER: install_arguments.logs_gather,
    T.UPGRADE_AGENT: install_arguments.upgrade_agent,
    T.DOWNLOAD_BOOT_ARTIFACTS: install_arguments.download_boot_artifacts,
    T.REBOOT_FOR_RECLAIM: install_arguments.reboot_for_reclaim,
}

UNAWAITED: Final = frozenset({T.NTP, T.FREE_ADDRESSES})
"""Their reports hurry nobody: one only informs, the other stands in for a check that is asked for by name."""
SENT_WHILE_MISSING: Final = frozenset({T.DISK_SPEED, T.IMAGE_AVAILABILITY})
"""Sent only until their report has come."""


def plan_steps(
    state: ClusterState | None,
    member: HostState,
    *,
    policy: Policy,
    inputs: StepInputs = NO_INPUTS,
    infra_env: InfraEnv | None = None,
    neighbourhood: Neighbourhood | None = None,
    inline_peers: bool = True,
) -> StepPlan:
    """The plan of one host: `state` is its cluster, None in the pool.

    `infra_env` is needed for pool hosts only. Whoever plans for many hosts of one cluster passes the `neighbourhood`
    once computed for all. In large clusters the peers are better not repeated in every plan: without `inline_peers` the
    connectivity step carries the neighbourhood's digest, and `Neighbourhood.without` gives the text when it is served.
    """
    if state is not None:
        infra_env = state.infra_envs.get(member.host.infra_env_id, infra_env)
        neighbourhood = neighbourhood_of(state) if neighbourhood is None else neighbourhood
    occasion = Occasion(
        member=member,
        policy=policy,
        inputs=inputs,
        infra_env=infra_env,
        state=state,
        neighbourhood=neighbourhood or Neighbourhood(),
        inline_peers=inline_peers,
    )
    if _is_outdated(member, policy):
        return StepPlan(
            steps=(install_arguments.upgrade_agent(occasion),), next_instruction_seconds=policy.poll_seconds
        )
    row = row_of(state, member)
    allowed = [BUILDERS[kind] for kind in row.steps if kind not in policy.disabled_steps]
    hurry = occasion.neighbourhood.hurry(member.host.id, usual=policy.poll_seconds)
    built = [step for step in (build(occasion) for build in allowed) if step is not None]
    steps = tuple([replace(step, again_seconds=hurry.get(step.type, 0)) for step in built] if hurry else built)
    return StepPlan(steps=steps, next_instruction_seconds=_seconds(row, steps, occasion), exit=row.exit)


def row_of(state: ClusterState | None, member: HostState) -> Row:
    host = member.host
    table = POOL if state is None else DAY_TWO if host.is_day_two else DAY_ONE
    return table.get(host.status, NOTHING)


def _is_outdated(member: HostState, policy: Policy) -> bool:
    return (
        policy.upgrade_agent
        and T.UPGRADE_AGENT not in policy.disabled_steps
        and member.host.status in UPGRADABLE
        and member.presence.agent_version != policy.agent_image
    )


def _seconds(row: Row, steps: tuple[Step, ...], occasion: Occasion) -> int:
    usual = occasion.policy.poll_seconds
    if row.calm:
        return 2 * usual
    if row.exit:
        return 0
    if any(_is_awaited(step, occasion) for step in steps):
        crowd = occasion.neighbourhood.host_count // HOSTS_PER_EXTRA_SECOND
        return min(usual, AWAITED_SECONDS + crowd)
    if row.soon or (row.steps and occasion.neighbourhood.forming):
        return min(usual, SOON_SECONDS)
    return min([usual, *(step.again_seconds for step in steps if step.again_seconds)])


def _is_awaited(step: Step, occasion: Occasion) -> bool:
    """Whether somebody waits for what this step will tell."""
    if step.type in SENT_WHILE_MISSING:
        return True
    reports, kind = occasion.member.reports, REPORT_OF.get(step.type)
    if kind is None or step.type in UNAWAITED:
        return False
    if step.type is T.CONNECTIVITY_CHECK:
        return not has_seen_all(occasion.member, neighbourhood=occasion.neighbourhood)
    if step.type is T.VERIFY_VIPS and occasion.cluster is not None:
        known = reports.vips or {}
        return any(vip not in known for vip in (*occasion.cluster.api_vips, *occasion.cluster.ingress_vips))
    return getattr(reports, REPORT_FIELDS[kind]) is None
