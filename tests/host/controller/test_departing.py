"""Installations whose service goes away: what is kept of it, operators' objects in the cluster, when all is over."""

import asyncio
import base64
import json
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install.controller_rights import OPERATORS_CONFIG_MAP, READY_CONFIG_MAP
from firstlight.host.controller import operator_objects, readiness
from firstlight.host.controller.departing import is_complete, live_with_departing_service
from firstlight.host.controller.documents import ClusterDocument, HostDocument, without_hardware
from firstlight.host.controller.kube.access import Access, kubeconfig_text
from firstlight.host.controller.objects import (
    ClusterOperator,
    Condition,
    Csv,
    Metadata,
    Node,
    OperatorState,
    Subscription,
    SubscriptionStatus,
)
from firstlight.host.controller.operator_objects import ObjectsFromCluster, Progress, read_entries
from firstlight.host.controller.readiness import invoker_of
from firstlight.host.controller.taints import nobody_else_removes
from tests.host.agent.scripted import Asked, Said, document
from tests.host.controller.sites import said, site_at


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_rights_are_to_the_objects_that_are_used() -> None:
    assert operator_objects.CONFIG_MAP == OPERATORS_CONFIG_MAP
    assert readiness.READY_CONFIG_MAP == READY_CONFIG_MAP


def test_a_host_without_its_hardware_is_still_known() -> None:
    addresses = '[{"ipv4_addresses": ["192.0.2.5/24"], "ipv6_addresses": ["fe80::1/64", "fd00::5/64"]}]'
    inventory = f'{{"hostname": "own", "interfaces": {addresses}, "disks": [{", ".join(["{}"] * 900)}]}}'
    host = HostDocument(id=UUID(int=1), requested_hostname="given", inventory=inventory, role="worker")
    kept = without_hardware(host)
    assert (kept.names, kept.addresses, kept.role) == (host.names, host.addresses, "worker")
    assert len(kept.inventory or "") < 200


@pytest.mark.parametrize(
    ("available", "masters", "over"), [("True", 3, True), ("True", 2, False), ("False", 3, False), ("", 3, False)]
)
def test_when_it_is_over(available: str, masters: int, over: bool) -> None:
    label = {"node-role.kubernetes.io/master": ""}
    nodes = {str(one): Node(metadata=Metadata(name=str(one), labels=label)) for one in range(masters)}
    nodes["worker"] = Node(metadata=Metadata(name="worker"))
    state = OperatorState(conditions=(Condition(type="Available", status=available),))
    version = ClusterOperator(status=state) if available else None
    assert is_complete(version, nodes, masters=3) is over


SECRET = "nobody-may-read-this"
OVERRIDES = {"platform": {"vsphere": {"vcenters": [{"user": "admin", "password": SECRET, "server": "vcenter.lab"}]}}}


