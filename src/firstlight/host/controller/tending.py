"""What is done for the nodes of every installation, whoever runs its service: one loop for each concern."""

from collections.abc import Coroutine

from firstlight.host.controller.approving import Approving
from firstlight.host.controller.baremetal import BareMetal
from firstlight.host.controller.dns import settle_dns_address
from firstlight.host.controller.node_labels import NodeLabels
from firstlight.host.controller.node_reports import NodeReports
from firstlight.host.controller.site import Site
from firstlight.host.controller.taints import let_nodes_in


def tending(site: Site) -> list[Coroutine[None, None, None]]:
    """Each runs until its work is done, or somebody ends it."""
    return [
        Approving(site).run(),
        NodeReports(site).run(),
        NodeLabels(site).run(),
        BareMetal(site).run(),
        let_nodes_in(site),
        settle_dns_address(site),
    ]
