"""What measuring steps are told, and when they are not sent at all."""

import json
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.model.cluster import ClusterState, DiskEncryption, IgnitionEndpoint
from firstlight.core.model.cluster_status import ClusterKind, EncryptionMode
from firstlight.core.model.host import HostState, HttpHeader
from firstlight.core.model.host_status import HostKind, HostRole
from firstlight.core.model.plan import Step
from firstlight.core.model.reports import NO_REPORTS, ApiVipReply, DiskSpeed, ImageStatus
from firstlight.core.steps import arguments
from firstlight.core.steps.inputs import NO_INPUTS, ReleaseFacts, StepInputs
from firstlight.core.steps.occasion import Neighbourhood, Occasion, neighbourhood_of
from firstlight.core.steps.vip_macs import vip_mac
from tests.builders.clusters import a_policy, an_infra_env, cluster_state
from tests.builders.hosts import a_pool_host, host_state, some_reports
from tests.builders.inventories import an_interface, an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, host_id


def occasion(
    member: HostState | None = None,
    *,
    state: ClusterState | None = None,
    cluster: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    inputs: StepInputs = NO_INPUTS,
) -> Occasion:
    """The first host of a passing cluster, about to be told something."""
    member = host_state(1) if member is None else member
    state = cluster_state(**(cluster or {})) if state is None else state
    return Occasion(
        member=member,
        policy=a_policy(**(policy or {})),
        inputs=inputs,
        infra_env=an_infra_env(),
        state=state,
        neighbourhood=neighbourhood_of(state),
    )


def alone(member: HostState | None = None, **infra_env: Any) -> Occasion:
    member = host_state(host=a_pool_host()) if member is None else member
    return Occasion(
        member=member, policy=a_policy(), inputs=NO_INPUTS, infra_env=an_infra_env(cluster_id=None, **infra_env)
    )


def told(step: Step | None) -> Any:
    """The document in the first argument; None when the step is not sent."""
    return None if step is None else json.loads(step.args[0])


@pytest.mark.parametrize(
    ("policy", "args"),
    [
        ({}, ()),
        ({"inventory_max_bytes": 5}, ("--output-max-size=5",)),
        ({"inventory_disk_min_bytes": 7}, ("--disk-min-size=7",)),
        ({"inventory_max_bytes": 5, "inventory_disk_min_bytes": 7}, ("--output-max-size=5", "--disk-min-size=7")),
    ],
)
def test_inventory(policy: dict[str, int], args: tuple[str, ...]) -> None:
    assert arguments.inventory(occasion(policy=policy)).args == (str(host_id(1)), *args)


def test_connectivity_check_names_every_other_host() -> None:
    for number in (1, 2, 3):
        peers = told(arguments.connectivity_check(occasion(host_state(number))))
        assert peers == [
            {
                "host_id": str(host_id(other)),
                "nics": [{"name": "enp1s0", "mac": f"52:54:00:aa:00:0{other}", "ip_addresses": [f"192.0.2.1{other}"]}],
            }
            for other in (1, 2, 3)
            if other != number
        ]


def test_a_host_nobody_can_reach_still_looks_for_the_others() -> None:
    stranger = host_state(9)
    assert len(told(arguments.connectivity_check(occasion(stranger)))) == 3


def test_a_lonely_host_checks_nothing() -> None:
    state = cluster_state(hosts=(host_state(1),))
    assert arguments.connectivity_check(occasion(state=state)) is None
    assert Neighbourhood().without(host_id(1)) == ""


@pytest.mark.parametrize(
    ("addresses", "networks"),
    [
        (("192.0.2.11/24",), ["192.0.2.0/24"]),
        (("198.51.100.3/22",), ["198.51.100.0/22"]),
        (("198.51.100.3/21",), None),
        (("192.0.2.11/24", "192.0.2.12/24", "10.0.0.1/30"), ["10.0.0.0/30", "192.0.2.0/24"]),
    ],
)
def test_free_addresses_asks_for_small_ipv4_networks(addresses: tuple[str, ...], networks: list[str] | None) -> None:
    nic = an_interface(1, ipv4=addresses, ipv6=("2001:db8::1/120",))
    member = host_state(1, reports=some_reports(1, inventory=an_inventory(1, interfaces=(nic,))))
    assert told(arguments.free_addresses(occasion(member))) == networks


