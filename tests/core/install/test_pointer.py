"""Pointer configs: role, host and day-2, judged by the real validator too."""

import json

import msgspec
import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import HostInterface
from firstlight.core.install.data_url import from_data_url, to_data_url
from firstlight.core.install.inputs import HostFile
from firstlight.core.install.pointer import DayTwoEndpoint, day_two_config, host_config, role_pointer
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from tests.core.install.clusters import DUAL_STACK, a_cluster, a_host, a_single_node
from tests.core.install.documents import a_document
from tests.core.install.validator import verdict

PLAIN = a_host(1, interfaces=(HostInterface(mac="02:00:00:00:00:01", addresses=("192.168.111.1/24",)),))
IPV6_VIPS = {"api_vips": ("2001:db8::5",), "ingress_vips": ("2001:db8::6",)}


def source(config: ignition.Config) -> str:
    (resource,) = config.ignition.config.merge
    return resource.source or ""


@pytest.mark.parametrize(
    ("cluster", "host"),
    [
        (a_cluster(), "192.168.111.5"),
        (a_cluster(**DUAL_STACK), "192.168.111.5"),
        (a_cluster(**IPV6_VIPS), "[2001:db8::5]"),
        (a_cluster(platform=PlatformType.VSPHERE), "192.168.111.5"),
        (a_cluster(user_managed_networking=True), "api-int.sky.example.com"),
        (a_cluster(platform=PlatformType.NONE), "api-int.sky.example.com"),
        (a_single_node(), "api-int.sky.example.com"),
    ],
)
def test_where_hosts_are_sent(cluster, host: str) -> None:
    for role in (HostRole.MASTER, HostRole.WORKER, HostRole.ARBITER):
        assert source(role_pointer(cluster, role, root_ca="pem")) == f"https://{host}:22623/config/{role}"


def test_the_root_authority_is_trusted() -> None:
    (authority,) = role_pointer(
        a_cluster(), HostRole.WORKER, root_ca="pem"
    ).ignition.security.tls.certificate_authorities
    assert from_data_url(authority.source or "") == b"pem"


def test_additions_of_the_role() -> None:
    lease = HostFile(path="/etc/keepalived/lease-api", content=b"lease")
    cluster = a_cluster(service_ca="ca", hosts=(PLAIN,))
    master = role_pointer(cluster, HostRole.MASTER, root_ca="pem", lease_files=[lease])
    worker = role_pointer(cluster, HostRole.WORKER, root_ca="pem", lease_files=[lease])
    assert [node.path for node in master.storage.files] == ["/etc/assisted-service/service-ca-cert.crt", lease.path]
    assert [node.path for node in worker.storage.files] == ["/etc/assisted-service/service-ca-cert.crt"]
    six = role_pointer(a_cluster(), HostRole.WORKER, root_ca="pem")
    assert [node.path for node in six.storage.files] == ["/etc/NetworkManager/conf.d/01-ipv6.conf"]


def made(cluster=None, host=None, **options: object) -> ignition.Config:
    cluster, host = cluster or a_cluster(), host or PLAIN
    base = role_pointer(cluster, host.role, root_ca="pem")
    return host_config(cluster, host, base=base, **options)


def test_a_host_gets_its_name() -> None:
    assert ignition.content_of(made(), "/etc/hostname") == b"master-1"
    assert ignition.content_of(made(host=msgspec.structs.replace(PLAIN, name="")), "/etc/hostname") is None


@pytest.mark.parametrize(
    ("cluster", "host", "hint"),
    [
        (a_single_node(), PLAIN, b"KUBELET_NODEIP_HINT=192.168.111.0\n"),
        (a_single_node(machine_networks=("10.0.0.7/24",)), PLAIN, b"KUBELET_NODEIP_HINT=10.0.0.7\n"),
        (a_single_node(machine_networks=()), PLAIN, None),
        (a_cluster(), PLAIN, None),
        (a_cluster(), msgspec.structs.replace(PLAIN, node_ip_hint="192.0.2.0"), b"KUBELET_NODEIP_HINT=192.0.2.0\n"),
    ],
)
def test_the_node_address_hint(cluster, host, hint: bytes | None) -> None:
    assert ignition.content_of(made(cluster, host), "/etc/default/nodeip-configuration") == hint


