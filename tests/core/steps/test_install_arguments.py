"""What the acting steps are told."""

import json
from typing import Any

import pytest

from firstlight.core.model.cluster import ClusterState, Platform
from firstlight.core.model.cluster_status import ClusterKind, PlatformType
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostKind, HostRole
from firstlight.core.model.infra_env import HostNetworkConfig, Proxy
from firstlight.core.model.inventory import Boot, SystemVendor
from firstlight.core.model.plan import Step
from firstlight.core.model.reports import NO_REPORTS, ApiVipReply
from firstlight.core.steps import install_arguments
from firstlight.core.steps.inputs import BootArtifacts, ReleaseFacts, StepInputs
from firstlight.core.steps.occasion import Occasion
from tests.builders.clusters import a_policy, an_infra_env, cluster_state
from tests.builders.hosts import host_state, some_reports
from tests.builders.inventories import a_disk, an_interface, an_inventory
from tests.builders.moments import CLUSTER_ID, INFRA_ENV_ID, NOW, host_id

INPUTS = StepInputs(release=ReleaseFacts(mco_image="mco", must_gather_images={"ocp": "gather"}))
DISK = host_state(1).host.installation_disk_id


def occasion(
    member: HostState | None = None,
    *,
    state: ClusterState | None = None,
    cluster: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    inputs: StepInputs = INPUTS,
    infra_env: dict[str, Any] | None = None,
) -> Occasion:
    return Occasion(
        member=host_state(1) if member is None else member,
        policy=a_policy(**(policy or {})),
        inputs=inputs,
        infra_env=an_infra_env(**(infra_env or {})),
        state=cluster_state(**(cluster or {})) if state is None else state,
    )


def told(step: Step | None) -> Any:
    return None if step is None else json.loads(step.args[0])


def test_install() -> None:
    policy = {"controller_image": "controller", "installer_image": "installer"}
    assert told(install_arguments.install(occasion(policy=policy))) == {
        "cluster_id": str(CLUSTER_ID),
        "infra_env_id": str(INFRA_ENV_ID),
        "host_id": str(host_id(1)),
        "role": "master",
        "boot_device": DISK,
        "controller_image": "controller",
        "installer_image": "installer",
        "control_plane_count": 3,
        "check_cvo": False,
        "service_ips": [],
        "enable_skip_mco_reboot": True,
        "notify_num_reboots": True,
        "mco_image": "mco",
        "must_gather_image": "gather",
        "openshift_version": "4.18.3",
        "installer_args": '["--append-karg","ip=52-54-00-aa-00-01:dhcp"]',
        "skip_installation_disk_cleanup": False,
        "disks_to_format": [],
    }


@pytest.mark.parametrize(
    ("host", "role"),
    [
        ({"bootstrap": True}, "bootstrap"),
        ({"role": HostRole.WORKER}, "worker"),
        ({"role": HostRole.ARBITER}, "arbiter"),
        ({"suggested_role": None}, "worker"),
    ],
)
def test_role(host: dict[str, Any], role: str) -> None:
    assert told(install_arguments.install(occasion(host_state(1, **host))))["role"] == role


@pytest.mark.parametrize(
    ("cluster", "host", "policy", "skips"),
    [
        ({"openshift_version": "4.15.0"}, {}, {}, True),
        ({"openshift_version": "4.14.9"}, {}, {}, False),
        ({"openshift_version": "5.0.0"}, {}, {}, True),
        ({"openshift_version": ""}, {}, {}, False),
        ({"cpu_architecture": "s390x"}, {}, {}, False),
        ({}, {"installation_disk_path": "/dev/dm-0"}, {}, False),
        ({}, {}, {"skip_mco_reboot": False}, False),
    ],
)
def test_skipping_a_reboot(
    cluster: dict[str, Any], host: dict[str, Any], policy: dict[str, Any], *, skips: bool
) -> None:
    step = install_arguments.install(occasion(host_state(1, **host), cluster=cluster, policy=policy))
    assert told(step)["enable_skip_mco_reboot"] is skips


def test_reboots_are_counted_outside_kubernetes_only() -> None:
    assert told(install_arguments.install(occasion(policy={"kube_api": True})))["notify_num_reboots"] is False


