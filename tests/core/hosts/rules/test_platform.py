"""Platforms and who makes their machines."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.inventory import SystemVendor
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import some_reports
from tests.builders.inventories import an_inventory
from tests.core.hosts.rules.judging import ERROR, FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

P = PlatformType
NOTHING = host_facts(reports=some_reports(inventory=None))


def made_by(
    manufacturer: str | None, platform: PlatformType, *, product: str = "", name: str = "", **cluster: Any
) -> HostFacts:
    vendor = None if manufacturer is None else SystemVendor(manufacturer=manufacturer, product_name=product)
    return host_facts(
        inventory=an_inventory(vendor=vendor),
        cluster={"platform": Platform(type=platform, external_name=name), **cluster},
    )


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("pool", pool_facts(), SUPPRESSED),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("baremetal", made_by("Anybody", P.BAREMETAL), SUCCESS),
        case("none", made_by("Anybody", P.NONE), SUCCESS),
        case("none-without-vendor", made_by(None, P.NONE), SUCCESS),
        case("vsphere", made_by("VMware, Inc.", P.VSPHERE), SUCCESS),
        case("vsphere-written-otherwise", made_by("VMware", P.VSPHERE), FAILURE, "wrong-platform"),
        case("vsphere-without-vendor", made_by(None, P.VSPHERE), FAILURE, "wrong-platform"),
        case("nutanix", made_by("Nutanix", P.NUTANIX), SUCCESS),
        case("nutanix-elsewhere", made_by("VMware, Inc.", P.NUTANIX), FAILURE, "wrong-platform"),
        case("external", made_by("Anybody", P.EXTERNAL, name="acme"), SUCCESS),
        case("oracle", made_by("OracleCloud.com", P.EXTERNAL, name="oci"), SUCCESS),
        case("oracle-elsewhere", made_by("Anybody", P.EXTERNAL, name="oci"), FAILURE, "wrong-platform"),
    ],
)
def test_compatible_with_cluster_platform(facts: HostFacts, status: Status, cause: str) -> None:
    check("compatible-with-cluster-platform", facts, status, cause)


@pytest.mark.parametrize(("user_managed", "offered"), [(True, "none"), (False, "baremetal")])
def test_a_platform_that_takes_everybody_is_offered(user_managed: bool, offered: str) -> None:
    facts = made_by("Anybody", P.VSPHERE, user_managed_networking=user_managed)
    (fix,) = finding("compatible-with-cluster-platform", facts).fixes
    assert fix.body == {"platform": {"type": offered}}


OPENSTACK = "OpenStack Compute"
IN_POOL = pool_facts(inventory=an_inventory(vendor=SystemVendor(product_name=OPENSTACK)))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("other-product", host_facts(), SUCCESS),
        case("other-product-in-the-pool", pool_facts(), SUCCESS),
        case("no-vendor", made_by(None, P.BAREMETAL), ERROR, "no-vendor"),
        case("no-vendor-in-the-pool", pool_facts(inventory=an_inventory(vendor=None)), ERROR, "no-vendor"),
        case("in-the-pool", IN_POOL, SUPPRESSED),
        case("openstack", made_by("", P.BAREMETAL, product=OPENSTACK), FAILURE, "needs-user-managed-networking"),
        case(
            "openstack-user-managed",
            made_by("", P.NONE, product=OPENSTACK, user_managed_networking=True),
            SUCCESS,
        ),
        case("openstack-single-node", made_by("", P.NONE, product=OPENSTACK, control_plane_count=1), SUCCESS),
    ],
)
def test_valid_platform_network_settings(facts: HostFacts, status: Status, cause: str) -> None:
    check("valid-platform-network-settings", facts, status, cause)


@pytest.mark.parametrize(
    ("platform", "bodies"),
    [
        (P.BAREMETAL, [{"user_managed_networking": True}]),
        (P.VSPHERE, [{"user_managed_networking": True}]),
        # There the request would be refused: the platform has to change first, and its own finding offers that.
        (P.NUTANIX, []),
    ],
)
def test_user_managed_networking_is_offered_where_it_can_be(platform: PlatformType, bodies: list[object]) -> None:
    facts = made_by("", platform, product=OPENSTACK)
    assert [fix.body for fix in finding("valid-platform-network-settings", facts).fixes] == bodies
