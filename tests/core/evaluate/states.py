"""Arbitrary clusters in arbitrary states, for properties of the evaluation."""

from datetime import datetime, timedelta

from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.model.cluster import ClusterProgress, ClusterState, Operator, Preparation
from firstlight.core.model.cluster_status import (
    ClusterKind,
    ClusterStatus,
    FinalizingStage,
    OperatorKind,
    OperatorStatus,
    PreparationStatus,
)
from firstlight.core.model.host import HostState, Progress
from firstlight.core.model.host_status import HostKind, HostRole, HostStatus, LogsState, MediaStatus, Stage
from firstlight.core.model.policy import Policy, Timeouts
from firstlight.core.model.reports import DiskSpeed, ImageStatus
from tests.builders.clusters import cluster_state
from tests.builders.hosts import a_presence, host_state, some_reports
from tests.builders.inventories import an_inventory
from tests.builders.moments import NOW


def moments() -> st.SearchStrategy[datetime]:
    return st.integers(min_value=0, max_value=30 * 3600).map(lambda seconds: NOW - timedelta(seconds=seconds))


def _progress() -> st.SearchStrategy[Progress]:
    return st.one_of(
        st.just(Progress()),
        st.builds(
            lambda stage, at, paused, told: Progress(
                stage=stage, started_at=at, updated_at=at, paused_since=NOW if paused else None, timed_out=told
            ),
            st.sampled_from([stage for stage in Stage if stage is not Stage.FAILED]),
            moments(),
            st.booleans(),
            st.booleans(),
        ),
    )


POOL = {
    HostStatus.RECLAIMING,
    HostStatus.RECLAIMING_REBOOTING,
    HostStatus.UNBINDING,
    HostStatus.UNBINDING_PENDING_USER_ACTION,
}
BOUND = [status for status in HostStatus if "unbound" not in status and status not in POOL]


@st.composite
def hosts(draw: st.DrawFn, number: int, *, day_two: bool) -> HostState:
    reports = some_reports(
        number,
        peers=draw(st.sets(st.integers(1, 5), max_size=5)),
        inventory=draw(st.sampled_from([an_inventory(number), an_inventory(number, cpu_count=1), None])),
        images=draw(st.sampled_from([None, {"a": ImageStatus(success=True)}, {"a": ImageStatus(success=False)}])),
        disk_speeds=draw(
            st.sampled_from([None, {"/dev/sda": DiskSpeed(exit_code=0)}, {"/dev/sda": DiskSpeed(exit_code=1)}])
        ),
    )
    return host_state(
        number,
        presence=a_presence(checked_in_at=draw(moments())),
        reports=reports,
        status=draw(st.sampled_from(BOUND)),
        status_updated_at=draw(moments()),
        registered_at=NOW - timedelta(hours=40),
        role=draw(st.sampled_from([HostRole.AUTO_ASSIGN, HostRole.MASTER, HostRole.WORKER, HostRole.ARBITER])),
        suggested_role=draw(st.sampled_from([None, HostRole.MASTER, HostRole.WORKER])),
        bootstrap=draw(st.booleans()),
        progress=draw(_progress()),
        media=draw(st.sampled_from(MediaStatus)),
        logs=draw(st.sampled_from(LogsState)),
        connection_timed_out=draw(st.booleans()),
        tries=draw(st.sampled_from([0, 0, 1])),
        kept_status=draw(
            st.sampled_from(
                [None, None, HostStatus.INSTALLING, HostStatus.INSTALLING_IN_PROGRESS, HostStatus.INSTALLED]
            )
        ),
        kind=HostKind.DAY_TWO if day_two else HostKind.HOST,
    )


@st.composite
def states(draw: st.DrawFn) -> ClusterState:
    status = draw(st.sampled_from(ClusterStatus))
    day_two = status is ClusterStatus.ADDING_HOSTS
    numbers = range(1, draw(st.integers(0, 5)) + 1)
    state = cluster_state(hosts=tuple(draw(hosts(number, day_two=day_two)) for number in numbers))
    dhcp = draw(st.booleans())
    return replace(
        state,
        cluster=replace(
            state.cluster,
            status=status,
            kind=ClusterKind.ADD_HOSTS if day_two else ClusterKind.CLUSTER,
            status_updated_at=draw(moments()),
            install_started_at=draw(st.one_of(st.none(), moments())),
            vip_dhcp_allocation=dhcp,
            api_vips=() if dhcp else ("192.0.2.5",),
            ingress_vips=() if dhcp else ("192.0.2.6",),
            machine_networks=draw(st.sampled_from([(), ("192.0.2.0/24",)])),
            control_plane_count=draw(st.sampled_from([1, 2, 3])),
            soft_timeouts=draw(st.booleans()),
            retry_until=draw(st.one_of(st.none(), moments().map(lambda at: at + timedelta(hours=2)))),
            kubeconfig_complete=draw(st.booleans()),
            logs=draw(st.sampled_from(LogsState)),
            preparation=Preparation(status=draw(st.sampled_from(PreparationStatus)), attempt=1),
            operators=draw(
                st.sampled_from(
                    [
                        (),
                        (Operator(name="console", kind=OperatorKind.BUILTIN, status=OperatorStatus.AVAILABLE),),
                    ]
                )
            ),
            progress=draw(
                st.one_of(
                    st.just(ClusterProgress()),
                    st.builds(
                        lambda stage, at: ClusterProgress(finalizing_stage=stage, finalizing_stage_started_at=at),
                        st.sampled_from(FinalizingStage),
                        moments(),
                    ),
                )
            ),
        ),
    )


def policies() -> st.SearchStrategy[Policy]:
    return st.builds(
        lambda soft, grace: Policy(soft_timeouts=soft, timeouts=Timeouts(host_retry_grace=timedelta(hours=grace))),
        st.booleans(),
        st.integers(0, 2),
    )