def test_day_two_leaves_out_what_the_running_cluster_knows() -> None:
    member = host_state(1, kind=HostKind.DAY_TWO, role=HostRole.WORKER)
    request = told(install_arguments.install(occasion(member, cluster={"kind": ClusterKind.ADD_HOSTS})))
    assert not {"mco_image", "must_gather_image", "openshift_version"} & request.keys()


@pytest.mark.parametrize(
    ("images", "argument"),
    [({}, ""), ({"ocp": "a"}, "a"), ({"ocp": "a", "cnv": "b"}, '{"ocp":"a","cnv":"b"}'), ({"cnv": "b"}, '{"cnv":"b"}')],
)
def test_must_gather(images: dict[str, str], argument: str) -> None:
    inputs = StepInputs(release=ReleaseFacts(must_gather_images=images))
    assert told(install_arguments.install(occasion(inputs=inputs)))["must_gather_image"] == argument


def test_disks_to_format_spares_what_the_user_spares() -> None:
    member = host_state(1, disks_to_be_formatted=("a", "b", DISK), skip_formatting_disks=("b",))
    assert told(install_arguments.install(occasion(member)))["disks_to_format"] == ["a", DISK]


def test_saved_partitions_save_the_installation_disk() -> None:
    member = host_state(1, disks_to_be_formatted=("a", DISK), installer_args=("--save-partlabel", "data"))
    request = told(install_arguments.install(occasion(member)))
    assert request["skip_installation_disk_cleanup"] is True
    assert request["disks_to_format"] == ["a"]


@pytest.mark.parametrize(
    ("proxy", "argument"),
    [
        (Proxy(), None),
        (Proxy(no_proxy="a"), None),
        (
            Proxy(http="http://p", no_proxy=" lab,localhost"),
            {
                "http_proxy": "http://p",
                "no_proxy": "lab,localhost,127.0.0.1,.svc,.cluster.local,api-int.east.example.com",
            },
        ),
        (
            Proxy(http="http://p", https="http://q", no_proxy="*"),
            {"http_proxy": "http://p", "https_proxy": "http://q", "no_proxy": "*"},
        ),
        (
            Proxy(https="http://q"),
            {"https_proxy": "http://q", "no_proxy": "127.0.0.1,localhost,.svc,.cluster.local,api-int.east.example.com"},
        ),
    ],
)
def test_proxy(proxy: Proxy, argument: dict[str, str] | None) -> None:
    assert told(install_arguments.install(occasion(cluster={"proxy": proxy}))).get("proxy") == argument


PERSISTENT = an_inventory(1, boot=Boot(device_type="persistent"))
MACHINE_CONFIG = (
    '{"storage":{"files":[{"path":"/etc/ignition-machine-config-encapsulated.json",'
    '"contents":{"source":"data:,%7B%22spec%22%3A%7B%22osImageURL%22%3A%22other%22%7D%7D"}}]}}'
)


@pytest.mark.parametrize(
    ("release", "reply", "image"),
    [
        (ReleaseFacts(coreos_image="coreos"), None, "coreos"),
        (ReleaseFacts(), ApiVipReply(success=True, ignition=MACHINE_CONFIG), "other"),
        (ReleaseFacts(), ApiVipReply(success=True), None),
        (ReleaseFacts(), None, None),
    ],
)
def test_installing_into_the_running_system(
    release: ReleaseFacts, reply: ApiVipReply | None, image: str | None
) -> None:
    member = host_state(1, reports=some_reports(1, inventory=PERSISTENT, api_vip=reply))
    request = told(install_arguments.install(occasion(member, inputs=StepInputs(release=release))))
    assert (None if request is None else request["coreos_image"]) == image


@pytest.mark.parametrize(
    "member",
    [host_state(1, reports=NO_REPORTS), host_state(1, installation_disk_id="", installation_disk_path="")],
)
def test_nothing_is_installed_without_facts(member: HostState) -> None:
    assert install_arguments.install(occasion(member)) is None


def arguments_of(step: Step | None) -> list[str]:
    found = told(step).get("installer_args")
    return [] if found is None else json.loads(found)


def kernel_arguments(**parts: Any) -> list[str]:
    return arguments_of(install_arguments.install(occasion(**parts)))


def karg(*words: str) -> list[str]:
    return [part for word in words for part in ("--append-karg", word)]