def test_free_addresses_is_not_asked_for_by_the_operator_or_without_inventory() -> None:
    assert arguments.free_addresses(occasion(policy={"kube_api": True})) is None
    assert arguments.free_addresses(occasion(host_state(1, reports=NO_REPORTS))) is None


def test_dhcp_lease() -> None:
    cluster = {"vip_dhcp_allocation": True, "vip_leases": ("one", "")}
    assert told(arguments.dhcp_lease(occasion(cluster=cluster))) == {
        "interface": "enp1s0",
        "api_vip_mac": vip_mac(CLUSTER_ID, name="api"),
        "ingress_vip_mac": vip_mac(CLUSTER_ID, name="ingress"),
        "api_vip_lease": "one",
        "ingress_vip_lease": "",
    }


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"vip_dhcp_allocation": True, "machine_networks": ()},
        {"vip_dhcp_allocation": True, "machine_networks": ("10.0.0.0/8",)},
    ],
)
def test_dhcp_lease_needs_a_network_the_host_lies_in(cluster: dict[str, Any]) -> None:
    assert arguments.dhcp_lease(occasion(cluster=cluster)) is None


def test_vip_macs_are_those_existing_leases_were_taken_with() -> None:
    cluster_id = UUID("bd9d3b83-80a3-4b94-8b61-c12b2f1a2373")
    assert vip_mac(cluster_id, name="api") == "00:1a:4a:b5:4d:cc"
    assert vip_mac(cluster_id, name="ingress") == "00:1a:4a:83:b1:f7"


def test_vip_macs_are_stable_and_differ() -> None:
    cluster_id = UUID("11111111-1111-1111-1111-111111111111")
    api, ingress = vip_mac(cluster_id, name="api"), vip_mac(cluster_id, name="ingress")
    assert api != ingress
    assert api == vip_mac(cluster_id, name="api")
    assert api.startswith("00:1a:4a:")
    assert len(api) == len("00:1a:4a:00:00:00")
    assert api != vip_mac(UUID(int=1), name="api")


def day_two_occasion(**parts: Any) -> Occasion:
    cluster = {"kind": ClusterKind.ADD_HOSTS, "api_vip_dns_name": "api.east.example.com"} | parts.pop("cluster", {})
    member = host_state(1, kind=HostKind.DAY_TWO, role=HostRole.WORKER, **parts.pop("host", {}))
    return occasion(member, cluster=cluster, **parts)


def test_api_vip() -> None:
    assert told(arguments.api_vip(day_two_occasion())) == {
        "url": "http://api.east.example.com:22624/config/worker",
        "request_headers": [],
    }


def test_api_vip_with_authority_token_and_headers() -> None:
    inputs = StepInputs(ignition_tokens={host_id(1): "t"})
    host = {"ignition_endpoint_headers": (HttpHeader("X-A", "b"),)}
    cluster = {"ignition_endpoint": IgnitionEndpoint(ca_certificate="Q0E=")}
    assert told(arguments.api_vip(day_two_occasion(inputs=inputs, host=host, cluster=cluster))) == {
        "url": "https://api-int.east.example.com:22623/config/worker",
        "request_headers": [{"key": "Authorization", "value": "Bearer t"}, {"key": "X-A", "value": "b"}],
        "ca_certificate": "Q0E=",
        "ignition_endpoint_token": "t",
    }


def test_api_vip_needs_an_address() -> None:
    assert arguments.api_vip(day_two_occasion(cluster={"api_vip_dns_name": "", "base_dns_domain": ""})) is None
    assert arguments.api_vip(alone()) is None


