"""One machine becomes a cluster: it bootstraps itself from memory and goes on from its disk."""

import pytest

from firstlight.simulate.ingress import ingress_certificate
from tests.lab.installs.site import ALONE, FINALIZING, SINGLE, WAITS_ALONE, Site

pytestmark = pytest.mark.timeout(600)
STAGES = (
    *("Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk"),
    *("Rebooting", "Joined", "Done"),
)


def test_a_single_node(site: Site) -> None:
    machine = site.switch_on(ALONE, site.create(SINGLE, sno=True))
    site.until(lambda: site.watcher.cluster.status == "ready", what="the cluster is ready", seconds=180)
    cluster = site.a_cluster(SINGLE, ALONE.name, address=ALONE.address, where=lambda: machine.host.namespace)
    site.aicli("start", "cluster", SINGLE)
    site.installs_until("finalizing", seconds=400)
    cluster.settle_operators(ingress_certificate(SINGLE))
    site.installs_until("installed", seconds=120)
    assert site.stages() == {ALONE.name: STAGES, "": FINALIZING}
    assert site.statuses() == ["preparing-for-installation", "installing", "finalizing", "installed"]
    assert site.first_boots[ALONE.name] == WAITS_ALONE
    assert site.has_image(machine)
    assert site.nodes(SINGLE) == {ALONE.name: "Ready"}
