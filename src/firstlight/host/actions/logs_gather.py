"""`logs-gather`: collect this host's logs and send them to the service, within this program or in a container."""

from typing import Final

from firstlight.core.wire.reading import Reader
from firstlight.host.actions.action import Action, Done, LogsRequest, Site, failed, first_document

LOGS_NAME: Final = "logs-sender"
_SECONDS: Final = 3600.0
_REQUEST: Final = Reader(LogsRequest)


async def gather(arguments: tuple[str, ...], site: Site) -> Done:
    request = first_document(arguments, _REQUEST)
    if site.gather_logs is not None:
        return await site.gather_logs(request)
    environment = {"PULL_SECRET_TOKEN": site.token, **site.proxies}
    outcome = await site.host.run(*logs_command(request, site=site), limit=_SECONDS, environment=environment)
    if outcome.succeeded:
        return Done(output=outcome.text)
    return failed(f"The logs could not be sent: {outcome.complaint}", exit_code=outcome.exit_code)


def logs_command(request: LogsRequest, *, site: Site) -> tuple[str, ...]:
    """`podman run …` of our own image in the role of the log sender."""
    ca = str(site.ca_certificate) if site.ca_certificate is not None else ""
    mounts = ["/run/systemd/journal/socket:/run/systemd/journal/socket", "/var/log:/var/log", "/etc/pki:/etc/pki"]
    mounts += [f"{ca}:{ca}"] if ca else []
    mounts += ["/root/.ssh:/root/.ssh", "/tmp:/tmp"] if request.bootstrap else []  # noqa: S108 - the host's folder
    return (
        *("podman", "run", "--rm", "--privileged", "--net=host", "--pid=host", f"--name={LOGS_NAME}"),
        *(word for mount in mounts for word in ("--volume", mount)),
        "--env=PULL_SECRET_TOKEN",
        site.agent_image,
        "logs_sender",
        *("-url", site.service_url),
        *("-cluster-id", str(request.cluster_id)),
        *("-host-id", str(request.host_id)),
        *("-infra-env-id", str(request.infra_env_id)),
        f"--insecure={_word(site.insecure)}",
        f"-bootstrap={_word(request.bootstrap)}",
        f"-with-installer-gather-logging={_word(request.installer_gather)}",
        *((f"-masters-ips={','.join(request.master_ips)}",) if request.master_ips else ()),
        *(("--cacert", ca) if ca else ()),
    )


def _word(value: bool) -> str:
    return "true" if value else "false"


LOGS_GATHER: Final = Action(step_type="logs-gather", perform=gather, limit_seconds=_SECONDS + 60.0, exclusive=True)