@pytest.mark.parametrize(
    ("enable_on", "role", "sent"),
    [
        ("none", HostRole.MASTER, False),
        ("all", HostRole.MASTER, True),
        ("all", HostRole.WORKER, True),
        ("masters", HostRole.MASTER, True),
        ("masters", HostRole.WORKER, False),
        ("masters,arbiters", HostRole.ARBITER, True),
        ("workers", HostRole.WORKER, True),
        ("workers", HostRole.MASTER, False),
    ],
)
def test_tang_is_asked_for_where_disks_are_encrypted_with_it(enable_on: str, role: HostRole, *, sent: bool) -> None:
    encryption = DiskEncryption(enable_on=enable_on, mode=EncryptionMode.TANG, tang_servers='[{"url":"u"}]')
    step = arguments.tang(occasion(host_state(1, role=role), cluster={"disk_encryption": encryption}))
    assert told(step) == ({"tang_servers": '[{"url":"u"}]'} if sent else None)


def test_tang_is_not_asked_for_with_tpm_or_undecided_roles() -> None:
    tpm = DiskEncryption(enable_on="all", mode=EncryptionMode.TPM2, tang_servers="[]")
    assert arguments.tang(occasion(cluster={"disk_encryption": tpm})) is None
    some = DiskEncryption(enable_on="masters,workers", mode=EncryptionMode.TANG, tang_servers="[]")
    assert arguments.tang(occasion(host_state(1, suggested_role=None), cluster={"disk_encryption": some})) is None
    assert arguments.tang(alone()) is None


@pytest.mark.parametrize(
    ("reply", "sent"),
    [
        (None, False),
        (ApiVipReply(success=False, ignition='{"storage":{"luks":[{"clevis":{"tang":[{"url":"u"}]}}]}}'), False),
        (ApiVipReply(success=True, ignition="{}"), False),
        (ApiVipReply(success=True, ignition='{"storage":{"luks":[{"clevis":{"tang":[{"url":"u"}]}}]}}'), True),
    ],
)
def test_day_two_takes_tang_servers_from_the_ignition(reply: ApiVipReply | None, *, sent: bool) -> None:
    step = arguments.tang(day_two_occasion(host={"reports": some_reports(1, api_vip=reply)}))
    assert told(step) == ({"tang_servers": '[{"url":"u"}]'} if sent else None)


@pytest.mark.parametrize(
    ("cluster", "infra_envs", "sources"),
    [
        ({}, [{}], ""),
        ({"ntp_sources": "a", "additional_ntp_source": "b"}, [{"ntp_sources": "c"}], "a"),
        ({"additional_ntp_source": "b"}, [{"ntp_sources": "c"}], "b"),
        ({}, [{"ntp_sources": "c, d", "additional_ntp_sources": "x"}, {"additional_ntp_sources": "d,,e"}], "c,d,e"),
    ],
)
def test_time_servers(cluster: dict[str, str], infra_envs: list[dict[str, str]], sources: str) -> None:
    ids = [INFRA_ENV_ID, UUID("f0000000-0000-4000-8000-000000000001")]
    state = cluster_state(**cluster)
    known = {id_: an_infra_env(id=id_, **changes) for id_, changes in zip(ids, infra_envs, strict=False)}
    state = type(state)(cluster=state.cluster, hosts=state.hosts, infra_envs=known)
    assert told(arguments.ntp(occasion(state=state))) == {"ntp_source": sources}


def test_time_servers_of_the_pool() -> None:
    assert told(arguments.ntp(alone(additional_ntp_sources="p"))) == {"ntp_source": "p"}
    assert told(arguments.ntp(Occasion(member=host_state(1), policy=a_policy(), inputs=NO_INPUTS))) == {
        "ntp_source": ""
    }


