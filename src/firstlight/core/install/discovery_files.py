"""Texts of the files and units every discovered host gets: scripts, banner, policies."""

import shlex
from collections.abc import Sequence
from typing import Final

FORGET_BROKEN_IMAGE: Final = "/usr/local/bin/agent-fix-bz1964591"
PULL_IMAGE: Final = "/usr/local/bin/agent-pull-image"
EVALUATE_OCI_USER_DATA: Final = "/usr/local/bin/oci-eval-user-data.sh"
ADD_NTP_SOURCES: Final = "/usr/local/bin/add-ntp-sources.sh"

MOTD: Final = """
  This machine runs from a Firstlight discovery image: nothing is installed yet.
  The agent reports this machine to the service. To see what it does:

      journalctl --unit agent.service --follow

"""

MULTIPATH_CONF: Final = """defaults {
    user_friendly_names yes
    find_multipaths yes
    enable_foreign "^$"
}
blacklist_exceptions {
    property "(SCSI_IDENT_|ID_WWN)"
}
"""

# Addresses from DHCPv6 stay the same before and after installation only when they depend on the MAC alone.
STABLE_IPV6: Final = """[connection]
ipv6.dhcp-iaid=mac
ipv6.dhcp-duid=ll
"""

SELINUX_POLICY: Final = """module assisted 1.0;

require {
    type chronyd_t;
    type container_file_t;
    type spc_t;
    class dir search;
    class sock_file write;
    class unix_dgram_socket sendto;
}

allow chronyd_t container_file_t:dir search;
allow chronyd_t container_file_t:sock_file write;
allow chronyd_t spc_t:unix_dgram_socket sendto;
"""

ACCEPT_ANY_IMAGE: Final = """{
  "default": [{"type": "insecureAcceptAnything"}],
  "transports": {"docker-daemon": {"": [{"type": "insecureAcceptAnything"}]}}
}
"""

SELINUX_UNIT: Final = """[Unit]
Description=Allow chronyd to answer the agent's containers

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/checkmodule -M -m -o /root/assisted.mod /root/assisted.te
ExecStart=/usr/bin/semodule_package -o /root/assisted.pp -m /root/assisted.mod
ExecStart=/usr/sbin/semodule -i /root/assisted.pp

[Install]
WantedBy=multi-user.target
"""

ISCSI_UNIT: Final = """[Unit]
Description=Attach the iSCSI disks that the firmware booted from
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=-/usr/sbin/modprobe iscsi_ibft
ExecStart=-/usr/sbin/iscsistart -f
ExecStart=-/usr/sbin/iscsistart -b

[Install]
WantedBy=multi-user.target
"""

OCI_UNIT: Final = f"""[Unit]
Description=Run the user data of Oracle Cloud Infrastructure
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={EVALUATE_OCI_USER_DATA}

[Install]
WantedBy=multi-user.target
"""

OCI_SCRIPT: Final = """#!/bin/bash
# Oracle Cloud Infrastructure hands its iSCSI set-up over as a script in the instance's user data.
set -euo pipefail
if [[ "$(cat /sys/class/dmi/id/chassis_asset_tag 2>/dev/null)" != "OracleCloud.com" ]]; then
    exit 0
fi
user_data="$(mktemp)"
trap 'rm -f "$user_data"' EXIT
curl --fail --silent --show-error --retry 10 --retry-connrefused --header 'Authorization: Bearer Oracle' \\
    http://169.254.169.254/opc/v2/instance/metadata/user_data | base64 --decode > "$user_data"
bash "$user_data"
"""

NTP_UNIT: Final = f"""[Unit]
Description=Tell chrony the configured time sources
Before=chronyd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={ADD_NTP_SOURCES}

[Install]
WantedBy=multi-user.target
"""


def forget_broken_image_script() -> str:
    return """#!/bin/bash
# An interrupted pull can leave an image that exists but cannot run: remove it, so that it is pulled anew.
image="$1"
if podman image exists "$image" && ! podman run --rm --entrypoint /bin/true "$image" >/dev/null 2>&1; then
    echo "The local copy of $image does not start; removing it."
    podman rmi --force "$image"
fi
exit 0
"""


def pull_image_script() -> str:
    return """#!/bin/bash
# Pull an image, waiting longer after each failure; nothing to do when it is there already.
image="$1"
wait_seconds=5
until podman image exists "$image" || podman pull --authfile /root/.docker/config.json "$image"; do
    echo "Pulling $image failed; trying again in $wait_seconds seconds."
    sleep "$wait_seconds"
    wait_seconds=$((wait_seconds * 2 > 300 ? 300 : wait_seconds * 2))
done
"""


def ntp_script(*, only: Sequence[str], additional: Sequence[str]) -> str:
    """A script for chrony: `only` replaces every source the image has, `additional` come on top of them."""
    servers = [f"server {source} iburst" for source in only or additional]
    if only:
        servers += ["driftfile /var/lib/chrony/drift", "rtcsync", "logdir /var/log/chrony"]
    settings = shlex.quote("\n".join([*servers, "makestep 1.0 -1"]))
    if only:
        return f"#!/bin/bash\nset -eu\nprintf '%s\\n' {settings} > /etc/chrony.conf\n"
    return (
        "#!/bin/bash\nset -eu\n"
        "sed -i '/^makestep /d' /etc/chrony.conf\n"
        f"printf '%s\\n' {settings} >> /etc/chrony.conf\n"
    )


def proxy_profile(variables: Sequence[tuple[str, str]]) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables)
