"""Everything the installer can be told: the original's flags, the token, and a few variables of our own."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.core.wire.reading import Reader, Unreadable
from firstlight.core.wire.words import HostStage
from firstlight.host.flags import read_each
from firstlight.host.proxies import PROXY_VARIABLES
from firstlight.host.settings import TOKEN, Place, place_of, required_id, service_url

SCALE: Final = "FIRSTLIGHT_INSTALLER_TIME_SCALE"
"""A laboratory multiplies every rest and every limit by this."""
LONGEST_WAIT: Final = "INSTALLATION_TIMEOUT"
"""The service's limit for the whole installation is the installer's for a single wait."""
STATE_FOLDER: Final = "run/firstlight-installer"
MINUTE: Final = 60.0
HOUR: Final = 3600.0
ROLES: Final = ("bootstrap", "master", "worker", "arbiter")

FLAGS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(
        (
            *("role", "cluster-id", "host-id", "infra-env-id", "boot-device", "url", "openshift-version", "mco-image"),
            *("controller-image", "agent-image", "cacert", "http-proxy", "https-proxy", "no-proxy", "service-ips"),
            *("control-plane-count", "must-gather-image", "format-disk", "coreos-image", "installer-args"),
            *("force-id", "fake-reboot-marker-path", "dry-run-cluster-hosts-path"),
        ),
        False,
    ),
    **dict.fromkeys(
        (
            *("insecure", "check-cluster-version", "skip-installation-disk-cleanup", "enable-skip-mco-reboot"),
            *("notify-num-reboots", "verbose", "dry-run"),
        ),
        True,
    ),
}
"""Flag → whether it is boolean."""
_DRY_VARIABLES: Final = {
    "dry-run": "DRY_ENABLE",
    "force-id": "DRY_HOST_ID",
    "fake-reboot-marker-path": "DRY_FAKE_REBOOT_MARKER_PATH",
    "dry-run-cluster-hosts-path": "DRY_CLUSTER_HOSTS_PATH",
}
STAGE_SECONDS: Final[Mapping[HostStage, float]] = {
    "Starting installation": 30 * MINUTE,
    "Installing": HOUR,
    "Writing image to disk": 30 * MINUTE,
    "Copying registry data to disk": 90 * MINUTE,
    "Waiting for control plane": HOUR,
    "Waiting for bootkube": HOUR,
    "Waiting for controller": HOUR,
    "Rebooting": 40 * MINUTE,
}
"""How long the installer waits in a stage; the same numbers after which the service calls the stage late."""
_UNITS: Final = {"h": HOUR, "m": MINUTE, "s": 1.0, "ms": 0.001}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_WORDS: Final = Reader(tuple[str, ...])


class InstallerSettings(Struct, frozen=True, kw_only=True):
    role: str
    url: str
    cluster_id: UUID
    infra_env_id: UUID
    host_id: UUID | None
    """Without it nobody is told about progress."""
    boot_device: str = ""
    openshift_version: str = "4.4"
    mco_image: str = ""
    controller_image: str = "quay.io/ocpmetal/assisted-installer-controller:latest"
    agent_image: str = "quay.io/ocpmetal/assisted-installer-agent:latest"
    insecure: bool = False
    ca_certificate: Path | None = None
    proxies: Mapping[str, str] = {}
    """Of this process, for the way to the service."""
    child_proxies: Mapping[str, str] = {}
    """For the programs it starts, which fetch from elsewhere."""
    service_ips: tuple[str, ...] = ()
    control_plane_count: int = 0
    check_cluster_version: bool = False
    must_gather_image: str = ""
    disks_to_format: tuple[str, ...] = ()
    skip_disk_cleanup: bool = False
    skip_mco_reboot: bool = False
    notify_num_reboots: bool = False
    coreos_image: str = ""
    installer_arguments: tuple[str, ...] = ()
    verbose: bool = False
    dry_run: bool = False
    reboot_marker: Path | None = None
    token: str = ""
    place: Place = Place()
    time_scale: float = 1.0
    stage_seconds: Mapping[HostStage, float]
    longest_wait_seconds: float = 24 * HOUR
    """After a stage's limit a wait goes on, but not for ever."""

    def __repr__(self) -> str:
        return f"InstallerSettings(role={self.role!r}, url={self.url!r}, host_id={self.host_id})"

    @property
    def is_single_node(self) -> bool:
        """By role as well as by count: a cluster that grew from one node still says that it has one master."""
        return self.role == "bootstrap" and self.control_plane_count == 1