@pytest.mark.anyio
@pytest.mark.parametrize("has_credentials", [True, False])
async def test_what_is_kept_in_the_cluster_is_no_secret(has_credentials: bool, tmp_path: Path) -> None:
    """But still tells whose the taint of the cloud is."""
    overrides = json.dumps(OVERRIDES if has_credentials else {"pullSecret": SECRET})
    cluster = {"id": str(UUID(int=1)), "platform": {"type": "vsphere"}, "install_config_overrides": overrides}
    kept: list[dict[str, str]] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith("/downloads/credentials"):
            return Said(body=kubeconfig_text(Access(server="https://192.0.2.1:6443")).encode())
        if asked.path.endswith("/hosts"):
            return document([])
        if asked.path.endswith(READY_CONFIG_MAP):
            if asked.method == "PATCH":
                kept.append(asked.json()["data"])
                return document({})
            return document({}, status=404)
        return document(cluster)

    async with site_at(script, tmp_path) as (site, server):
        task = asyncio.create_task(live_with_departing_service(site))
        await server.until(lambda _: bool(kept), seconds=60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert SECRET not in json.dumps(kept)
    again = msgspec.convert(json.loads(kept[0]["installation"])["cluster"], ClusterDocument)
    ours = nobody_else_removes("vsphere", cluster=again, invoker="agent-installer", version="4.18.0")
    assert ours is not has_credentials


# --- the objects of operators -----------------------------------------------------------------------------------------

OBJECT = '{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}'
ABOUT = '{"namespace": "storage", "subscriptionName": "lvms", "manifests": ["lvm-01.yaml", "lvm-02.yaml"]}'
DATA = {"lvm.metadata.yaml": ABOUT, "lvm-01.yaml": base64.b64encode(OBJECT.encode()).decode(), "lvm-02.yaml": OBJECT}


def test_entries() -> None:
    (entry,) = read_entries(DATA)
    assert (entry.operator.name, entry.operator.subscription_name) == ("lvm", "lvms")
    assert entry.texts == {"lvm-01.yaml": OBJECT, "lvm-02.yaml": OBJECT}
    (entry,) = read_entries({"lvm.metadata.yaml": ABOUT})
    assert entry.missing == ("lvm-01.yaml", "lvm-02.yaml")
    yaml_text = "namespace: storage\nsubscriptionName: lvms\nmanifests:\n- lvm-01.yaml\n"
    assert read_entries({"lvm.metadata.yaml": yaml_text})[0].missing == ("lvm-01.yaml",)


@pytest.mark.parametrize("text", ["a: [", "namespace: storage\n", "- one\n", ""])
def test_entries_that_are_none(text: str) -> None:
    with pytest.raises(Invalid):
        read_entries({"lvm.metadata.yaml": text})


async def outcome_of(config_map: Said, folder: Path) -> tuple[Progress, str]:
    """With no subscription in the cluster; how far it came, and the log."""

    def script(asked: Asked) -> Said:
        return config_map if asked.path.endswith(operator_objects.CONFIG_MAP) else document({}, status=404)

    async with site_at(script, folder) as (site, server):
        objects = ObjectsFromCluster(site)
        task = asyncio.create_task(objects.run())
        await server.until(lambda asked: len(asked) > 0 and (task.done() or len(asked) > 2), seconds=60)
        await asyncio.wait([task], timeout=0.3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return objects.progress, said(site)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("config_map", "progress", "told"),
    [
        pytest.param(document({}, status=404), Progress.NOTHING_THERE, "", id="none"),
        pytest.param(document({"data": DATA}), Progress.UNDER_WAY, "wait for its subscription", id="early"),
    ],
)
async def test_what_waits(config_map: Said, progress: Progress, told: str, tmp_path: Path) -> None:
    found, log = await outcome_of(config_map, tmp_path)
    assert found is progress
    assert told in log


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("config_map", "told"),
    [
        pytest.param(document({"message": "no"}, status=403), "by hand", id="forbidden"),
        pytest.param(document({"message": "who?"}, status=401), "by hand", id="unauthorized"),
        pytest.param(document({"data": {"lvm.metadata.yaml": "a: ["}}), "cannot be used", id="no-yaml"),
        pytest.param(document({"data": {}}), "", id="empty"),
    ],
)
async def test_what_ends(config_map: Said, told: str, tmp_path: Path) -> None:
    def script(asked: Asked) -> Said:
        return config_map if asked.path.endswith(operator_objects.CONFIG_MAP) else document({}, status=404)

    async with site_at(script, tmp_path) as (site, _):
        objects = ObjectsFromCluster(site)
        async with asyncio.timeout(60):
            await objects.run()
        assert objects.progress is Progress.OVER
        assert told in said(site)


@pytest.mark.anyio
@pytest.mark.parametrize("refusal", [403, 422, 500])
async def test_an_object_that_is_refused_keeps_no_other_waiting(refusal: int, tmp_path: Path) -> None:
    """Webhooks of operators that start refuse with 403 what they take a moment later."""
    about = '{"namespace": "storage", "subscriptionName": "s", "manifests": ["%s"]}'
    data = {f"{name}.metadata.yaml": about % name for name in ("one", "two")}
    data |= {name: OBJECT.replace('"a"', f'"{name}"') for name in ("one", "two")}
    applied: list[str] = []

    def script(asked: Asked) -> Said:
        if asked.path.endswith(operator_objects.CONFIG_MAP):
            return document({"data": data})
        if asked.path == "/api/v1":
            return document({"resources": [{"name": "things", "kind": "Thing"}]})
        if asked.path.startswith("/api/v1/things/"):
            applied.append(asked.path.rpartition("/")[2])
            refused = applied[-1] == "one" and applied.count("one") < 3
            return document({"message": "not yet"}, status=refusal if refused else 200)
        return document({})

    async with site_at(script, tmp_path) as (site, _):
        site.kept_admin = site.kube.access
        metadata = Metadata(name="s", namespace="storage")
        site.subscriptions.items = {
            "storage/s": Subscription(metadata=metadata, status=SubscriptionStatus(current_csv="v1"))
        }
        site.csvs.items = {"storage/v1": Csv()}
        objects = ObjectsFromCluster(site)
        async with asyncio.timeout(60):
            await objects.run()
        assert "not yet" in said(site)
    assert objects.progress is Progress.OVER
    assert sorted(applied) == ["one", "one", "one", "two"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "invoker"),
    [
        (document({"data": {"invoker": "agent-installer"}}), "agent-installer"),
        (document({"data": {}}), ""),
        (document({}, status=404), ""),
        (document({}, status=403), ""),
    ],
)
async def test_who_made_the_manifests(answer: Said, invoker: str, tmp_path: Path) -> None:
    async with site_at(lambda asked: answer, tmp_path) as (site, _):
        assert await invoker_of(site.kube) == invoker
