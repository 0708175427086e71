"""Platform and networking: the whole table, for new clusters and for changes."""

from typing import Any

import pytest

from firstlight.core.clusters.platforms import Networking, check_external, settle, supported_platforms
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.inventory import SystemVendor
from tests.builders.clusters import a_cluster
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import an_inventory

P = PlatformType


def chosen(
    kind: PlatformType | None,
    managed: bool | None,
    *,
    before: tuple[PlatformType, bool] | None = None,
    single_node: bool = False,
    architecture: str = "x86_64",
) -> tuple[PlatformType, bool]:
    known = None if before is None else Networking(platform=_platform(before[0]), user_managed=before[1])
    settled = settle(
        platform=None if kind is None else _platform(kind),
        user_managed=managed,
        before=known,
        single_node=single_node,
        architecture=architecture,
    )
    return settled.platform.type, settled.user_managed


def _platform(kind: PlatformType) -> Platform:
    return Platform(type=kind, external_name="cloud" if kind is P.EXTERNAL else "")


@pytest.mark.parametrize(
    ("kind", "managed", "result"),
    [
        (None, None, (P.BAREMETAL, False)),
        (None, False, (P.BAREMETAL, False)),
        (P.BAREMETAL, None, (P.BAREMETAL, False)),
        (None, True, (P.NONE, True)),
        (P.NONE, None, (P.NONE, True)),
        (P.NONE, True, (P.NONE, True)),
        (P.EXTERNAL, None, (P.EXTERNAL, True)),
        (P.NUTANIX, None, (P.NUTANIX, False)),
        (P.VSPHERE, None, (P.VSPHERE, False)),
        (P.VSPHERE, True, (P.VSPHERE, True)),
        (P.VSPHERE, False, (P.VSPHERE, False)),
    ],
)
def test_new_clusters(kind: PlatformType | None, managed: bool | None, result: tuple[PlatformType, bool]) -> None:
    assert chosen(kind, managed) == result


@pytest.mark.parametrize(
    ("kind", "managed"), [(P.NONE, False), (P.EXTERNAL, False), (P.BAREMETAL, True), (P.NUTANIX, True)]
)
def test_contradictions_are_refused(kind: PlatformType, managed: bool) -> None:
    with pytest.raises(Invalid, match=str(kind)):
        chosen(kind, managed)


@pytest.mark.parametrize("place", [{"single_node": True}, {"architecture": "s390x"}, {"architecture": "ppc64le"}])
def test_some_clusters_leave_their_network_to_the_user(place: dict[str, Any]) -> None:
    def with_place(kind: PlatformType | None, managed: bool | None, **more: Any) -> tuple[PlatformType, bool]:
        return chosen(kind, managed, **place, **more)

    assert with_place(None, None) == (P.NONE, True)
    assert with_place(None, True) == (P.NONE, True)
    assert with_place(P.EXTERNAL, None) == (P.EXTERNAL, True)
    assert with_place(None, None, before=(P.EXTERNAL, True)) == (P.EXTERNAL, True)
    with pytest.raises(Invalid, match="user-managed networking"):
        with_place(None, False)
    for kind in (P.BAREMETAL, P.NUTANIX, P.VSPHERE):
        with pytest.raises(Invalid, match="none or external"):
            with_place(kind, None)


@pytest.mark.parametrize(
    ("before", "kind", "managed", "result"),
    [
        ((P.BAREMETAL, False), None, True, (P.NONE, True)),
        ((P.NONE, True), None, False, (P.BAREMETAL, False)),
        ((P.NONE, True), P.BAREMETAL, None, (P.BAREMETAL, False)),
        ((P.BAREMETAL, False), P.NONE, None, (P.NONE, True)),
        ((P.VSPHERE, True), P.VSPHERE, None, (P.VSPHERE, True)),
        ((P.NONE, True), P.VSPHERE, None, (P.VSPHERE, False)),
        ((P.VSPHERE, False), None, True, (P.VSPHERE, True)),
    ],
)
def test_changes(
    before: tuple[PlatformType, bool],
    kind: PlatformType | None,
    managed: bool | None,
    result: tuple[PlatformType, bool],
) -> None:
    assert chosen(kind, managed, before=before) == result


def test_networking_alone_cannot_leave_these_platforms() -> None:
    with pytest.raises(Invalid):
        chosen(None, False, before=(P.EXTERNAL, True))
    with pytest.raises(Invalid):
        chosen(None, True, before=(P.NUTANIX, False))


@pytest.mark.parametrize(
    "platform",
    [
        Platform(type=P.EXTERNAL),
        Platform(type=P.EXTERNAL, external_name="oci"),
        Platform(type=P.BAREMETAL, external_name="oci"),
        Platform(type=P.NONE, external_ccm="External"),
    ],
)
def test_external_settings_that_cannot_be(platform: Platform) -> None:
    with pytest.raises(Invalid):
        check_external(platform)


def test_external_settings_that_can() -> None:
    check_external(Platform(type=P.EXTERNAL, external_name="oci", external_ccm="External"))
    check_external(Platform(type=P.EXTERNAL, external_name="cloud"))


def test_platforms_all_hosts_suit() -> None:
    made_by_vmware = an_inventory(vendor=SystemVendor(manufacturer="VMware, Inc."))
    vmware = host_state(1, reports=some_reports(1, inventory=made_by_vmware))
    assert supported_platforms(a_cluster(), []) == (P.NONE,)
    assert supported_platforms(a_cluster(control_plane_count=1), [vmware]) == (P.NONE,)
    assert P.VSPHERE in supported_platforms(a_cluster(), [vmware])
    assert P.NUTANIX not in supported_platforms(a_cluster(), [vmware])
    assert P.VSPHERE not in supported_platforms(a_cluster(), [vmware, host_state(2)])
    assert P.BAREMETAL in supported_platforms(a_cluster(), [vmware, host_state(2)])
