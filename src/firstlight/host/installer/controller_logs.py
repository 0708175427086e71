"""The log of the controller, brought to the service by the bootstrap while the controller may not get that far."""

import gzip
import io
import tarfile
from typing import Final

from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.run import Run
from firstlight.host.kubernetes import Kube, KubeTrouble, mapping, name_of

PODS: Final = "/api/v1/namespaces/assisted-installer/pods"
SELECTOR: Final = "job-name=assisted-installer-controller"
SINCE_SECONDS: Final = 3600
UPLOAD_SECONDS: Final = 120.0


async def send_controller_logs(run: Run, kube: Kube) -> None:
    """Trouble is only worth a warning."""
    try:
        pods = await kube.items(PODS, labelSelector=SELECTOR)
        running = [pod for pod in pods if mapping(pod.get("status")).get("phase") == "Running"]
        if not running:
            return
        text = await kube.text(f"{PODS}/{name_of(running[0])}/log", sinceSeconds=str(SINCE_SECONDS))
        archive = packed({"assisted-installer-controller.logs": text})
        await run.service.upload_controller_logs(archive, limit=run.pace.seconds(UPLOAD_SECONDS))
    except (KubeTrouble, Refused, Unreachable) as reason:
        run.log.warning("The controller's log did not reach the service.", reason=reason)


def packed(files: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