def installer_settings(arguments: Sequence[str], environment: Mapping[str, str]) -> InstallerSettings:
    """Raises `Invalid` with a sentence about the flag or variable, and `flags.HelpWanted`."""
    each = read_each(arguments, known=FLAGS)
    given = dict(each)
    for flag, variable in _DRY_VARIABLES.items():
        if environment.get(variable):
            given.setdefault(flag, environment[variable])
    role = given.get("role", "master")
    if role not in ROLES:
        raise Invalid(f"-role is '{role}'. It is one of {', '.join(ROLES)}.")
    cluster_id = required_id(given, "cluster-id")
    host = given.get("force-id") or given.get("host-id")
    cacert, marker = given.get("cacert"), given.get("fake-reboot-marker-path")
    place = place_of(environment)
    return InstallerSettings(
        role=role,
        url=service_url(given.get("url", "")),
        cluster_id=cluster_id,
        infra_env_id=required_id(given, "infra-env-id") if given.get("infra-env-id") else cluster_id,
        host_id=required_id({"host-id": host}, "host-id") if host else None,
        boot_device=given.get("boot-device", ""),
        openshift_version=given.get("openshift-version") or "4.4",
        mco_image=given.get("mco-image", ""),
        **{
            name: given[flag]
            for name, flag in (("controller_image", "controller-image"), ("agent_image", "agent-image"))
            if given.get(flag)
        },
        insecure=given.get("insecure") == "true",
        ca_certificate=Path(cacert) if cacert else None,
        proxies=_proxies(given, environment),
        child_proxies=_child_proxies(given),
        service_ips=tuple(filter(None, given.get("service-ips", "").split(","))),
        control_plane_count=0 if role == "worker" else _count(given.get("control-plane-count", "0")),
        check_cluster_version=given.get("check-cluster-version") == "true",
        must_gather_image=given.get("must-gather-image", ""),
        disks_to_format=tuple(value for name, value in each if name == "format-disk" and value),
        skip_disk_cleanup=given.get("skip-installation-disk-cleanup") == "true",
        skip_mco_reboot=given.get("enable-skip-mco-reboot") == "true",
        notify_num_reboots=given.get("notify-num-reboots") == "true",
        coreos_image=given.get("coreos-image", ""),
        installer_arguments=_installer_arguments(given.get("installer-args", "")),
        verbose=given.get("verbose") == "true",
        dry_run=given.get("dry-run") == "true",
        reboot_marker=Path(marker) if marker else None,
        token=environment.get(TOKEN, ""),
        place=Place(root=place.root, state=place.root / STATE_FOLDER, contained=place.contained),
        time_scale=_scale(environment.get(SCALE, "1")),
        stage_seconds=_stage_seconds(environment),
        longest_wait_seconds=_duration(LONGEST_WAIT, environment.get(LONGEST_WAIT) or "24h"),
    )


def _proxies(given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Of the process; the list of exceptions may also come as a flag and then counts in both spellings."""
    found = {name: environment[name] for name in PROXY_VARIABLES if environment.get(name)}
    if given.get("no-proxy"):
        found |= {"NO_PROXY": given["no-proxy"], "no_proxy": given["no-proxy"]}
    return found


def _child_proxies(given: Mapping[str, str]) -> dict[str, str]:
    pairs = (("HTTP_PROXY", "http-proxy"), ("HTTPS_PROXY", "https-proxy"), ("NO_PROXY", "no-proxy"))
    known = {name: given[flag] for name, flag in pairs if given.get(flag)}
    return known | {name.lower(): value for name, value in known.items()}


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise Invalid(f"-control-plane-count is '{text}', which is no number of masters.")
    return int(text)


def _installer_arguments(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        return _WORDS.read(text)
    except Unreadable as reason:
        raise Invalid(f"-installer-args is not a JSON list of texts: {reason}") from reason


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale <= 100:
        raise Invalid(f"{SCALE} is '{text}'. It is a number above 0, such as 0.01.")
    return scale


def _stage_seconds(environment: Mapping[str, str]) -> dict[HostStage, float]:
    """The limits, each changed by the variable that changes it in the service: HOST_STAGE_INSTALLING_TIMEOUT=90m."""
    found = dict(STAGE_SECONDS)
    for stage in STAGE_SECONDS:
        name = f"HOST_STAGE_{stage.upper().replace(' ', '_')}_TIMEOUT"
        text = environment.get(name, "")
        if text:
            found[stage] = _duration(name, text)
    return found


def _duration(name: str, text: str) -> float:
    if not _DURATION.fullmatch(text):
        raise Invalid(f"{name} is '{text}', which is no duration. Write it like 90m or 1h30m.")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
