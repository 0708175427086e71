"""Light after the reboot: a unit of the installed system that tells the service where its first boot is.

It speaks about the stage the host is in and never moves it; when the service is away or further already, that is fine.
Once the kubelet runs it forgets the token it was given.
"""

from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from firstlight.core.install import ignition
from firstlight.core.install.discovery import SERVICE_CA_PATH
from firstlight.core.install.ignition_models import Config
from firstlight.core.install.inputs import Value

SCRIPT_PATH: Final = "/usr/local/bin/firstlight-first-boot.sh"
SETTINGS_PATH: Final = "/etc/firstlight/first-boot.env"
UNIT_NAME: Final = "firstlight-first-boot.service"
SERVER_PORTS: Final = (22623, 22624)

SCRIPT: Final = """#!/bin/bash
# Tells the service how far the first boot of this machine is, until the kubelet runs.
set -u
root="${FIRSTLIGHT_ROOT:-}"
rest="${FIRSTLIGHT_REST:-10}"
rounds="${FIRSTLIGHT_ROUNDS:-1080}"
told=""

tell() {
    # $1: what the service shows beside the host's stage. The stage itself is not ours to change: one that the host
    # has left behind is answered with 409, and the next is tried.
    [[ "$1" == "$told" ]] && return 0
    local stage code trust=()
    [[ -s "$root$FIRSTLIGHT_CA" ]] && trust=(--cacert "$root$FIRSTLIGHT_CA")
    for stage in "Rebooting" "Waiting for ignition" "Configuring"; do
        code="$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 20 "${trust[@]}" \\
            --request PUT --header 'Content-Type: application/json' --header @- \\
            --data "{\\"current_stage\\":\\"$stage\\",\\"progress_info\\":\\"$1\\"}" \\
            "$FIRSTLIGHT_URL" <<<"X-Secret-Key: $FIRSTLIGHT_TOKEN")"
        case "$code" in
            2??) told="$1"; return 0 ;;
            409) ;;
            *) return 1 ;;
        esac
    done
    told="$1"
}

where() {
    if systemctl is-active --quiet kubelet.service; then
        echo "The installed system runs: Ignition is done and the kubelet is up"
    elif [[ "$(systemctl is-active machine-config-daemon-firstboot.service)" == activating ]]; then
        echo "The installed system runs: Ignition is done, the image of the node is being applied"
    elif [[ -z "$FIRSTLIGHT_SERVER" ]]; then
        echo "The installed system runs: Ignition is done, waiting for the kubelet"
    elif curl --silent --insecure --output /dev/null --max-time 5 "$FIRSTLIGHT_SERVER/healthz"; then
        echo "The installed system runs: Ignition is done, the machine-config server answers, waiting for the kubelet"
    else
        echo "The installed system runs: Ignition is done, but the machine-config server does not answer"
    fi
}

for ((round = 0; round < rounds; round++)); do
    now="$(where)"
    tell "$now" && [[ "$now" == *"the kubelet is up" ]] && break
    sleep "$rest"
done
rm -f "$root$FIRSTLIGHT_SETTINGS"
exit 0
"""

UNIT: Final = f"""[Unit]
Description=Tell the service where the first boot of this machine is
Wants=network-online.target
After=network-online.target
ConditionPathExists={SETTINGS_PATH}

[Service]
Type=exec
EnvironmentFile={SETTINGS_PATH}
ExecStart=/bin/bash {SCRIPT_PATH}
Nice=10

[Install]
WantedBy=multi-user.target
"""


class FirstBoot(Value, frozen=True, kw_only=True):
    """Whom to tell, and for whom."""

    service_url: str
    infra_env_id: UUID
    host_id: UUID
    token: str = ""


def with_reporter(document: Config, boot: FirstBoot) -> Config:
    """The config of an installed host, with the reporter in it."""
    settings = ignition.file(SETTINGS_PATH, reporter_settings(boot, server=server_of(document)), mode=0o600)
    script = ignition.file(SCRIPT_PATH, SCRIPT, mode=0o755)
    return ignition.with_units(ignition.with_files(document, [settings, script]), [ignition.unit(UNIT_NAME, UNIT)])


def reporter_settings(boot: FirstBoot, *, server: str) -> str:
    path = f"/api/assisted-install/v2/infra-envs/{boot.infra_env_id}/hosts/{boot.host_id}/progress"
    values = {
        "FIRSTLIGHT_URL": boot.service_url.rstrip("/") + path,
        "FIRSTLIGHT_TOKEN": boot.token,
        "FIRSTLIGHT_CA": SERVICE_CA_PATH,
        "FIRSTLIGHT_SERVER": server,
        "FIRSTLIGHT_SETTINGS": SETTINGS_PATH,
    }
    return "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())


def server_of(document: Config) -> str:
    """Where the host's machine-config server listens; empty for one that has all of its config."""
    for resource in document.ignition.config.merge:
        parts = urlsplit(resource.source or "")
        if parts.scheme in ("http", "https") and parts.port in SERVER_PORTS:
            return f"{parts.scheme}://{parts.netloc}"
    return ""


def _quoted(value: str) -> str:
    """As systemd and shells read values from files."""
    return '"' + "".join(f"\\{char}" if char in '"\\$`' else char for char in value) + '"'
