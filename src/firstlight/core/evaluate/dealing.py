"""Suggesting roles: `roles.deal` with the question "does it fit?" answered by the rules themselves."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.decision import HostKey
from firstlight.core.evaluate.context import facts_of
from firstlight.core.hosts.facts import HostContext
from firstlight.core.hosts.rules.hardware import has_cpu_cores_for_role, has_memory_for_role
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostRole
from firstlight.core.operators.rules import operator_host_findings
from firstlight.core.roles import deal
from firstlight.core.rules import HOLDING

STORAGE_AND_VIRTUALIZATION: Final = frozenset({"lso", "odf", "cnv", "lvm"})
"""Operators whose needs decide whether a host can carry the control plane."""


def suggested_roles(cluster: Cluster, hosts: Sequence[HostState], context: HostContext) -> Mapping[HostKey, HostRole]:
    selected = STORAGE_AND_VIRTUALIZATION & {operator.name for operator in cluster.operators}
    wanted = frozenset(f"{name}-requirements-satisfied" for name in selected)

    def fits(host: HostState, role: HostRole) -> bool:
        facts = facts_of(host, context=context, infra_env=None, connected=True, role=role)
        if has_cpu_cores_for_role(facts).status not in HOLDING or has_memory_for_role(facts).status not in HOLDING:
            return False
        if role is not HostRole.MASTER or not wanted:
            return True
        return all(finding.holds for finding in operator_host_findings(facts) if finding.id in wanted)

    return deal(cluster, hosts, fits=fits)
