"""Everything the agent can be told: the original's flags and variables, and a few variables of our own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.host.flags import read_flags
from firstlight.host.proxies import PROXY_VARIABLES

TOKEN: Final = "PULL_SECRET_TOKEN"  # noqa: S105 - the name of a variable
ROOT: Final = "FIRSTLIGHT_AGENT_ROOT"
STATE: Final = "FIRSTLIGHT_AGENT_STATE"
CONSOLE: Final = "FIRSTLIGHT_AGENT_CONSOLE"
LAUNCHED: Final = "FIRSTLIGHT_AGENT_LAUNCHED"
IN_CONTAINER: Final = Path("/run/.containerenv")
HOST_ROOT: Final = Path("/proc/1/root")
STATE_FOLDER: Final = "run/firstlight-agent"
AUTOMATIC: Final = "auto"

AGENT_FLAGS: Final[Mapping[str, bool]] = {
    "url": False,
    "infra-env-id": False,
    "agent-version": False,
    "interval": False,
    "host-id": False,
    "cacert": False,
    "insecure": True,
    "with-journal-logging": True,
    "with-text-logging": True,
    "with-stdout-logging": True,
    "dry-run": True,
    "force-id": False,
    "force-mac": False,
    "force-hostname": False,
    "forced-ipv4": False,
    "fake-reboot-marker-path": False,
}
"""Flag → whether it is boolean."""
_DRY_VARIABLES: Final = {
    "dry-run": "DRY_ENABLE",
    "force-id": "DRY_HOST_ID",
    "force-mac": "DRY_FORCED_MAC_ADDRESS",
    "force-hostname": "DRY_FORCED_HOSTNAME",
    "forced-ipv4": "DRY_FORCED_HOST_IPV4",
    "fake-reboot-marker-path": "DRY_FAKE_REBOOT_MARKER_PATH",
}


class Logging(Struct, frozen=True, kw_only=True):
    """Where log lines go."""

    journal: bool = True
    text: bool = False
    stdout: bool = False


class DryRun(Struct, frozen=True, kw_only=True):
    """Values that stand in for the machine's own under load tests."""

    host_id: UUID | None = None
    mac: str = ""
    hostname: str = ""
    ipv4: str = ""
    reboot_marker: Path | None = None
    """When this file exists, the machine counts as rebooted and the agent ends."""


class Place(Struct, frozen=True, kw_only=True):
    """Where the agent finds the machine it speaks for."""

    root: Path = Path("/")
    state: Path = Path("/") / STATE_FOLDER
    """What must outlive the agent but not the boot."""
    contained: bool = False
    """Programs of the host are entered through its namespaces."""
    consoles: tuple[str, ...] = ()
    """Terminals that show the status page; `auto` are those the kernel itself writes to."""
    launched: bool = False
    """Whoever started this process starts the image that is named when it ends."""


class AgentSettings(Struct, frozen=True, kw_only=True):
    url: str
    infra_env_id: UUID
    agent_version: str = ""
    interval: float = 60.0
    """Seconds between attempts to register."""
    host_id: UUID | None = None
    ca_certificate: Path | None = None
    insecure: bool = False
    logging: Logging = Logging()
    dry_run: DryRun | None = None
    token: str = ""
    proxies: Mapping[str, str] = {}
    place: Place = Place()

    def __repr__(self) -> str:
        return f"AgentSettings(url={self.url!r}, infra_env_id={self.infra_env_id})"


def agent_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> AgentSettings:
    """Raises `Invalid` with a sentence about the flag or variable, and `flags.HelpWanted`."""
    given = read_flags(arguments, known=AGENT_FLAGS)
    for flag, variable in _DRY_VARIABLES.items():
        if environment.get(variable):
            given.setdefault(flag, environment[variable])
    cacert = given.get("cacert")
    dry_run, place = _dry_run(given), place_of(environment)
    if dry_run is not None and dry_run.host_id is not None and not environment.get(STATE):
        # Agents of a load test share a machine, not their journals.
        place = replace(place, state=place.state.with_name(f"{place.state.name}-{dry_run.host_id}"))
    return AgentSettings(
        url=service_url(given.get("url", "")),
        infra_env_id=required_id(given, "infra-env-id"),
        agent_version=given.get("agent-version", ""),
        interval=_seconds(given.get("interval", "60")),
        host_id=_id(given["host-id"], "host-id") if given.get("host-id") else None,
        ca_certificate=Path(cacert) if cacert else None,
        insecure=given.get("insecure") == "true",
        logging=Logging(
            journal=given.get("with-journal-logging", "true") == "true",
            text=given.get("with-text-logging") == "true",
            stdout=given.get("with-stdout-logging") == "true",
        ),
        dry_run=dry_run,
        token=environment.get(TOKEN, ""),
        proxies={name: environment[name] for name in PROXY_VARIABLES if environment.get(name)},
        place=place,
    )


def place_of(environment: Mapping[str, str], *, contained: bool | None = None) -> Place:
    inside = IN_CONTAINER.exists() if contained is None else contained
    root = Path(environment.get(ROOT) or (HOST_ROOT if inside else "/"))
    consoles = environment.get(CONSOLE, AUTOMATIC if inside else "")
    return Place(
        root=root,
        state=Path(environment.get(STATE) or root / STATE_FOLDER),
        contained=inside and not environment.get(ROOT),
        consoles=tuple(filter(None, (name.strip() for name in consoles.split(",")))),
        launched=environment.get(LAUNCHED, "") == "1",
    )


def service_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise Invalid(f"-url is '{text}', which is no address of a service. Give one such as https://hub.example.com .")
    return text.rstrip("/")


def required_id(given: Mapping[str, str], flag: str) -> UUID:
    if not given.get(flag):
        raise Invalid(f"The flag -{flag} is missing.")
    return _id(given[flag], flag)


def _id(text: str, flag: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Invalid(f"-{flag} is '{text}', which is no UUID.") from None


def _seconds(text: str) -> float:
    if not text.isdecimal() or not text.isascii():
        raise Invalid(f"-interval is '{text}', which is no number of seconds.")
    return float(min(int(text[:9]), 86_400)) or 1.0


def _dry_run(given: Mapping[str, str]) -> DryRun | None:
    if given.get("dry-run") != "true":
        return None
    marker = given.get("fake-reboot-marker-path")
    return DryRun(
        host_id=_id(given["force-id"], "force-id") if given.get("force-id") else None,
        mac=given.get("force-mac", ""),
        hostname=given.get("force-hostname", ""),
        ipv4=given.get("forced-ipv4", ""),
        reboot_marker=Path(marker) if marker else None,
    )