V4, V6 = an_interface(1), an_interface(2, ipv4=(), ipv6=("2001:db8::2/64",))
DHCP = "ip=52-54-00-aa-00-01:dhcp"


def member_with(*, disk: dict[str, Any] | None = None, others: tuple[Any, ...] = (), **inventory: Any) -> HostState:
    disks = (a_disk(1, **(disk or {})), *others)
    facts = an_inventory(1, disks=disks, **({"interfaces": (V4, V6)} | inventory))
    return host_state(1, reports=some_reports(1, inventory=facts))


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ({}, karg(DHCP)),
        ({"machine_networks": ("2001:db8::/64",)}, karg("ip=52-54-00-aa-00-02:dhcp6")),
        ({"machine_networks": ("192.0.2.0/24", "2001:db8::/64")}, karg(f"{DHCP},dhcp6")),
        ({"machine_networks": ("10.0.0.0/8",)}, []),
        ({"machine_networks": ("broken",)}, []),
        ({"kind": ClusterKind.ADD_HOSTS, "machine_networks": ()}, []),
        ({"machine_networks": (), "user_managed_networking": True}, []),
    ],
)
def test_dhcp_is_asked_for_where_the_machine_network_is(cluster: dict[str, Any], expected: list[str]) -> None:
    assert kernel_arguments(member=member_with(), cluster=cluster) == expected


@pytest.mark.parametrize(("stack", "expected"), [(4, DHCP), (6, "ip=52-54-00-aa-00-02:dhcp6")])
def test_without_machine_network_the_bootstrap_host_shows_it(stack: int, expected: str) -> None:
    first = member_with()
    bootstrap = host_state(2, bootstrap=True, reports=first.reports)
    state = cluster_state(hosts=(first, bootstrap), machine_networks=(), primary_ip_stack=stack)
    assert kernel_arguments(member=first, state=state) == karg(expected)


def test_the_user_knows_best() -> None:
    member = host_state(1, installer_args=("--append-karg", "ip=192.0.2.9::192.0.2.1:255.255.255.0::eth0:none"))
    assert kernel_arguments(member=member) == list(member.host.installer_args)


@pytest.mark.parametrize(
    ("given", "expected"), [((), ["--copy-network"]), (("-n",), ["-n"]), (("--copy-network",), ["--copy-network"])]
)
def test_static_networks_travel_with_the_disk(given: tuple[str, ...], expected: list[str]) -> None:
    static = {"static_network": (HostNetworkConfig("interfaces: []", ()),)}
    assert kernel_arguments(member=host_state(1, installer_args=given), infra_env=static) == expected


def test_multipath() -> None:
    paths = tuple(
        a_disk(number, drive_type="iSCSI", holders=("sda",), iscsi_host_ip="2001:db8::2") for number in (2, 3)
    )
    member = member_with(disk={"drive_type": "Multipath"}, others=paths)
    assert kernel_arguments(member=member) == karg(
        "rw", "rd.multipath=default", "rd.iscsi.firmware=1", "ip=52-54-00-aa-00-02:dhcp6", DHCP
    )


def test_multipath_over_fibre_channel_needs_no_network() -> None:
    member = member_with(disk={"drive_type": "Multipath"}, others=(a_disk(2, drive_type="FC", holders=("sda",)),))
    assert kernel_arguments(member=member) == karg("rw", "rd.multipath=default", DHCP)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("192.0.2.11", [DHCP]), ("203.0.113.1", [DHCP]), ("", [DHCP])],
)
def test_iscsi(address: str, expected: list[str]) -> None:
    member = member_with(disk={"drive_type": "iSCSI", "iscsi_host_ip": address})
    assert kernel_arguments(member=member) == karg("rd.iscsi.firmware=1", *expected)


def test_iscsi_on_oracle_cloud_configures_itself() -> None:
    member = member_with(disk={"drive_type": "iSCSI", "iscsi_host_ip": "192.0.2.11"})
    oracle = {"platform": Platform(type=PlatformType.EXTERNAL, external_name="oci")}
    assert kernel_arguments(member=member, cluster=oracle) == karg("rd.iscsi.firmware=1", DHCP)
    day_two = oracle | {"kind": ClusterKind.ADD_HOSTS, "machine_networks": ()}
    assert kernel_arguments(member=member, cluster=day_two) == karg("rd.iscsi.firmware=1", DHCP)


