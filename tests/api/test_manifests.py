"""Manifests over HTTP: what is kept, what is refused, and who wrote what."""

import base64
import json
from typing import Any, Final

import pytest

from firstlight.core.install.manifests import LARGEST
from firstlight.core.model.cluster_status import ClusterStatus
from firstlight.server.usecases.world import World
from tests.api.calling import UNKNOWN, Client, event_names, ready_cluster, reason
from tests.builders.moments import CLUSTER_ID
from tests.usecases.preparing import a_preparing_cluster, put_manifest, run
from tests.worlds import put_cluster

pytestmark = pytest.mark.anyio

PATH: Final = f"/clusters/{CLUSTER_ID}/manifests"
CONFIG_MAP: Final = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
OTHER: Final = CONFIG_MAP.replace("name: a", "name: b")


def encoded(content: str | bytes) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def sent(name: str = "a.yaml", content: str | bytes = CONFIG_MAP, **more: Any) -> dict[str, Any]:
    return {"file_name": name, "content": encoded(content), **more}


async def listed(call: Client, query: str = "") -> list[tuple[str, str]]:
    answer = await call("GET", PATH, query=query)
    assert answer.status == 200
    return [(one["folder"], one["file_name"]) for one in answer.json()]


async def content(call: Client, name: str, *, folder: str = "manifests") -> bytes:
    answer = await call("GET", f"{PATH}/files", query=f"file_name={name}&folder={folder}")
    assert answer.status == 200
    return answer.body


@pytest.fixture
async def cluster(world: World) -> None:
    await ready_cluster(world)


@pytest.mark.usefixtures("cluster")
class TestTheSameObjectTwice:
    async def test_another_manifest_that_has_it_is_named(self, call: Client) -> None:
        await call("POST", PATH, sent(folder="openshift"))
        refusal = reason(await call("POST", PATH, sent("b.yaml", f"{OTHER}---\n{CONFIG_MAP}")), 400)
        assert "ConfigMap a is in manifest openshift/a.yaml and in manifests/b.yaml." in refusal
        assert await listed(call) == [("openshift", "a.yaml")]

    async def test_a_manifest_may_be_renamed_moved_and_replaced_by_itself(self, call: Client) -> None:
        await call("POST", PATH, sent())
        assert (await call("POST", PATH, sent())).status == 201
        body = {"folder": "manifests", "file_name": "a.yaml", "updated_file_name": "b.yaml"}
        assert (await call("PATCH", PATH, body)).status == 200
        body = {"folder": "manifests", "file_name": "b.yaml", "updated_folder": "openshift"}
        assert (await call("PATCH", PATH, body | {"updated_content": encoded(CONFIG_MAP)})).status == 200

    async def test_patches_and_what_is_gone_are_in_nobodys_way(self, call: Client, world: World) -> None:
        await call("POST", PATH, sent("x.yaml.patch_1", "- {op: add, path: /a, value: 1}"))
        await call("POST", PATH, sent())
        await world.blobs.delete(f"{CLUSTER_ID}/manifests/manifests/a.yaml")
        assert (await call("POST", PATH, sent("b.yaml"))).status == 201


