"""Infra-envs over HTTP: register, list, show, change, forget."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from msgspec.structs import replace

from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.server.ports.subjects import cluster_subject, host_subject, infra_env_subject
from firstlight.server.usecases.world import World
from tests.api.calling import PULL_SECRET, UNKNOWN, Client, an_app, reason
from tests.api.machines import ONE_HOST, OVERRIDE, a_site, told
from tests.builders.clusters import cluster_state
from tests.builders.moments import CLUSTER_ID
from tests.worlds import SetClock, a_world, put_cluster

pytestmark = pytest.mark.anyio

NEVER = "0001-01-01T00:00:00.000Z"
NEW = {"name": "lab", "pull_secret": PULL_SECRET}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB me@example.com"


def a_certificate() -> str:
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example")])
    start = datetime(2025, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 7, start, start + timedelta(days=1))
    return builder.sign(key, None).public_bytes(Encoding.PEM).decode()


async def registered(call: Client, **changes: Any) -> dict[str, Any]:
    answer = await call("POST", "/infra-envs", NEW | changes)
    assert answer.status == 201, answer.body
    return answer.json()


# --- register


async def test_register_the_least(call: Client, world: World) -> None:
    infra_env = await registered(call)
    infra_env_id = UUID(infra_env["id"])
    assert infra_env["kind"] == "InfraEnv"
    assert infra_env["href"] == f"/api/assisted-install/v2/infra-envs/{infra_env['id']}"
    assert (infra_env["type"], infra_env["cpu_architecture"]) == ("full-iso", "x86_64")
    version = world.catalogue.os_image("", architecture=CpuArchitecture.X86_64).openshift_version
    assert infra_env["openshift_version"] == version
    assert infra_env["download_url"] == f"http://127.0.0.1:8888/byid/{infra_env['id']}/{version}/x86_64/full.iso"
    assert infra_env["expires_at"] == NEVER
    assert infra_env["pull_secret_set"] is True
    assert (infra_env["user_name"], infra_env["proxy"]) == ("admin", {})
    assert "cluster_id" not in infra_env
    assert PULL_SECRET not in json.dumps(infra_env)
    subject = infra_env_subject(infra_env_id)
    assert await world.store.secret(subject, "pull_secret") == PULL_SECRET
    assert len(bytes.fromhex(await world.store.secret(subject, "signing_key") or "")) == 32
    assert await told(world, infra_env_id) == ["infra_env_registered", "image_info_updated"]


async def test_register_everything(call: Client) -> None:
    bundle = a_certificate()
    infra_env = await registered(
        call,
        openshift_version="4.18",
        image_type="minimal-iso",
        cpu_architecture="aarch64",
        ssh_authorized_key=KEY + "\n",
        proxy={"http_proxy": "http://proxy.example.com:3128", "no_proxy": "example.com,192.0.2.0/24"},
        additional_ntp_sources="ntp.example.com",
        kernel_arguments=[{"operation": "append", "value": "rd.net=1"}],
        ignition_config_override=OVERRIDE,
        static_network_config=[ONE_HOST],
        additional_trust_bundle=f"\n{bundle}\n",
        network_discovery_delay_seconds=5,
    )
    assert infra_env["cpu_architecture"] == "arm64"
    assert infra_env["openshift_version"].startswith("4.18")
    assert infra_env["download_url"].endswith("/arm64/minimal.iso")
    assert len(infra_env["download_url"]) < 255
    assert infra_env["ssh_authorized_key"] == KEY
    assert infra_env["proxy"] == {"http_proxy": "http://proxy.example.com:3128", "no_proxy": "example.com,192.0.2.0/24"}
    assert json.loads(infra_env["kernel_arguments"]) == [{"operation": "append", "value": "rd.net=1"}]
    assert json.loads(infra_env["static_network_config"]) == [ONE_HOST]
    assert infra_env["additional_trust_bundle"] == bundle.strip()
    assert infra_env["ignition_config_override"] == OVERRIDE
    assert infra_env["network_discovery_delay_seconds"] == 5


async def test_register_for_a_cluster(call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    infra_env = await registered(call, cluster_id=str(CLUSTER_ID))
    assert infra_env["cluster_id"] == str(CLUSTER_ID)
    due = await world.store.claim_due(owner="t", now=world.clock.now(), lease=timedelta(seconds=1), limit=9)
    assert [row.subject for row in due] == [cluster_subject(CLUSTER_ID)]


@pytest.mark.parametrize(
    ("cluster", "architecture", "status"),
    [
        ({"cpu_architecture": "x86_64"}, "x86_64", 201),
        ({"cpu_architecture": "x86_64"}, "arm64", 400),
        ({"cpu_architecture": "multi", "release_architectures": ("x86_64", "arm64")}, "aarch64", 201),
        ({"cpu_architecture": "multi", "release_architectures": ("x86_64", "arm64")}, "s390x", 400),
    ],
)
async def test_the_architecture_is_the_clusters(
    call: Client, world: World, cluster: dict[str, Any], architecture: str, status: int
) -> None:
    await put_cluster(world, cluster_state(hosts=(), **cluster))
    body = NEW | {"cluster_id": str(CLUSTER_ID), "cpu_architecture": architecture}
    answer = await call("POST", "/infra-envs", body)
    assert answer.status == status, answer.body


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pull_secret": "x"}, "pull secret for new infraEnv is invalid: "),
        ({"pull_secret": '{"auths":{}}'}, "'auths' JSON-object field"),
        ({"pull_secret": '{"auths":{"quay.io":{"auth":"?"}}}'}, "invalid pull secret: 'auth'"),
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"ssh_authorized_key": "ssh-rsa no"}, "SSH key is not valid"),
        ({"openshift_version": "3.11"}, "no OS image"),
        ({"openshift_version": "nonsense"}, "nonsense"),
        ({"kernel_arguments": [{"operation": "delete", "value": "a"}]}, "Only append is"),
        ({"ignition_config_override": "{"}, "not valid JSON"),
        ({"ignition_config_override": '{"ignition":{"version":"2.0.0"}}'}, "unsupported config version"),
        ({"rendezvous_ip": "192.0.2.1"}, "disconnected-iso only"),
        ({"proxy": {"http_proxy": "https://a"}}, "https"),
        ({"proxy": {"https_proxy": "ftp://a"}}, "HTTPS proxy"),
        ({"proxy": {"no_proxy": "a b"}}, "no_proxy"),
        ({"additional_ntp_sources": "UPPER"}, "NTP source"),
        ({"additional_ntp_sources": "a.b", "ntp_sources": "c.d"}, "exclude each other"),
        ({"additional_trust_bundle": "no certificate"}, "trust bundle"),
        (
            {"additional_trust_bundle": "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----"},
            "certificate 1 cannot be parsed",
        ),
        ({"image_type": "minimal-iso", "cpu_architecture": "s390x"}, "s390x"),
        ({"static_network_config": [{"network_yaml": "a: 1"}]}, "maps no MAC address"),
        ({"static_network_config": [ONE_HOST | {"network_yaml": "a: ["}]}, "Static network configuration 1"),
        ({"static_network_config": [ONE_HOST | {"network_yaml": "- a"}]}, "not a YAML mapping"),
        ({"static_network_config": [ONE_HOST | {"network_yaml": ""}]}, "0 YAML documents"),
        ({"static_network_config": [ONE_HOST | {"network_yaml": "interfaces: [{name: x, type: ethernet}]"}]}, " x"),
        ({"static_network_config": [ONE_HOST | {"network_yaml": "a: &a [1,1]\nb: *c\n"}]}, "alias"),
        ({"network_discovery_delay_seconds": 10**9}, "at most 3600"),
    ],
)
async def test_refused_registrations(call: Client, world: World, changes: dict[str, Any], words: str) -> None:
    assert words in reason(await call("POST", "/infra-envs", NEW | changes), 400)
    assert (await call("GET", "/infra-envs")).json() == []
    names = [event.name for event in await world.store.events_after(0, limit=9)]
    assert names == ["infra_env_registration_failed"]


@pytest.mark.parametrize(
    "changes",
    [
        {"name": None},
        {"pull_secret": None},
        {"image_type": "tiny"},
        {"cpu_architecture": "multi"},
        {"kernel_arguments": [{"operation": "append", "value": "a b"}]},
        {"additional_trust_bundle": "a" * 65_536},
        {"unknown": True},
        {"network_discovery_delay_seconds": -1},
    ],
)
async def test_registrations_outside_of_the_schema(call: Client, changes: dict[str, Any]) -> None:
    answer = await call("POST", "/infra-envs", NEW | changes)
    assert (answer.status, answer.json()["code"]) == (400, 400)


async def test_an_unknown_cluster(call: Client) -> None:
    answer = await call("POST", "/infra-envs", NEW | {"cluster_id": str(UNKNOWN)})
    assert "no cluster" in reason(answer, 404)


async def test_what_no_image_can_carry(call: Client) -> None:
    big = {"ignition": {"version": "3.1.0"}, "storage": {"files": []}}
    noise = "".join(f"{number * 2654435761 % 2**32:08x}" for number in range(90_000))
    big["storage"]["files"] = [{"path": "/a", "contents": {"source": f"data:,{noise}"}}]
    answer = await call("POST", "/infra-envs", NEW | {"ignition_config_override": json.dumps(big)})
    assert "262144" in reason(answer, 400)


async def test_a_fixed_id_of_the_agent_installer(tmp_path: Any) -> None:
    async with a_world(tmp_path, infra_env_id=UNKNOWN, default_ntp_source="ntp.default") as world:
        call = Client(an_app(world))
        infra_env = await registered(call)
        assert infra_env["id"] == str(UNKNOWN)
        assert infra_env["additional_ntp_sources"] == "ntp.default"
        assert "already" in reason(await call("POST", "/infra-envs", NEW), 409)


async def test_a_disconnected_image(call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=(), kind=ClusterKind.DISCONNECTED))
    infra_env = await registered(
        call, cluster_id=str(CLUSTER_ID), image_type="disconnected-iso", rendezvous_ip="192.0.2.1"
    )
    assert infra_env["download_url"].endswith("/disconnected.iso")
    assert infra_env["rendezvous_ip"] == "192.0.2.1"


# --- looking


async def test_list_and_filter(call: Client, world: World) -> None:
    await put_cluster(world, cluster_state(hosts=()))
    mine = await registered(call, name="mine", cluster_id=str(CLUSTER_ID))
    pool = await registered(call, name="pool")

    async def ids(query: str = "") -> list[str]:
        answer = await call("GET", "/infra-envs/", query=query)
        assert answer.status == 200
        return [infra_env["name"] for infra_env in answer.json()]

    assert set(await ids()) >= {"mine", "pool"}
    assert "mine" in await ids(f"cluster_id={CLUSTER_ID}")
    assert "pool" not in await ids(f"cluster_id={CLUSTER_ID}")
    assert await ids("owner=nobody") == []
    assert (await call("GET", "/infra-envs", query="cluster_id=x")).status == 400
    for infra_env in (mine, pool):
        assert (await call("GET", f"/infra-envs/{infra_env['id']}")).json() == infra_env


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("GET", "/downloads/image-url", None),
        ("POST", "/regenerate-signing-key", None),
        ("GET", "/downloads/minimal-initrd", None),
    ],
)
async def test_unknown_infra_envs(call: Client, method: str, path: str, body: object) -> None:
    assert "no infra-env" in reason(await call(method, f"/infra-envs/{UNKNOWN}{path}", body), 404)
    assert (await call(method, f"/infra-envs/x{path}", body)).status == 400


# --- changing


async def test_update(call: Client, world: World, clock: SetClock) -> None:
    infra_env = await registered(call)
    clock.forward(timedelta(seconds=7))
    body = {
        "image_type": "minimal-iso",
        "openshift_version": "4.18",
        "ssh_authorized_key": KEY,
        "proxy": {"http_proxy": "http://proxy.example.com"},
        "kernel_arguments": [{"operation": "append", "value": "a=b"}],
    }
    answer = await call("PATCH", f"/infra-envs/{infra_env['id']}", body)
    after = answer.json()
    assert answer.status == 201
    assert after["type"] == "minimal-iso"
    assert after["download_url"].endswith("/x86_64/minimal.iso")
    assert after["openshift_version"] in after["download_url"]
    assert after["updated_at"] == "2025-06-01T12:00:07.000000Z"
    assert after["created_at"] == infra_env["created_at"]
    assert (await call("GET", f"/infra-envs/{infra_env['id']}")).json() == after
    event = (await world.store.events_after(0, limit=9))[-1]
    assert event.name == "image_info_updated"
    assert event.before is not None
    assert event.after is not None
    assert (event.before["image_type"], event.after["image_type"]) == ("full-iso", "minimal-iso")


async def test_only_the_given_part_of_a_proxy_changes(call: Client) -> None:
    infra_env = await registered(call, proxy={"http_proxy": "http://a.example.com", "no_proxy": "b.example.com"})
    path = f"/infra-envs/{infra_env['id']}"
    after = (await call("PATCH", path, {"proxy": {"no_proxy": ""}})).json()
    assert after["proxy"] == {"http_proxy": "http://a.example.com"}
    after = (await call("PATCH", path, {"proxy": {"https_proxy": "http://c.example.com"}})).json()
    assert after["proxy"] == {"http_proxy": "http://a.example.com", "https_proxy": "http://c.example.com"}


async def test_what_empty_values_do(call: Client, world: World) -> None:
    infra_env = await registered(
        call,
        ssh_authorized_key=KEY,
        ignition_config_override=OVERRIDE,
        additional_trust_bundle=a_certificate(),
        static_network_config=[ONE_HOST],
        kernel_arguments=[{"operation": "append", "value": "a"}],
        additional_ntp_sources="a.b",
    )
    kept = {"ssh_authorized_key": "", "ignition_config_override": "", "pull_secret": ""}
    path = f"/infra-envs/{infra_env['id']}"
    assert (await call("PATCH", path, kept)).json() == infra_env
    cleared = {
        "additional_trust_bundle": "",
        "static_network_config": [],
        "kernel_arguments": [],
        "additional_ntp_sources": "",
    }
    after = (await call("PATCH", path, cleared)).json()
    assert not set(cleared) & set(after)
    assert await world.store.secret(infra_env_subject(UUID(infra_env["id"])), "pull_secret") == PULL_SECRET


async def test_nothing_new_changes_nothing(call: Client, world: World, clock: SetClock) -> None:
    infra_env = await registered(call)
    seq = await world.store.last_event_seq()
    clock.forward(timedelta(seconds=7))
    for body in ({}, {"image_type": "full-iso"}, {"proxy": {}}, {"static_network_config": None}):
        answer = await call("PATCH", f"/infra-envs/{infra_env['id']}", body)
        assert (answer.status, answer.json()) == (201, infra_env)
    assert await world.store.last_event_seq() == seq


async def test_a_new_pull_secret(call: Client, world: World) -> None:
    infra_env = await registered(call)
    path = f"/infra-envs/{infra_env['id']}"
    assert "is invalid" in reason(await call("PATCH", path, {"pull_secret": "{}"}), 400)
    other = PULL_SECRET.replace("quay.io", "example.com")
    assert (await call("PATCH", path, {"pull_secret": other})).status == 201
    assert await world.store.secret(infra_env_subject(UUID(infra_env["id"])), "pull_secret") == other
    assert "example.com" not in str((await world.store.events_after(0, limit=9))[-1])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"ssh_authorized_key": "x"}, "SSH key"),
        ({"openshift_version": "3.1"}, "no OS image"),
        ({"additional_ntp_sources": "a.b", "ntp_sources": ""}, "exclude each other"),
        ({"rendezvous_ip": "192.0.2.1"}, "disconnected-iso only"),
    ],
)
async def test_refused_changes(call: Client, body: dict[str, Any], words: str) -> None:
    infra_env = await registered(call)
    path = f"/infra-envs/{infra_env['id']}"
    assert words in reason(await call("PATCH", path, body), 400)
    assert (await call("GET", path)).json() == infra_env


async def test_hosts_are_looked_at_after_a_change(call: Client, world: World) -> None:
    site = await a_site(call, world)
    await site.known()
    await call("PATCH", site.path, {"additional_ntp_sources": "ntp.example.com"})
    due = await world.store.claim_due(owner="t", now=world.clock.now(), lease=timedelta(seconds=1), limit=9)
    assert [row.subject for row in due] == [host_subject(site.key())]
    await site.settle()
    steps = (await site.poll()).json()["instructions"]
    assert any("ntp.example.com" in step["args"][0] for step in steps if step["step_type"] == "ntp-synchronizer")


# --- images and keys


async def test_image_url(call: Client, world: World) -> None:
    infra_env = await registered(call)
    answer = await call("GET", f"/infra-envs/{infra_env['id']}/downloads/image-url")
    assert (answer.status, answer.json()) == (200, {"url": infra_env["download_url"], "expires_at": NEVER})


async def test_a_moved_image_service(call: Client, world: World) -> None:
    infra_env = await registered(call)
    moved = dataclasses.replace(world, service=replace(world.service, image_service_url="https://images.example.com/"))
    answer = await Client(an_app(moved))("GET", f"/infra-envs/{infra_env['id']}/downloads/image-url")
    assert answer.json()["url"].startswith("https://images.example.com/byid/")
    after = (await call("GET", f"/infra-envs/{infra_env['id']}")).json()
    assert after["download_url"] == answer.json()["url"]
    assert after["updated_at"] == infra_env["updated_at"]


async def test_a_new_signing_key(call: Client, world: World) -> None:
    infra_env = await registered(call)
    other = dataclasses.replace(world, random_bytes=lambda count: b"n" * count)
    answer = await Client(an_app(other))("POST", f"/infra-envs/{infra_env['id']}/regenerate-signing-key", {})
    assert (answer.status, answer.body) == (204, b"")
    subject = infra_env_subject(UUID(infra_env["id"]))
    assert await world.store.secret(subject, "signing_key") == (b"n" * 32).hex()


# --- forgetting


async def test_forget(call: Client, world: World) -> None:
    site = await a_site(call, world)
    await site.boot()
    assert "1 hosts" in reason(await call("DELETE", site.path), 400)
    await call("DELETE", site.host())
    answer = await call("DELETE", site.path, {})
    assert (answer.status, answer.body) == (204, b"")
    assert (await call("GET", site.path)).status == 404
    assert (await site.boot()).status == 404
    names = await told(world, site.key()[0])
    assert names[-1] == "infra_env_deregistered"
    assert "infra_env_deregister_failed" in names
    assert await world.store.secret(infra_env_subject(site.key()[0]), "pull_secret") is None
