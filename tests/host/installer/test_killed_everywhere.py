"""Killed at the end of every phase, before that is on record, every kind of host gets installed all the same."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from firstlight.host.installer.phases import BOOTSTRAP, MASTER, SINGLE_NODE, WORKER
from tests.host.agent.scripted import scripted
from tests.host.installer.planes import Plane, kubeconfig, tls
from tests.host.installer.rig import OTHER_IDS, Hub, Rig

pytestmark = pytest.mark.anyio
DRIVER = Path(__file__).with_name("killing.py")
FLOWS = {"bootstrap": BOOTSTRAP, "master": MASTER, "worker": WORKER, "single node": SINGLE_NODE}
STAGES = [
    *("Starting installation", "Installing", "Writing image to disk", "Waiting for control plane"),
    *("Waiting for bootkube", "Waiting for controller", "Rebooting"),
]
SINGLE_NODE_STAGES = [
    "Starting installation",
    "Installing",
    "Waiting for bootkube",
    "Writing image to disk",
    "Rebooting",
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path)
    openshift = rig.root / "opt/openshift"
    (openshift / "auth").mkdir(parents=True)
    (openshift / ".bootkube.done").touch()
    (openshift / "master.ign").write_text(json.dumps({"ignition": {"version": "3.2.0"}}))
    (rig.root / "sys/firmware/efi").mkdir(parents=True)
    return rig


@pytest.mark.parametrize("kind", FLOWS)
async def test_a_host_killed_in_every_phase_gets_installed(rig: Rig, kind: str) -> None:
    flow = FLOWS[kind]
    hub, plane = Hub(), Plane()
    hub.masters = [{"id": one, "progress": {"current_stage": "Done"}} for one in OTHER_IDS]
    authority, context = tls(rig.folder)
    count = {"single node": "1"}.get(kind, "3")
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        (rig.root / "opt/openshift/auth/kubeconfig").write_text(kubeconfig(api.url, authority))
        role = "bootstrap" if kind == "single node" else kind
        rig.program = (sys.executable, str(DRIVER))
        code = await rig.finish(server.url, "--control-plane-count", count, role=role, seconds=180)
    assert code == 0, rig.log()
    noted = (rig.folder / "phases").read_text().splitlines()
    began, ended = (
        Counter(line.partition(" ")[2] for line in noted if line.startswith(word)) for word in ("begin", "end")
    )
    once = [phase.name for phase in flow if not phase.every_start]
    assert {name: began[name] for name in once} == dict.fromkeys(once, 2), "the second time for want of a record"
    assert began == ended
    first = list(dict.fromkeys(line.partition(" ")[2] for line in noted))
    assert first == [phase.name for phase in flow]
    order = SINGLE_NODE_STAGES if kind == "single node" else STAGES
    told = [order.index(stage) for stage in hub.order()]
    assert told == sorted(told), "no stage was told after a later one"
    assert hub.order()[-1] == "Rebooting"
    assert len(rig.calls("coreos-installer")) == 2
    assert len(rig.calls("shutdown")) == 2
    journal = rig.journal()
    assert {name.partition(" ")[0] for name in journal["done"]} == {phase.name for phase in flow}
    assert len(journal["done"]) == len(flow)