@pytest.mark.usefixtures("cluster")
class TestKeeping:
    async def test_a_manifest_is_listed_and_comes_back_as_it_was(self, call: Client, world: World) -> None:
        answer = await call("POST", PATH, sent())
        assert answer.status == 201
        assert answer.json() == {"folder": "manifests", "file_name": "a.yaml", "manifest_source": "user"}
        assert (await call("GET", PATH)).json() == [answer.json()]
        file = await call("GET", f"{PATH}/files", query="file_name=a.yaml")
        assert (file.status, file.body.decode()) == (200, CONFIG_MAP)
        assert file.headers["content-disposition"] == 'attachment; filename="a.yaml"'
        assert "cluster_updated" in await event_names(world, CLUSTER_ID)

    async def test_the_same_name_again_replaces(self, call: Client) -> None:
        await call("POST", PATH, sent())
        assert (await call("POST", PATH, sent(content=OTHER))).status == 201
        assert await listed(call) == [("manifests", "a.yaml")]
        assert await content(call, "a.yaml") == OTHER.encode()

    async def test_usage_follows_their_presence(self, call: Client) -> None:
        async def used() -> bool:
            cluster = (await call("GET", f"/clusters/{CLUSTER_ID}")).json()
            return "Custom manifest" in json.loads(cluster.get("feature_usage") or "{}")

        assert not await used()
        await call("POST", PATH, sent())
        await call("POST", PATH, sent("b.yaml", OTHER))
        assert await used()
        await call("DELETE", PATH, query="file_name=a.yaml")
        assert await used()
        await call("DELETE", PATH, query="file_name=b.yaml")
        assert not await used()

    async def test_deleting_what_is_not_there_is_fine(self, call: Client) -> None:
        answer = await call("DELETE", PATH, {}, query="file_name=nothing.yaml")
        assert (answer.status, answer.body) == (200, b"")

    async def test_delete_means_the_folder_manifests_unless_said_otherwise(self, call: Client) -> None:
        await call("POST", PATH, sent(folder="openshift"))
        assert (await call("DELETE", PATH, query="file_name=a.yaml")).status == 200
        assert await listed(call) == [("openshift", "a.yaml")]
        assert (await call("DELETE", PATH, query="file_name=a.yaml&folder=openshift")).status == 200
        assert await listed(call) == []

    @pytest.mark.parametrize("method", ["PATCH", "PUT"])
    async def test_rename_move_and_new_content(self, call: Client, method: str) -> None:
        await call("POST", PATH, sent())
        moved = {"folder": "manifests", "file_name": "a.yaml", "updated_folder": "openshift"}
        assert (await call(method, PATH, moved)).json()["folder"] == "openshift"
        changed = {
            "folder": "openshift",
            "file_name": "a.yaml",
            "updated_file_name": "b.yml",
            "updated_content": encoded(OTHER),
        }
        answer = await call(method, PATH, changed)
        assert answer.status == 200
        assert answer.json() == {"folder": "openshift", "file_name": "b.yml", "manifest_source": "user"}
        assert await listed(call) == [("openshift", "b.yml")]
        assert await content(call, "b.yml", folder="openshift") == OTHER.encode()

    async def test_a_renamed_manifest_leaves_nothing_behind(self, call: Client, world: World) -> None:
        await call("POST", PATH, sent())
        await call("PATCH", PATH, {"folder": "manifests", "file_name": "a.yaml", "updated_file_name": "b.yaml"})
        keys = [info.key for info in await world.blobs.list_under(str(CLUSTER_ID))]
        assert keys == [f"{CLUSTER_ID}/manifests/manifests/b.yaml"]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("two.yaml", f"{CONFIG_MAP}---\n---\n{OTHER}"),
            ("one.json", '{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}'),
            ("x.yml.patch_1", "- {op: add, path: /a, value: 1}"),
            ("x.yaml.patch", "- {op: test, path: /a, value: 1}"),
            ("ünïcode.yaml", f"{CONFIG_MAP}data: {{Ä: ö}}"),
            ("anchors.yaml", f"{CONFIG_MAP}data: &a {{b: x}}\nc: *a\n"),
        ],
    )
    async def test_accepted(self, call: Client, name: str, text: str) -> None:
        assert (await call("POST", PATH, sent(name, text))).status == 201
        assert await listed(call) == [("manifests", name)]

    async def test_line_breaks_in_base64_do_not_matter(self, call: Client) -> None:
        body = {"file_name": "a.yaml", "content": "\r\n".join(encoded(CONFIG_MAP)[i : i + 8] for i in range(0, 68, 8))}
        assert (await call("POST", PATH, body)).status == 201
        assert await content(call, "a.yaml") == CONFIG_MAP.encode()


def bomb() -> str:
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines)


def merge_bomb() -> str:
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 10)]
    return "\n".join(lines)


