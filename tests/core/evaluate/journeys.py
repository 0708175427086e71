"""A cluster driven through its life by commands and evaluations alone, in virtual time."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from firstlight.core.commands import actions, progress
from firstlight.core.commands.registration import register_again, register_new
from firstlight.core.decision import Decision, applied
from firstlight.core.evaluate import Memo, Surroundings, evaluate_cluster
from firstlight.core.hosts.stages import stages_of
from firstlight.core.model.cluster import Cluster, ClusterState, Operator
from firstlight.core.model.cluster_status import (
    ClusterStatus,
    FinalizingStage,
    OperatorKind,
    OperatorStatus,
    PreparationStatus,
)
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus, Stage
from firstlight.core.model.policy import Policy
from firstlight.core.model.reports import DiskSpeed, ImageStatus
from tests.builders.clusters import a_cluster, an_infra_env
from tests.builders.hosts import a_presence, some_reports
from tests.builders.moments import INFRA_ENV_ID, NOW, host_id

CONSOLE = Operator(name="console", kind=OperatorKind.BUILTIN)


def a_new_cluster(**changes: Any) -> Cluster:
    """As a user registers it: VIPs and domain given, nothing known of machines."""
    fresh = {
        "status": ClusterStatus.INSUFFICIENT,
        "machine_networks": (),
        "status_updated_at": NOW,
        "operators": (CONSOLE,),
    }
    return a_cluster(**fresh | changes)


class Journey:
    """Every step is checked: evaluations rest, deadlines lie ahead, percentages never fall."""

    def __init__(self, cluster: Cluster, *, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.now = NOW
        self.state = ClusterState(cluster=cluster, infra_envs={INFRA_ENV_ID: an_infra_env()})
        self.memo = Memo()
        self.events: list[str] = []
        self.effects: list[str] = []
        self.deadline: datetime | None = None

    @property
    def cluster(self) -> Cluster:
        return self.state.cluster

    @property
    def statuses(self) -> list[HostStatus]:
        return [host.host.status for host in self.state.hosts]

    def host(self, number: int) -> HostState:
        return next(host for host in self.state.hosts if host.host.id == host_id(number))

    def wait(self, **time: float) -> None:
        """Time passes; agents keep calling."""
        self.now += timedelta(**time)
        hosts = tuple(replace(host, presence=a_presence(checked_in_at=self.now)) for host in self.state.hosts)
        self.state = replace(self.state, hosts=hosts)
        self.settle()

    def settle(self) -> None:
        before = self.cluster
        around = Surroundings(policy=self.policy, now=self.now)
        decision = evaluate_cluster(self.state, around, memo=self.memo)
        assert decision == evaluate_cluster(self.state, around)
        self._carry_out(decision)
        rest = evaluate_cluster(self.state, around, memo=self.memo)
        assert replace(rest, next_deadline=None) == Decision()
        assert rest.next_deadline is None or rest.next_deadline > self.now
        self.deadline = rest.next_deadline
        if self.cluster.install_started_at == before.install_started_at:
            assert self.cluster.progress.total >= before.progress.total
        assert self.cluster.progress.total <= 99 or self.cluster.status in FINISHED

    def _carry_out(self, decision: Decision) -> None:
        self.events += [change.event.name for change in decision.changes]
        self.effects += [effect.kind for effect in decision.effects]
        self.state = applied(self.state, decision)

    def do(self, decision: Decision) -> None:
        """One request: its own decision, then what follows from it."""
        self._carry_out(decision)
        self.settle()

    def register(self, number: int) -> None:
        known = next((host for host in self.state.hosts if host.host.id == host_id(number)), None)
        infra_env = self.state.infra_envs[INFRA_ENV_ID]
        if known is None:
            self.do(register_new(host_id(number), infra_env=infra_env, cluster=self.cluster, now=self.now))
        else:
            self.do(register_again(known, infra_env=infra_env, cluster=self.cluster, policy=self.policy, now=self.now))

    def report(self, number: int, **reports: Any) -> None:
        """The agent of one host measured something."""
        hosts = tuple(
            replace(host, reports=replace(host.reports, **reports), presence=a_presence(checked_in_at=self.now))
            if host.host.id == host_id(number)
            else host
            for host in self.state.hosts
        )
        self.state = replace(self.state, hosts=hosts)

    def discover(self, numbers: Iterable[int]) -> None:
        """Machines boot, register and report; one evaluation sees everything at once."""
        numbers = tuple(numbers)
        for number in numbers:
            self.register(number)
        self.report_all(numbers)
        self.settle()

    def report_all(self, numbers: Iterable[int]) -> None:
        """Everything an agent measures before the installation, and nobody has looked at it yet."""
        for number in numbers:
            found = some_reports(number, peers=numbers)
            self.report(number, **{name: getattr(found, name) for name in found.__struct_fields__})

    def install(self) -> None:
        self.do(actions.fix_roles(self.state, now=self.now))
        self.do(actions.install_cluster(self.state, policy=self.policy, now=self.now, why_not=""))

    def prepare(self) -> None:
        """Disks are fast enough, images can be pulled, files are made."""
        for host in self.state.hosts:
            path = host.host.installation_disk_path
            self.report(
                int(host.host.id.hex[-12:], 16),
                images={"release": ImageStatus(success=True)},
                disk_speeds={path: DiskSpeed()},
            )
        ready = replace(self.cluster.preparation, status=PreparationStatus.SUCCESS)
        self.do(Decision(cluster=replace(self.cluster, preparation=ready)))

    def reach(self, number: int, stage: Stage, info: str = "") -> None:
        self.do(
            progress.report_host_progress(
                self.host(number), stage=stage, info=info, cluster=self.cluster, policy=self.policy, now=self.now
            )
        )

    def run_stages(self, number: int, *, until: Stage = Stage.DONE) -> None:
        """All stages from where the host is, in order."""
        host = self.host(number).host
        stages = stages_of(host, self.cluster, self.policy)
        done = 0 if host.progress.stage is None else stages.index(host.progress.stage) + 1
        for stage in stages[done:]:
            self.wait(seconds=20)
            self.reach(number, stage)
            if stage is until:
                return

    def finish(self) -> None:
        """What the in-cluster controller reports: stages, operators and the ingress certificate."""
        for stage in FinalizingStage:
            self.wait(minutes=2)
            self.do(progress.report_finalizing(self.cluster, stage=stage, now=self.now))
        self.do(Decision(cluster=replace(self.cluster, kubeconfig_complete=True)))
        for operator in self.cluster.operators:
            self.wait(minutes=1)
            self.do(self._operator(operator.name))

    def _operator(self, name: str) -> Decision:
        return progress.report_operator(
            self.cluster, name=name, status=OperatorStatus.AVAILABLE, info="up", version="4.18.3", now=self.now
        )

    def on_host(self, number: int, command: Callable[..., Decision]) -> None:
        self.do(command(self.host(number), cluster=self.cluster, policy=self.policy, now=self.now))


FINISHED = frozenset({ClusterStatus.INSTALLED, ClusterStatus.ADDING_HOSTS})
