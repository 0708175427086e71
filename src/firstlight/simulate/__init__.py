"""Fleets of simulated machines that speak only the wire API, as agent, installer and controller would."""

from firstlight.simulate.ends import Snapshot, all_known, cluster_is, everything_registered
from firstlight.simulate.fleet import Fleet, Result
from firstlight.simulate.machines import Machine, Plan, make_machines
from firstlight.simulate.scenarios import Scenario, parse_scenario

__all__ = [
    "Fleet",
    "Machine",
    "Plan",
    "Result",
    "Scenario",
    "Snapshot",
    "all_known",
    "cluster_is",
    "everything_registered",
    "make_machines",
    "parse_scenario",
]