@pytest.mark.usefixtures("cluster")
class TestRefusing:
    @pytest.mark.parametrize("name", [" a.yaml", "a b.yaml", ".yaml", ".a.yaml", "a\\b.yaml", "a\tb.json"])
    async def test_names_that_can_never_be(self, call: Client, name: str) -> None:
        assert reason(await call("POST", PATH, sent(name)), 422)
        assert await listed(call) == []

    @pytest.mark.parametrize(
        "name", ["a.txt", "a", "../a.yaml", "a/b.yaml", "", "a.yaml.patch-x", "a.yaml\n", "a.json.patch_1"]
    )
    async def test_names_the_schema_refuses(self, call: Client, name: str) -> None:
        answer = await call("POST", PATH, sent(name))
        assert answer.status == 400
        assert answer.json()["code"] == 400

    @pytest.mark.parametrize("name", ["a" * 251 + ".yaml", "\u200b" * 100 + ".yaml", "a\x7f.yaml"])
    async def test_names_no_store_would_take(self, call: Client, name: str) -> None:
        assert reason(await call("POST", PATH, sent(name)), 400)
        assert await listed(call) == []

    @pytest.mark.parametrize(
        ("name", "text", "why"),
        [
            ("a.yaml", "", "empty"),
            ("a.yaml", " \n", "empty"),
            ("a.yaml", "a: [", "not valid YAML"),
            ("a.yaml", "kind: A\n---\na: ]", "not valid YAML"),
            ("a.yaml", "just text", "not an object"),
            ("a.yaml", "---\n---\n", "no document"),
            ("a.yaml", "a: !!python/object/apply:os.system [id]", "not valid YAML"),
            ("a.yaml", b"kind: \xff", "UTF-8"),
            ("a.yaml", bomb(), "unfolds to more"),
            ("a.yaml", merge_bomb(), "unfolds to more"),
            ("a.yaml", "a: &a [*a]", "before its value is complete"),
            ("a.yaml", "[" * 3000 + "]" * 3000, "nested deeper"),
            ("a.yaml", "kind: A", "apiVersion is missing; metadata is missing"),
            ("a.yaml", f"{CONFIG_MAP}---\n{OTHER}data: {{port: 80}}", "document 2: data[port] must be text"),
            ("a.yaml", f"{CONFIG_MAP}---\n{CONFIG_MAP}", "holds ConfigMap a twice"),
            ("a.yaml", "a: " + "9" * 5000, "cannot be read"),
            ("a.json", "{", "not valid JSON"),
            ("a.json", "[" * 100_000, "not valid JSON"),
            ("a.json", "[1]", "not an object"),
            ("a.yaml.patch_1", "op: add", "list of JSON patch operations"),
            ("a.yaml.patch_1", "- {op: jump, path: /a}", "no known op"),
            ("a.yaml.patch_1", "- {op: add, path: /a}", "lacks value"),
        ],
    )
    async def test_content_that_is_not_what_its_name_says(
        self, call: Client, name: str, text: str | bytes, why: str
    ) -> None:
        assert why in reason(await call("POST", PATH, sent(name, text)), 400)
        assert await listed(call) == []

    @pytest.mark.parametrize("text", ["%%%", "YQ", "YQ==YQ==", "ä"])
    async def test_what_is_not_base64(self, call: Client, text: str) -> None:
        assert "base64" in reason(await call("POST", PATH, {"file_name": "a.yaml", "content": text}), 400)

    @pytest.mark.parametrize(("size", "status"), [(LARGEST, 201), (LARGEST + 1, 400), (2 * LARGEST, 400)])
    async def test_the_largest(self, call: Client, size: int, status: int) -> None:
        text = CONFIG_MAP + "#" * (size - len(CONFIG_MAP))
        assert (await call("POST", PATH, sent(content=text))).status == status

    async def test_the_same_name_in_the_other_folder(self, call: Client) -> None:
        await call("POST", PATH, sent())
        assert "folder manifests" in reason(await call("POST", PATH, sent(folder="openshift")), 400).lower()

    @pytest.mark.parametrize(
        "name",
        [
            "50-masters-chrony-configuration.yaml",
            "99-openshift-worker-tang-encryption.yaml",
            "cluster-scheduler-02-config.yml.patch_ai_set_masters_schedulable",
        ],
    )
    async def test_names_of_the_service(self, call: Client, name: str) -> None:
        content = "- {op: add, path: /a, value: 1}" if "patch" in name else CONFIG_MAP
        assert "The service writes" in reason(await call("POST", PATH, sent(name, content)), 400)

    async def test_renaming_onto_another(self, call: Client) -> None:
        await call("POST", PATH, sent())
        await call("POST", PATH, sent("b.yaml", OTHER))
        body = {"folder": "manifests", "file_name": "a.yaml", "updated_file_name": "b.yaml"}
        assert "already" in reason(await call("PATCH", PATH, body), 409)

    async def test_changing_what_is_not_there(self, call: Client) -> None:
        body = {"folder": "manifests", "file_name": "a.yaml", "updated_content": encoded(CONFIG_MAP)}
        assert reason(await call("PATCH", PATH, body), 404)
        assert reason(await call("GET", f"{PATH}/files", query="file_name=a.yaml"), 404)

    async def test_an_unknown_folder(self, call: Client) -> None:
        assert (await call("POST", PATH, sent(folder="elsewhere"))).status == 400
        assert (await call("DELETE", PATH, query="file_name=a.yaml&folder=elsewhere")).status == 400


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_an_unknown_cluster(call: Client, method: str) -> None:
    bodies = {"POST": sent(), "PATCH": {"folder": "manifests", "file_name": "a.yaml"}}
    answer = await call(method, f"/clusters/{UNKNOWN}/manifests", bodies.get(method), query="file_name=a.yaml")
    assert reason(answer, 404)
    assert reason(await call("GET", f"/clusters/{UNKNOWN}/manifests/files", query="file_name=a.yaml"), 404)