def test_the_hosts_override_wins() -> None:
    name = {"path": "/etc/hostname", "contents": {"source": "data:,mine"}}
    override = json.dumps(a_document(storage={"files": [name]}))
    assert (
        ignition.content_of(made(host=msgspec.structs.replace(PLAIN, ignition_override=override)), "/etc/hostname")
        == b"mine"
    )
    with pytest.raises(Invalid, match="unsupported config version"):
        made(host=msgspec.structs.replace(PLAIN, ignition_override="{}"))


def test_a_worker_may_join_a_pool_of_its_own() -> None:
    worker = a_host(4, HostRole.WORKER, machine_config_pool="infra")
    assert source(made(host=worker, pools=["infra"])).endswith("/config/infra")
    with pytest.raises(Invalid, match="pool infra"):
        made(host=worker, pools=["gpu"])
    assert source(made(host=a_host(1, machine_config_pool="infra"))).endswith("/config/master")


def test_a_host_that_ran_from_its_disk_is_cleaned() -> None:
    config = made(host=msgspec.structs.replace(PLAIN, booted_from_disk=True))
    assert [unit.name for unit in config.systemd.units] == ["firstlight-remove-live-system.service"]
    assert not made().systemd.units


WORKER = a_host(9, HostRole.WORKER)


@pytest.mark.parametrize(
    ("endpoint", "host", "url"),
    [
        (DayTwoEndpoint(api_host="api.sky.example.com"), WORKER, "http://api.sky.example.com:22624/config/worker"),
        (DayTwoEndpoint(api_host="192.0.2.1"), a_host(9, HostRole.AUTO_ASSIGN), "http://192.0.2.1:22624/config/worker"),
        (DayTwoEndpoint(api_host="2001:db8::1"), WORKER, "http://[2001:db8::1]:22624/config/worker"),
        (
            DayTwoEndpoint(api_host="api.sky.example.com", authorities=("pem",)),
            WORKER,
            "https://api-int.sky.example.com:22623/config/worker",
        ),
        (DayTwoEndpoint(api_host="192.0.2.1", authorities=("pem",)), WORKER, "https://192.0.2.1:22623/config/worker"),
        (DayTwoEndpoint(url="https://m:22623/config"), a_host(9, HostRole.MASTER), "https://m:22623/config/master"),
        (
            DayTwoEndpoint(api_host="a.b"),
            a_host(9, HostRole.WORKER, machine_config_pool="infra"),
            "http://a.b:22624/config/infra",
        ),
    ],
)
def test_day_two_endpoints(endpoint: DayTwoEndpoint, host, url: str) -> None:
    config = day_two_config(host, endpoint)
    assert source(config) == url
    assert ignition.content_of(config, "/etc/hostname") == host.name.encode()


def test_day_two_authorities_are_united() -> None:
    own = {"tls": {"certificateAuthorities": [{"source": to_data_url(b"pem")}, {"source": to_data_url(b"mine")}]}}
    override = json.dumps({"ignition": {"version": "3.2.0", "security": own}})
    host = msgspec.structs.replace(WORKER, ignition_override=override)
    config = day_two_config(host, DayTwoEndpoint(api_host="api.a", authorities=("pem", "pem")))
    authorities = config.ignition.security.tls.certificate_authorities
    assert [from_data_url(one.source or "") for one in authorities] == [b"pem", b"mine"]
    assert source(day_two_config(host, DayTwoEndpoint(api_host="api.a"))).startswith("https://api-int.a:22623/")


def test_day_two_headers() -> None:
    endpoint = DayTwoEndpoint(url="https://m/config", token="t", headers=(("X-Extra", "1"),))
    (resource,) = day_two_config(WORKER, endpoint).ignition.config.merge
    assert [(one.name, one.value) for one in resource.http_headers] == [("Authorization", "Bearer t"), ("X-Extra", "1")]


@pytest.mark.peer("ignition")
def test_the_peer_accepts_all_of_them() -> None:
    cluster, single = a_cluster(service_ca="ca", **DUAL_STACK), a_single_node()
    pointers = [role_pointer(cluster, role, root_ca="pem") for role in (HostRole.MASTER, HostRole.WORKER)]
    hosts = [made(cluster, host) for host in cluster.hosts] + [made(single, host) for host in single.hosts]
    cleaned = a_host(9, HostRole.WORKER, booted_from_disk=True)
    day_two = [day_two_config(cleaned, DayTwoEndpoint(api_host="api.a", authorities=("pem",), token="t"))]
    for config in (*pointers, *hosts, *day_two):
        assert verdict(ignition.encode(config)) == ""
