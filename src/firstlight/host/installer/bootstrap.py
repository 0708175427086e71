"""Starting the bootstrap on this host: the cluster's first control plane runs from the live system.

Each step is a phase of its own. All of them may be begun again after they were cut off.
"""

import re
from typing import Final
from uuid import uuid4

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.controller_manifests import ControllerJob, controller_manifests
from firstlight.core.install.documents import to_text
from firstlight.core.install.ignition_models import User
from firstlight.core.install.kube_objects import machine_config
from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.run import INSTALL_FOLDER, SYSTEMD_TRIES, InstallationFailed, Run

BOOTSTRAP: Final = f"{INSTALL_FOLDER}/bootstrap.ign"
PULL_SECRET: Final = "/root/.docker/config.json"  # noqa: S105 - where podman looks for it
SSH_KEY: Final = "/root/.ssh/id_rsa"
SSH_NAME: Final = "99-assisted-installer-master-ssh"
SSH_MANIFEST: Final = f"/opt/openshift/openshift/99_openshift-machineconfig_{SSH_NAME}.yaml"
SERVICES: Final = ("bootkube.service", "approve-csr.service", "progress.service")
OVERLAYS: Final = ("node-image-pull.service", "node-image-overlay.service")
MANIFESTS: Final = "/opt/openshift/manifests"
OVERLAY_SECONDS: Final = 1800.0
MCO_SECONDS: Final = 1500.0
"""With the time to pull its image over a slow line, and less than the service grants a stage without a word."""
START_SECONDS: Final = 1500.0
"""A unit starts when those that it needs have ended, and one of them pulls the release image."""
_HOSTNAME: Final = re.compile(r"[a-z0-9][a-z0-9\-.]{0,61}[a-z0-9]")


async def fetch_bootstrap(run: Run) -> None:
    """The bootstrap's Ignition, and out of it the pull secret that its images need."""
    try:
        document = await run.service.cluster_file("bootstrap.ign", limit=run.pace.limit("Installing"))
        secret = ignition.content_of(ignition.decode(document), PULL_SECRET)
    except (Refused, Unreachable) as reason:
        raise InstallationFailed(f"bootstrap.ign could not be downloaded: {reason}.") from reason
    except Invalid as reason:
        raise InstallationFailed(f"bootstrap.ign cannot be used: {reason}") from reason
    if secret is None:
        raise InstallationFailed(f"bootstrap.ign has no {PULL_SECRET}, so no image could be pulled.")
    run.write(BOOTSTRAP, document, mode=0o600)
    run.write(PULL_SECRET, secret, mode=0o600)


async def lay_over(run: Run) -> None:
    """The machine config daemon writes the bootstrap's files and units over the live system."""
    if not run.settings.mco_image:
        raise InstallationFailed(
            "The service named no image of the machine-config operator, so the bootstrap cannot begin. Prepare the"
            " installation again with a release image that the service can look into."
        )
    command = (
        *("podman", "run", "--net", "host", "--pid=host"),
        *("--volume", "/:/rootfs:rw", "--volume", "/usr/bin/rpm-ostree:/usr/bin/rpm-ostree"),
        *("--privileged", "--rm", "--entrypoint", "/usr/bin/machine-config-daemon", run.settings.mco_image),
        *("start", "--node-name", "localhost", "--root-mount", "/rootfs"),
        *("--once-from", BOOTSTRAP, "--skip-reboot"),
    )
    await run.must(*command, limit=MCO_SECONDS, tries=3, gap=0.0)


async def let_masters_in(run: Run) -> None:
    """A key by which the bootstrap reaches the masters to gather their logs."""
    if not run.root.exists(f"{SSH_KEY}.pub"):
        run.root.path(SSH_KEY).unlink(missing_ok=True)
        await run.must("mkdir", "-p", "/root/.ssh")
        await run.must("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", SSH_KEY)
    public = run.root.line(f"{SSH_KEY}.pub")
    if not public:
        raise InstallationFailed(f"ssh-keygen left no {SSH_KEY}.pub.")
    core = User(name="core", ssh_authorized_keys=(public,))
    config = ignition.config("3.1.0", users=(core,))
    run.write(SSH_MANIFEST, to_text(machine_config(SSH_NAME, "master", document=config)).encode())


async def name_host(run: Run) -> None:
    """Units see the files laid over; and a host without a proper name would lose its resolv.conf to NetworkManager."""
    await run.must("systemctl", "daemon-reload", tries=SYSTEMD_TRIES)
    name = (await run.must("hostname")).strip()
    if name == "localhost" or not _HOSTNAME.fullmatch(name):
        await run.must("hostnamectl", "set-hostname", f"random-hostname-{uuid4()}", tries=SYSTEMD_TRIES)


async def restart_network(run: Run) -> None:
    """The local DNS of the bootstrap is set up when connections come up."""
    await run.must("systemctl", "restart", "NetworkManager", tries=SYSTEMD_TRIES)


async def bring_controller(run: Run) -> None:
    """Bootkube applies what is in its folder; the token is in the secret and nowhere else."""
    settings = run.settings
    job = ControllerJob(
        image=settings.controller_image,
        cluster_id=str(settings.cluster_id),
        service_url=settings.url,
        openshift_version=settings.openshift_version,
        token=settings.token,
        insecure=settings.insecure,
        ca_path=str(settings.ca_certificate or ""),
        check_cluster_version=settings.check_cluster_version,
        control_plane_count=settings.control_plane_count,
        must_gather_image=settings.must_gather_image,
        service_addresses=settings.service_ips,
        notify_reboots=settings.notify_num_reboots,
    )
    for manifest in controller_manifests(job):
        run.write(f"{MANIFESTS}/{manifest.name}", manifest.content.encode(), mode=0o600)


async def overlay_node_image(run: Run) -> None:
    """Live systems without `oc` take it from the node image first."""
    if run.root.exists("/usr/bin/oc"):
        return
    for unit in OVERLAYS:
        await run.must("systemctl", "start", "--no-block", unit, tries=SYSTEMD_TRIES)

        async def missing(unit: str = unit) -> str:
            state = await unit_state(run, unit)
            if state == "failed":
                raise InstallationFailed(f"{unit} failed on this host. Its journal says why.")
            return "" if state == "active" else f"{unit} is {state}"

        stage = run.reporter.last.stage if run.reporter.last is not None else "Starting installation"
        await run.wait(
            missing, stage=stage, info=f"Waiting for {unit}", what=f"The end of {unit}", limit=OVERLAY_SECONDS
        )
    if not run.root.exists("/usr/bin/oc"):
        raise InstallationFailed("The node image was laid over this system, but there is still no /usr/bin/oc.")


async def start_services(run: Run) -> None:
    for unit in SERVICES:
        await run.must("systemctl", "start", unit, limit=START_SECONDS, tries=SYSTEMD_TRIES)


async def unit_state(run: Run, unit: str) -> str:
    """Systemd's word: active, inactive, failed, activating …"""
    shown = await run.host.run("systemctl", "is-active", unit, limit=30.0)
    return shown.text.strip() or "unknown"