def test_disk_speed() -> None:
    step = arguments.disk_speed(occasion())
    assert step is not None
    assert json.loads(step.args[0]) == {"path": host_state(1).host.installation_disk_id}
    assert step.args[1] == "480.00"


@pytest.mark.parametrize(
    ("host", "reports"),
    [
        ({"installation_disk_id": "", "installation_disk_path": ""}, {}),
        ({"installer_args": ("--save-partlabel", "data")}, {}),
        ({"installer_args": ("--save-partindex=5-",)}, {}),
        ({"installation_disk_id": "x"}, {"disk_speeds": {"x": DiskSpeed()}}),
        ({}, {"inventory": None}),
        ({}, {"inventory": an_inventory(1, boot=an_inventory().boot.__class__(device_type="persistent"))}),
    ],
)
def test_disk_speed_is_not_measured_twice_nor_where_data_would_be_lost(
    host: dict[str, Any], reports: dict[str, Any]
) -> None:
    assert arguments.disk_speed(occasion(host_state(1, reports=some_reports(1, **reports), **host))) is None


def test_disk_speed_names_the_path_when_there_is_no_id() -> None:
    member = host_state(1, installation_disk_id="", installation_disk_path="/dev/sda")
    assert told(arguments.disk_speed(occasion(member))) == {"path": "/dev/sda"}


def test_image_availability_leaves_out_what_was_reported() -> None:
    release = ReleaseFacts(mco_image="mco", must_gather_images={"ocp": "gather", "cnv": "other"})
    reports = some_reports(1, images={"mco": ImageStatus(success=False)})
    step = arguments.image_availability(
        occasion(
            host_state(1, reports=reports),
            cluster={"release_image": "release"},
            policy={"installer_image": "installer"},
            inputs=StepInputs(release=release),
        )
    )
    assert told(step) == {"images": ["release", "gather", "installer"], "timeout": 960}


def test_image_availability_stops_when_all_is_known() -> None:
    known = {"release": ImageStatus(success=True), "installer": ImageStatus(success=True)}
    step = arguments.image_availability(
        occasion(
            host_state(1, reports=some_reports(1, images=known)),
            cluster={"release_image": "release"},
            policy={"installer_image": "installer"},
        )
    )
    assert step is None
    assert arguments.image_availability(alone()) is None


NAMES = [
    "api.east.example.com",
    "api-int.east.example.com",
    "console-openshift-console.apps.east.example.com",
    "validateNoWildcardDNS.east.example.com.",
    "validateNoWildcardDNS.east.example.com",
]


@pytest.mark.parametrize(
    ("cluster", "names"),
    [
        ({"release_image": "quay.io/a/b:1"}, [*NAMES, "quay.io"]),
        ({"release_image": "registry.lab:5000/a"}, [*NAMES, "registry.lab"]),
        ({"release_image": "192.0.2.9:5000/a"}, NAMES),
        ({"release_image": "[2001:db8::9]:5000/a"}, NAMES),
        ({"release_image": ""}, NAMES),
        ({"release_image": "quay.io/a", "kind": ClusterKind.ADD_HOSTS}, NAMES),
        ({"name": ""}, None),
        ({"base_dns_domain": ""}, None),
    ],
)
def test_names_to_resolve(cluster: dict[str, Any], names: list[str] | None) -> None:
    document = told(arguments.domain_resolution(occasion(cluster=cluster)))
    assert document == (None if names is None else {"domains": [{"domain_name": name} for name in names]})


def test_verify_vips() -> None:
    assert told(arguments.verify_vips(occasion())) == [
        {"vip": "192.0.2.5", "vip_type": "api"},
        {"vip": "192.0.2.6", "vip_type": "ingress"},
    ]
    assert arguments.verify_vips(occasion(cluster={"api_vips": (), "ingress_vips": ()})) is None


def test_pool_hosts_are_asked_nothing_about_clusters() -> None:
    for build in (arguments.dhcp_lease, arguments.domain_resolution, arguments.verify_vips):
        assert build(alone()) is None
