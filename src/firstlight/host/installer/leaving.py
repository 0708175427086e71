"""The end in the live system: logs to the service, the last report, and the reboot."""

from typing import Final

from firstlight.host.calling import Refused, Unreachable
from firstlight.host.installer.run import SYSTEMD_TRIES, Run, complaint_of

LOGS_SECONDS: Final = 600.0
LAST_REPORT_SECONDS: Final = 600.0
"""So long the reboot waits for a service that is away; a host that never reboots is the greater harm."""
IRONIC: Final = "ironic-agent.service"
MESSAGE: Final = "The installation is written to the disk. This machine starts from it in a moment."


async def send_logs(run: Run) -> None:
    """By the agent's image, within a time limit. The token travels in the environment, not in the command."""
    settings = run.settings
    if settings.host_id is None or settings.dry_run:
        return
    try:
        await run.service.host_logs_state(settings.host_id, "requested", limit=run.pace.seconds(60.0))
    except (Refused, Unreachable) as reason:
        run.log.warning("The state of this host's logs was not delivered.", reason=reason)
    ca = str(settings.ca_certificate or "")
    outcome = await run.host.run(
        *("podman", "run", "--rm", "--privileged", "--net=host", "--pid=host"),
        *("--volume", "/run/systemd/journal/socket:/run/systemd/journal/socket"),
        *("--volume", "/var/log:/var/log"),
        *(("--volume", f"{ca}:{ca}") if ca else ()),
        *("--env=PULL_SECRET_TOKEN", settings.agent_image, "logs_sender"),
        *("-cluster-id", str(settings.cluster_id), "-url", settings.url, "-host-id", str(settings.host_id)),
        *("-infra-env-id", str(settings.infra_env_id), f"-insecure={'true' if settings.insecure else 'false'}"),
        f"-bootstrap={'true' if settings.role == 'bootstrap' else 'false'}",
        *((f"-cacert={ca}",) if ca else ()),
        limit=run.pace.seconds(LOGS_SECONDS) + 5.0,
        environment={**run.children, "PULL_SECRET_TOKEN": settings.token},
    )
    if not outcome.succeeded:
        run.log.warning("The logs of this host were not sent.", reason=complaint_of(outcome))


async def leave(run: Run) -> None:
    """Report, and reboot or let the one who manages this machine do it."""
    settings = run.settings
    if settings.dry_run:
        await _last_report(run, "")
        if settings.reboot_marker is not None:
            settings.reboot_marker.touch()
        return
    listing = ("systemctl", "list-units", "--all", "--no-legend", "--plain", IRONIC)
    units = await run.must(*listing, tries=SYSTEMD_TRIES)
    if IRONIC in units:
        await _last_report(run, "Ironic will reboot the node shortly")
        await run.must("systemctl", "stop", "agent.service", tries=SYSTEMD_TRIES)
        return
    await _last_report(run, "")
    # A minute lets a member of etcd that has just joined see the others; a single node has no others.
    await run.must("shutdown", "-r", "now" if settings.is_single_node else "+1", MESSAGE, tries=SYSTEMD_TRIES)


async def _last_report(run: Run, info: str) -> None:
    run.tell("Rebooting", info)
    if not await run.reporter.flush(limit=run.pace.seconds(LAST_REPORT_SECONDS)):
        run.log.warning("This machine reboots although the service has not heard of it.")
