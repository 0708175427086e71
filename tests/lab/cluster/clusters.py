"""A cluster under test: its control plane, its controller with the rights it is delivered with, its machines."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from firstlight.core.install.controller_manifests import ControllerJob, controller_manifests
from firstlight.simulate.calls import Service
from firstlight.simulate.machines import Machine
from lab.cluster import audit, kubelet
from lab.cluster.bootkube import ControlPlane, unpack
from lab.cluster.joiner import Joiner
from lab.cluster.objects import account_token, furnish, place

NAME = "assisted-installer-controller"
SPACE = "assisted-installer"
ACCOUNT = f"system:serviceaccount:{SPACE}:{NAME}"
PROGRAM = "import sys; sys.argv[0] = 'firstlight-controller'; from firstlight.host.main import main; main()"
LOOK_SECONDS = "0.5"


@dataclass
class ControllerProcess:
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text()

    def end(self) -> int:
        """Wait for it to end by itself."""
        return self.process.wait(60)


@contextmanager
def furnished(bootstrap: bytes, folder: Path, job: ControllerJob) -> Iterator[ControlPlane]:
    """A control plane with the kinds of OpenShift and the controller's objects, as bootkube would apply them.

    Its API server keeps what the controller's account does, and calls kubelets on loopback only.
    """
    plane = ControlPlane(unpack(bootstrap, folder), data=folder)
    plane.api_server.also(*kubelet.flags(plane.home / "tls"), *audit.flags(folder, ACCOUNT))
    try:
        plane.start()
        furnish(plane.admin)
        for manifest in controller_manifests(job):
            for document in manifest.documents:
                place(plane.admin, document)
        yield plane
    finally:
        plane.stop()


@contextmanager
def running_controller(
    plane: ControlPlane, job: ControllerJob, folder: Path, **more: str
) -> Iterator[ControllerProcess]:
    """The real program with a token of its own account."""
    token = account_token(plane.admin, NAME, namespace=SPACE)
    kubeconfig, log = folder / "controller.kubeconfig", folder / "controller.log"
    kubeconfig.write_text(plane.kubeconfig(token=token))
    environment = {
        **os.environ,
        "CLUSTER_ID": job.cluster_id,
        "INVENTORY_URL": job.service_url,
        "OPENSHIFT_VERSION": job.openshift_version,
        "CONTROL_PLANE_COUNT": str(job.control_plane_count),
        "CHECK_CLUSTER_VERSION": "true",
        "KUBECONFIG": str(kubeconfig),
        "FIRSTLIGHT_CONTROLLER_LOOK_SECONDS": LOOK_SECONDS,
        "FIRSTLIGHT_CONTROLLER_ROOT": str(folder),
        **more,
    }
    (folder / "tmp").mkdir(exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=output, stderr=output)
    try:
        yield ControllerProcess(process, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


@contextmanager
def joiners(plane: ControlPlane, machines: tuple[Machine, ...]) -> Iterator[list[Joiner]]:
    bootstrapper = plane.bootstrapper()
    found = [
        Joiner(machine.name, address=machine.address, bootstrapper=bootstrapper, server=plane.server)
        for machine in machines
    ]
    try:
        yield found
    finally:
        for joiner in found:
            joiner.close()
        bootstrapper.close()


def join_all(found: list[Joiner]) -> None:
    for joiner in found:
        joiner.join()
        joiner.serve()
        joiner.become_ready()


async def wait_until(holds: Callable[[], Any], *, what: str, seconds: float = 60.0) -> Any:
    """`holds` is awaited; the first true answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := await holds():
            return found
        await asyncio.sleep(0.2)
    raise TimeoutError(f"{what} did not happen within {seconds:g} seconds")


async def status_is(service: Service, cluster_id: UUID, status: str, *, seconds: float = 60.0) -> None:
    async def holds() -> bool:
        return (await service.cluster(cluster_id)).status == status

    await wait_until(holds, what=f"the cluster's status {status}", seconds=seconds)
