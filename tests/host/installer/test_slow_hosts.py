"""Hosts that are slow, cut off or out of room: what takes long is no fault, and what fails is said."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from firstlight.host.installer.log import LONGEST_LINE, Log
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


async def bootstrap(rig: Rig, hub: Hub, plane: Plane) -> int:
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (rig.root / "opt/openshift/auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        return await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap")


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


async def test_services_that_do_not_start_at_once_are_started_again(rig: Rig) -> None:
    rig.behave(
        "systemctl",
        'case "$1 $2" in "is-active progress.service") echo inactive; exit 3;;\n'
        '"start bootkube.service") if [ ! -e "$RIG/tried" ]; then /bin/touch "$RIG/tried";'
        " echo 'A dependency job for bootkube.service failed.' >&2; exit 1; fi;; esac\n",
    )
    hub = Hub()
    assert await bootstrap(rig, hub, Plane()) == 0, rig.log()
    told = [info for stage, info in hub.own() if "attempt 2 of 3" in info]
    assert told == ["systemctl failed (A dependency job for bootkube.service failed.); attempt 2 of 3"]
    assert "attempt=1 of 3" in rig.log()


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


@pytest.mark.parametrize(
    "source",
    [data_url(b"not gzip"), data_url(gzip.compress(b"{}")[:-4]), data_url(gzip.compress(b"{}")[:10] + b"\xff" * 20)],
    ids=["plain", "cut off", "broken"],
)
async def test_an_early_image_that_cannot_be_read_is_left_out(rig: Rig, source: str) -> None:
    hub = Hub(host_ignition=pointing_to(source))
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--enable-skip-mco-reboot", role="master") == 0, rig.log()
    assert "The node will reboot once more" in rig.log()
    assert hub.order()[-1] == "Rebooting"


@pytest.mark.parametrize("answer", ["NOCHANGE: partition 4 cannot be grown", ""])
async def test_a_registry_s_room_is_made_once(rig: Rig, answer: str) -> None:
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
        rig.behave("growpart", f"echo '{answer}'; exit {1 if answer else 0}\n")
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


@pytest.mark.parametrize("stage", ["Installing", WRITING])
async def test_the_service_on_this_host_stays_for_workers_that_need_it(rig: Rig, stage: str) -> None:
    """Also when the cluster does not say at once who installs it."""
    worker = {"id": OTHER_IDS[0], "role": "worker", "requested_hostname": "worker-0"}
    hub, plane = Hub(workers=[{**worker, "progress": {"current_stage": stage}}]), Plane()
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


async def test_a_controller_whose_sign_has_expired_is_ready_all_the_same(rig: Rig) -> None:
    class Late(Plane):
        def __call__(self, asked: Asked) -> Said:
            sign = asked.path.endswith("/configmaps/assisted-installer-controller-ready")
            return Said(200, b'{"data":{"ready":"true"}}') if sign else super().__call__(asked)

    hub = Hub()
    assert await bootstrap(rig, hub, Late(events=[])) == 0, rig.log()
    assert hub.order()[-1] == "Rebooting"


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
