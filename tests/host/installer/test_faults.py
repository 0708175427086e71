"""What goes wrong with disks and with the service, put to the real installer: docs/installer.md tells each outcome."""

import asyncio
from pathlib import Path

import pytest

from tests.host.agent.scripted import Asked, Said, scripted
from tests.host.installer.rig import Hub, Rig, ended, eventually

pytestmark = pytest.mark.anyio
IMAGE = bytes(range(256)) * 64
SCALE = 0.003
TEN_MINUTES = 600 * SCALE
WRITING = "Writing image to disk"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    (tmp_path / "image").write_bytes(IMAGE)
    return Rig(tmp_path)


async def test_a_write_that_fails_half_way_is_made_again_from_the_start(rig: Rig) -> None:
    rig.behave(
        "coreos-installer",
        'if [ ! -e "$RIG/tried" ]; then /bin/touch "$RIG/tried"; head -c 9999 "$RIG/image" > "$RIG/disk";'
        " printf '> (60%%)\\r' >&2; echo 'Error: Input/output error' >&2; exit 1; fi\n"
        "cat \"$RIG/image\" > \"$RIG/disk\"; printf '> (35%%)\\r' >&2; sleep 0.3; printf '> (100%%)\\n' >&2\n",
    )
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert (rig.folder / "disk").read_bytes() == IMAGE
    infos = [info for stage, info in hub.own() if stage == WRITING]
    assert "35%" in infos, "the second attempt shows its own percentages, although the first had come further"
    assert "attempt=1" in rig.log()
    assert "Input/output error" in rig.log()
    assert hub.order()[-1] == "Rebooting"


async def test_a_disk_that_vanishes_fails_the_host_with_that_word(rig: Rig) -> None:
    rig.behave("coreos-installer", 'rm -f "$RIG"/root/sys/class/block/sda*; echo "Error: No such device" >&2; exit 1\n')
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 1
    stage, info = hub.own()[-1]
    assert stage == "Failed"
    assert "No such device (the kernel knows no device /dev/sda any more" in info
    assert len(rig.calls("coreos-installer")) == 3, "it might have come back"
    assert not rig.calls("shutdown")


async def test_a_disk_that_was_never_there_is_named_before_anything_is_written(rig: Rig) -> None:
    rig.behave("coreos-installer", "echo 'Error: No such file or directory' >&2; exit 1\n")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--boot-device", "/dev/sdx", role="master") == 1
    assert [info for stage, info in hub.own() if stage == "Starting installation"][-1].startswith(
        "/dev/sdx could not be cleaned completely (the kernel knows no device /dev/sdx)"
    )
    assert "/dev/sdx" in hub.own()[-1][1]


def let_go(hub: Hub, *, seconds: float | None) -> None:
    """The service is away from the first word about writing on, for so long or for good."""
    gone = asyncio.Event()

    def refuse(asked: Asked) -> Said | None:
        if not gone.is_set() and asked.path.endswith("/progress") and asked.json()["current_stage"] == WRITING:
            gone.set()
            if seconds is not None:
                asyncio.get_running_loop().call_later(seconds, setattr, hub, "refuse", lambda _: None)
        return Said(raw=b"") if gone.is_set() else None

    hub.refuse = refuse


async def test_ten_minutes_without_the_service_cost_no_report_and_no_host(rig: Rig) -> None:
    hub = Hub()
    async with scripted(hub) as server:
        let_go(hub, seconds=0.9 * TEN_MINUTES)
        scale = {"FIRSTLIGHT_INSTALLER_TIME_SCALE": str(SCALE)}
        assert await rig.finish(server.url, role="master", **scale) == 0, rig.log()
    assert hub.order() == ["Starting installation", "Installing", WRITING, "Rebooting"]
    assert len(rig.calls("coreos-installer")) == len(rig.calls("shutdown")) == 1


async def test_a_service_that_does_not_come_back_does_not_keep_the_host(rig: Rig) -> None:
    hub = Hub()
    async with scripted(hub) as server:
        let_go(hub, seconds=None)
        process = await rig.start(server.url, role="master", FIRSTLIGHT_INSTALLER_TIME_SCALE=str(SCALE))
        try:
            await eventually(lambda: bool(rig.calls("shutdown")), seconds=60)
        finally:
            await ended(process)
    assert "This machine reboots although the service has not heard of it." in rig.log()
    assert hub.order() == ["Starting installation", "Installing"]