@pytest.mark.parametrize(
    ("status", "editable"),
    [
        (ClusterStatus.PENDING_FOR_INPUT, True),
        (ClusterStatus.INSUFFICIENT, True),
        (ClusterStatus.READY, True),
        (ClusterStatus.PREPARING_FOR_INSTALLATION, False),
        (ClusterStatus.INSTALLING, False),
        (ClusterStatus.FINALIZING, False),
        (ClusterStatus.INSTALLED, False),
        (ClusterStatus.ERROR, False),
        (ClusterStatus.CANCELLED, False),
        (ClusterStatus.ADDING_HOSTS, False),
    ],
)
async def test_only_before_the_installation(call: Client, world: World, status: ClusterStatus, editable: bool) -> None:
    await put_cluster(world, status=status)
    await put_manifest(world, CLUSTER_ID, "old.yaml", CONFIG_MAP.encode())
    body = {"folder": "manifests", "file_name": "old.yaml", "updated_content": encoded(CONFIG_MAP)}
    answers = [
        await call("POST", PATH, sent(content=OTHER)),
        await call("PATCH", PATH, body),
        await call("DELETE", PATH, query="file_name=old.yaml"),
    ]
    assert [answer.status for answer in answers] == ([201, 200, 200] if editable else [400, 400, 400])
    if not editable:
        assert all(status.value in reason(answer, 400) for answer in answers)
        assert await listed(call) == [("manifests", "old.yaml")]
        assert await content(call, "old.yaml") == CONFIG_MAP.encode()


async def test_the_services_own_are_shown_when_asked_for(call: Client, world: World) -> None:
    _, row = await a_preparing_cluster(world)
    await put_manifest(world, CLUSTER_ID, "mine.yaml", CONFIG_MAP.encode())
    await run(world, row)
    assert await listed(call) == [("manifests", "mine.yaml")]
    everything = (await call("GET", PATH, query="include_system_generated=true")).json()
    assert {one["manifest_source"] for one in everything} == {"user", "system"}
    name = "50-workers-chrony-configuration.yaml"
    assert b"MachineConfig" in await content(call, name, folder="openshift")