def test_raid() -> None:
    assert kernel_arguments(member=member_with(disk={"drive_type": "RAID"})) == karg("rd.md=1", "rd.auto=1", DHCP)


def test_an_unknown_disk_asks_for_nothing() -> None:
    member = member_with(disk={"id": "x", "path": "y", "by_path": "z", "drive_type": "RAID"})
    assert kernel_arguments(member=member) == karg(DHCP)


LINE = "console=ttysclp0 rd.neednet=1 rd.znet=qeth,0.0.bdd0 rd.dasd=0.0.5235 ip=10.14.6.3::x nameserver=10.14.6.1"


@pytest.mark.parametrize(
    ("vendor", "line", "expected"),
    [
        (
            SystemVendor(manufacturer="IBM/S390", product_name="LPAR"),
            LINE,
            karg("rd.neednet=1", "rd.znet=qeth,0.0.bdd0", "rd.dasd=0.0.5235", DHCP),
        ),
        (
            SystemVendor(manufacturer="ibm/s390", product_name="z/VM 7.2"),
            LINE + " ai.ip_cfg_override=1",
            karg(
                "rd.neednet=1", "rd.znet=qeth,0.0.bdd0", "rd.dasd=0.0.5235", "ip=10.14.6.3::x", "nameserver=10.14.6.1"
            ),
        ),
        (SystemVendor(manufacturer="IBM/S390", product_name="KVM/Linux"), LINE, karg(DHCP)),
        (SystemVendor(manufacturer="QEMU"), LINE, karg(DHCP)),
        (None, LINE, karg(DHCP)),
    ],
)
def test_mainframes_keep_their_devices(vendor: SystemVendor | None, line: str, expected: list[str]) -> None:
    member = member_with(vendor=vendor, boot=Boot(command_line=line))
    assert kernel_arguments(member=member) == expected


def test_logs_of_the_bootstrap_host_include_the_other_masters() -> None:
    first = host_state(1, bootstrap=True)
    two = an_interface(2, ipv4=("192.0.2.12/24", "198.51.100.2/24"))
    second = host_state(2, reports=some_reports(2, inventory=an_inventory(2, interfaces=(two,))))
    others = (second, host_state(3, role=HostRole.WORKER), host_state(4, reports=NO_REPORTS))
    state = cluster_state(hosts=(first, *others))
    assert told(install_arguments.logs_gather(occasion(first, state=state))) == {
        "cluster_id": str(CLUSTER_ID),
        "infra_env_id": str(INFRA_ENV_ID),
        "host_id": str(host_id(1)),
        "bootstrap": True,
        "installer_gather": True,
        "master_ips": ["192.0.2.12"],
    }
    free = cluster_state(hosts=(first, *others), user_managed_networking=True)
    assert told(install_arguments.logs_gather(occasion(first, state=free)))["master_ips"] == [
        "192.0.2.12",
        "198.51.100.2",
    ]


def test_logs_of_other_hosts_are_their_own() -> None:
    assert told(install_arguments.logs_gather(occasion()))["master_ips"] == []


def test_logs_are_not_gathered_twice_nor_in_the_pool() -> None:
    assert install_arguments.logs_gather(occasion(host_state(1, logs_collected_at=NOW))) is None
    pool = Occasion(member=host_state(1), policy=a_policy(), inputs=INPUTS)
    assert install_arguments.logs_gather(pool) is None


def test_reclaiming() -> None:
    artifacts = BootArtifacts(kernel_url="k", rootfs_url="r", initrd_url="i")
    inputs = StepInputs(boot_artifacts={INFRA_ENV_ID: artifacts})
    assert told(install_arguments.download_boot_artifacts(occasion(inputs=inputs))) == {
        "kernel_url": "k",
        "rootfs_url": "r",
        "initrd_url": "i",
        "host_fs_mount_dir": "/host",
    }
    assert install_arguments.download_boot_artifacts(occasion()) is None
    assert told(install_arguments.reboot_for_reclaim(occasion())) == {"host_fs_mount_dir": "/host"}


def test_stopping_needs_no_words() -> None:
    assert install_arguments.stop_installation(occasion()).args == ()
