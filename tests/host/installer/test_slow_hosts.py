"""Hosts that are slow, cut off or out of room: what takes long is no fault, and what fails is said."""

import base64
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from firstlight.host.installer.log import LONGEST_LINE, Log
from firstlight.host.installer.skip_reboot import Unusable, machine_config_in
from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.installer.planes import Plane, kubeconfig, tls
from tests.host.installer.rig import INFRA_ENV_ID, OTHER_IDS, TOKEN, Hub, Rig

pytestmark = pytest.mark.anyio
WRITING = "Writing image to disk"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path)
    (rig.root / "opt/openshift/auth").mkdir(parents=True)
    (rig.root / "opt/openshift/.bootkube.done").touch()
    return rig


async def bootstrap(
    rig: Rig, hub: Hub, plane: Plane, *, count: tuple[str, ...] = ("--control-plane-count", "3")
) -> int:
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (rig.root / "opt/openshift/auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        return await rig.finish(server.url, *count, role="bootstrap")


async def test_a_write_may_last_as_long_as_it_goes_on(rig: Rig) -> None:
    """The first attempt falls silent; the second takes longer than what that left of the stage's time."""
    rig.behave(
        "coreos-installer",
        "printf '> (10%%)\\r' >&2\n"
        'if [ ! -e "$RIG/tried" ]; then /bin/touch "$RIG/tried"; exec sleep 600; fi\n'
        "sleep 1; printf '> (50%%)\\r' >&2; sleep 1; printf '> (100%%)\\n' >&2\n",
    )
    hub = Hub()
    async with scripted(hub) as server:
        limit = {"HOST_STAGE_WRITING_IMAGE_TO_DISK_TIMEOUT": "200s"}
        assert await rig.finish(server.url, role="master", **limit) == 0, rig.log()
    assert "coreos-installer said nothing for 4 seconds and was stopped" in rig.log()
    assert len(rig.calls("coreos-installer")) == 2
    assert (WRITING, "100%") in hub.own()


BUSY = (("systemctl", "list-units"), ("systemctl", "daemon-reload"), ("systemctl", "start"), ("shutdown", "-r"))


async def test_a_system_that_is_too_busy_to_answer_is_asked_again(rig: Rig) -> None:
    """Of the services the first one fails, as one does whose images are not there yet."""
    plain = (rig.folder / "behave/systemctl").read_text()
    for program, word in BUSY:
        mark = f'"$RIG/tried{word}"'
        refusal = f"/bin/touch {mark}; echo 'A dependency job failed.' >&2; exit 1"
        plain = f'if [ "$1" = "{word}" ] && [ ! -e {mark} ]; then {refusal}; fi\n{plain}'
        rig.behave(program, plain)
    hub = Hub()
    assert await bootstrap(rig, hub, Plane()) == 0, rig.log()
    asked = Counter(words[1] for words in (*rig.calls("systemctl"), *rig.calls("shutdown")))
    assert (asked["list-units"], asked["daemon-reload"], asked["start"], asked["-r"]) == (2, 2, 4, 2)
    told = ("Starting installation", "systemctl failed (A dependency job failed.); attempt 2 of 3")
    assert told in hub.own()
    assert rig.log().count("attempt=1 of 3") == len(BUSY)


async def test_a_bootstrap_knows_whom_to_wait_for(rig: Rig) -> None:
    """For two masters, where nobody says how many there are; and for the sign of a controller that does not expire."""

    class Late(Plane):
        def __call__(self, asked: Asked) -> Said:
            sign = asked.path.endswith("/configmaps/assisted-installer-controller-ready")
            return Said(200, b'{"data":{"ready":"true"}}') if sign else super().__call__(asked)

    hub, plane = Hub(cluster={"kind": "Cluster"}), Late(events=[])
    ready, plane.nodes = plane.nodes, []

    def soon(asked: Asked) -> Said | None:
        if any("0 of 2 master nodes" in info for _, info in hub.own()):
            plane.nodes = ready
        return None

    hub.refuse = soon
    assert await bootstrap(rig, hub, plane, count=()) == 0, rig.log()
    assert plane.nodes == ready
    assert hub.order()[-1] == "Rebooting"


async def test_a_journal_that_cannot_be_written_fails_the_host_with_that_word(rig: Rig) -> None:
    """Not even that it begins anew can be written then, and the user hears of it all the same."""
    state = rig.root / "run/firstlight-installer"
    state.write_text("a file where the folder should be")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 1
    (report,) = hub.own()
    assert report[0] == "Failed"
    assert "cannot work on this host" in report[1]
    assert not rig.calls("coreos-installer")


def pointing_to(source: str) -> dict[str, object]:
    return {"ignition": {"version": "3.2.0", "config": {"merge": [{"source": source}]}}}


def data_url(content: bytes) -> str:
    return "data:;base64," + base64.b64encode(content).decode()


ZIPPED = gzip.compress(b"{}")


@pytest.mark.parametrize(
    "content", [b"no gzip", ZIPPED[:-4], ZIPPED[:10] + b"\xff" * 20], ids=["plain", "cut", "broken"]
)
def test_a_machine_config_that_cannot_be_unpacked(content: bytes) -> None:
    contents = {"source": data_url(content), "compression": "gzip"}
    file = {"path": "/etc/ignition-machine-config-encapsulated.json", "contents": contents}
    with pytest.raises(Unusable):
        machine_config_in(json.dumps({"storage": {"files": [file]}}).encode())


async def test_an_early_image_that_cannot_be_read_is_left_out(rig: Rig) -> None:
    hub = Hub(host_ignition=pointing_to(data_url(ZIPPED[:-4])))
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--enable-skip-mco-reboot", role="master") == 0, rig.log()
    assert "The node will reboot once more" in rig.log()
    assert hub.order()[-1] == "Rebooting"


async def test_a_registry_s_room_is_made_once(rig: Rig) -> None:
    """Cut off after the partition grew: it neither grows again nor counts as too small or as a failure."""
    (rig.root / "run/media/iso/registry").mkdir(parents=True)
    size = rig.root / "sys/class/block/sda4/size"
    size.write_text("8000000\n")
    rig.behave("du", "echo '40000000000 /mnt/agentdata'\n")
    rig.behave("rsync", "exit 1\n")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--control-plane-count", "1", role="master") == 1
        (before,) = rig.calls("growpart")
        journal = rig.journal()
        assert journal["done"] == [], "a host that failed begins anew"
        facts = {"grown /dev/sda": before[1].partition("=")[2], "device": "/dev/sda"}
        state = {**journal, "facts": facts, "done": ["write-image /dev/sda"]}
        (rig.root / "run/firstlight-installer/journal.json").write_text(json.dumps(state))
        size.write_text("240000000\n")
        rig.behave("growpart", "echo 'NOCHANGE: partition 4 cannot be grown'; exit 1\n")
        rig.behave("rsync", "")
        assert await rig.finish(server.url, "--control-plane-count", "1", role="master") == 0, rig.log()
    assert rig.calls("growpart") == [before, before]


def others(*stages: str) -> list[dict[str, object]]:
    return [
        {"id": one, "infra_env_id": INFRA_ENV_ID, "requested_hostname": f"master-{number}", "role": "master"}
        | {"progress": {"current_stage": stage}}
        for number, (one, stage) in enumerate(zip(OTHER_IDS, stages, strict=False), 1)
    ]


async def test_a_host_that_joined_while_the_service_was_away_is_told_of_later(rig: Rig) -> None:
    hub, plane = Hub(masters=others("Rebooting", "Rebooting")), Plane()
    ready, plane.nodes = plane.nodes, plane.nodes[:1]

    def refuse(asked: Asked) -> Said | None:
        if asked.path.endswith(f"{OTHER_IDS[0]}/progress") and asked.json()["current_stage"] == "Joined":
            if "A report about another host was not delivered" not in rig.log():
                return Said(raw=b"")
            plane.nodes = ready
        return None

    hub.refuse = refuse
    assert await bootstrap(rig, hub, plane) == 0, rig.log()
    assert {(host, stage) for host, stage, _ in hub.stages} >= {(one, "Joined") for one in OTHER_IDS}


async def test_a_master_that_is_tried_again_is_seen_again(rig: Rig) -> None:
    """Everybody had been seen; the bootstrap waits for one that starts over, and watches it."""
    hub, plane = Hub(masters=others("Joined", "Joined")), Plane()
    hub.masters[0]["inventory"] = json.dumps({"interfaces": [{"ipv4_addresses": ["192.168.126.12/24"]}]})
    ready, plane.nodes = plane.nodes, []
    log = rig.root / "var/log/containers/machine-config-server-x_openshift_machine-config-server-1.log"
    looks: list[str] = []

    def again(asked: Asked) -> Said | None:
        looks.extend([asked.path] * ("role=master" in asked.query and "with-inventory" in asked.query))
        if len(looks) == 3:
            hub.masters[0]["progress"] = {"current_stage": "Rebooting"}
            log.write_text('requested by 192.168.126.12:32780 User-Agent:"Ignition/2.6.0"\n')
        if (OTHER_IDS[0], "Configuring", "") in hub.stages:
            plane.nodes = ready
        return None

    hub.refuse = again
    assert await bootstrap(rig, hub, plane) == 0, rig.log()
    assert (OTHER_IDS[0], "Configuring", "") in hub.stages


async def test_a_master_that_has_not_begun_again_has_not_asked_again(rig: Rig) -> None:
    """A service that heard of a late stage now would take none of those that come before it."""
    hub, plane = Hub(masters=others("Configuring", "Joined")), Plane()
    hub.masters[0]["inventory"] = json.dumps({"interfaces": [{"ipv4_addresses": ["192.168.126.12/24"]}]})
    ready, plane.nodes = plane.nodes, []
    log = rig.root / "var/log/containers/machine-config-server-x_openshift_machine-config-server-1.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text('requested by 192.168.126.12:32780 User-Agent:"Ignition/2.6.0"\n')
    looks: list[str] = []
    told: list[str] = []

    def again(asked: Asked) -> Said | None:
        looks.extend([asked.path] * ("role=master" in asked.query and "with-inventory" in asked.query))
        if len(looks) == 3:
            hub.masters[0]["progress"] = {"current_stage": ""}
        if len(looks) >= 6 and not plane.nodes:
            told.extend(stage for host, stage, _ in hub.stages if host == OTHER_IDS[0])
            plane.nodes = ready
        return None

    hub.refuse = again
    assert await bootstrap(rig, hub, plane) == 0, rig.log()
    assert len(looks) >= 6
    assert told == []


async def test_the_service_on_this_host_stays_for_workers_that_need_it(rig: Rig) -> None:
    """Also when the cluster does not say at once who installs it."""
    worker = {"id": OTHER_IDS[0], "role": "worker", "requested_hostname": "worker-0"}
    hub, plane = Hub(workers=[{**worker, "progress": {"current_stage": WRITING}}]), Plane()
    config_map = "/api/v1/namespaces/openshift-config/configmaps/openshift-install-manifests"
    asked_for: list[str] = []
    plain = plane.__call__

    class Awkward(Plane):
        def __call__(self, asked: Asked) -> Said:
            if asked.path != config_map:
                return plain(asked)
            asked_for.append(asked.path)
            return Said(500, b"") if len(asked_for) < 3 else Said(200, b'{"data":{"invoker":"agent-installer"}}')

    def soon(asked: Asked) -> Said | None:
        waiting = "workers worker-0 still need the service on this host"
        if any(waiting in info for _, info in hub.own()):
            hub.workers = [{**worker, "progress": {"current_stage": "Rebooting"}}]
        return None

    hub.refuse = soon
    assert await bootstrap(rig, hub, Awkward()) == 0, rig.log()
    assert len(asked_for) == 3
    assert any("worker-0 still need" in info for _, info in hub.own())


def test_a_log_keeps_the_reason_and_hides_a_secret_at_its_cut(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", secrets=(TOKEN,), journal=None)
    log.info("x" * (LONGEST_LINE - 5) + TOKEN)
    try:
        raise ValueError("the reason") from RuntimeError("w" * LONGEST_LINE)
    except ValueError as reason:
        log.failure("It failed.", reason)
    text = (tmp_path / "log").read_text()
    assert TOKEN[:5] not in text
    assert "ValueError: the reason" in text
