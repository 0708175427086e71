"""`logs_sender`: gathering logs as a program of its own, for installers that start it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from firstlight.host.actions.action import LogsRequest
from firstlight.host.agent.logs.gathering import Gatherer, Gathering
from firstlight.host.agent.logs.writing import Log
from firstlight.host.agent.registering import REGISTRATION, Registered
from firstlight.host.agent.session import ServiceSession
from firstlight.host.flags import read_flags
from firstlight.host.keeping import kept
from firstlight.host.programs import ENTER_HOST
from firstlight.host.proxies import PROXY_VARIABLES
from firstlight.host.root import Root
from firstlight.host.settings import TOKEN, AgentSettings, Logging, Place, place_of, required_id, service_url

FLAGS: Final[Mapping[str, bool]] = {
    "url": False,
    "cluster-id": False,
    "host-id": False,
    "infra-env-id": False,
    "pull-secret-token": False,
    "cacert": False,
    "masters-ips": False,
    "since": False,
    "insecure": True,
    "bootstrap": True,
    "with-installer-gather-logging": True,
    "dont-clean": True,
    "with-journal-logging": True,
    "with-text-logging": True,
    "with-stdout-logging": True,
}


def send_logs(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    given = read_flags(arguments, known=FLAGS)
    place = place_of(environment)
    settings = sender_settings(given, environment, place)
    masters = given.get("masters-ips", "")
    request = LogsRequest(
        cluster_id=required_id(given, "cluster-id"),
        host_id=required_id(given, "host-id"),
        infra_env_id=settings.infra_env_id,
        bootstrap=given.get("bootstrap") == "true",
        installer_gather=given.get("with-installer-gather-logging") == "true",
        master_ips=tuple(filter(None, masters.split(","))),
    )
    how = Gathering(
        folder=place.root / "var/log",
        temporary=place.root / "tmp",
        enter=ENTER_HOST if place.contained else (),
        secrets=(settings.token,),
        since=given.get("since", ""),
        clean=given.get("dont-clean") != "true",
        piece_bytes=offered_pieces(settings),
    )
    return asyncio.run(_send(settings, request, how, place))


def offered_pieces(settings: AgentSettings) -> int:
    """What the service offered when this machine's agent registered."""
    found = kept(settings.place.state / REGISTRATION, Registered)
    return found.offer.log_piece_bytes if found is not None and found.infra_env_id == settings.infra_env_id else 0


def sender_settings(given: Mapping[str, str], environment: Mapping[str, str], place: Place) -> AgentSettings:
    cacert = given.get("cacert")
    return AgentSettings(
        url=service_url(given.get("url", "")),
        infra_env_id=required_id(given, "infra-env-id"),
        host_id=required_id(given, "host-id"),
        ca_certificate=Path(cacert) if cacert else None,
        insecure=given.get("insecure") == "true",
        logging=Logging(
            journal=given.get("with-journal-logging", "true") == "true",
            text=given.get("with-text-logging", "true") == "true",
            stdout=given.get("with-stdout-logging") == "true",
        ),
        token=environment.get(TOKEN) or given.get("pull-secret-token", ""),
        proxies={name: environment[name] for name in PROXY_VARIABLES if environment.get(name)},
        place=place,
    )


async def _send(settings: AgentSettings, request: LogsRequest, how: Gathering, place: Place) -> int:
    log = Log(settings.logging, role="logs-sender", folder=how.folder, secrets=how.secrets)
    async with ServiceSession(settings, root=Root(place.root)) as session:
        done = await Gatherer(session, request, how=how, log=log).run()
    if done.exit_code:
        log.error(done.error)
        sys.stderr.write(done.error + "\n")
    return done.exit_code
