"""What leases of the virtual addresses make of a cluster."""

from datetime import timedelta
from typing import Any

import pytest

from firstlight.core.commands.vip_leases import take_leases
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.core.steps.leases import VipLeases
from tests.builders.clusters import a_cluster
from tests.builders.moments import NOW

LATER = NOW + timedelta(minutes=1)
LEASES = VipLeases(api_vip="192.0.2.5", ingress_vip="192.0.2.6", api_lease="lease { a; }", ingress_lease="lease { b; }")


def waiting(**changes: Any) -> Cluster:
    parts: dict[str, Any] = {
        "vip_dhcp_allocation": True,
        "machine_networks": ("192.0.2.0/24",),
        "api_vips": (),
        "ingress_vips": (),
    }
    return a_cluster(**(parts | changes))


def test_the_addresses_become_the_vips() -> None:
    decision = take_leases(waiting(), LEASES, now=LATER)
    cluster = decision.cluster
    assert cluster is not None
    assert (cluster.api_vips, cluster.ingress_vips) == (("192.0.2.5",), ("192.0.2.6",))
    assert cluster.vip_leases == ("lease { a; }", "lease { b; }")
    assert cluster.updated_at == LATER
    (change,) = decision.changes
    assert change.after == {"api_vips": ["192.0.2.5"], "ingress_vips": ["192.0.2.6"]}
    assert take_leases(cluster, LEASES, now=LATER).empty


def test_a_renewed_lease_is_kept_without_a_word_also_during_the_installation() -> None:
    known = waiting(api_vips=("192.0.2.5",), ingress_vips=("192.0.2.6",), status=ClusterStatus.INSTALLING)
    decision = take_leases(known, LEASES, now=LATER)
    assert decision.cluster is not None
    assert decision.cluster.vip_leases == ("lease { a; }", "lease { b; }")
    assert decision.changes == ()


@pytest.mark.parametrize("changes", [{"vip_dhcp_allocation": False}, {"machine_networks": ()}])
def test_leases_nobody_waits_for_change_nothing(changes: dict[str, Any]) -> None:
    assert take_leases(waiting(**changes), LEASES, now=LATER).empty


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"status": ClusterStatus.INSTALLING}, "cannot change"), ({"machine_networks": ("198.51.100.0/24",)}, "API VIP")],
)
def test_leases_that_are_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(Invalid, match=word):
        take_leases(waiting(**changes), LEASES, now=LATER)
