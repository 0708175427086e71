"""Scripts and units that apply a static network on the host itself (OpenShift 4.18 and later, through nmstate)."""

from typing import Final

SCRIPT_PATH: Final = "/usr/local/bin/pre-network-manager-config.sh"
COMMON_SCRIPT_PATH: Final = "/usr/local/bin/common_network_script.sh"
UNIT_NAME: Final = "pre-network-manager-config.service"

COMMON_SCRIPT: Final = """#!/bin/bash
# Functions that find out which of the described hosts this machine is.

NETWORK_FOLDER=/etc/assisted/network

# Upper-case MAC addresses of all network cards, one per line. A bond hides its ports' own address, hence ethtool's.
mac_addresses() {
    local card
    for card in /sys/class/net/*; do
        [[ -e "$card/device" || -e "$card/address" ]] || continue
        cat "$card/bonding_slave/perm_hwaddr" 2>/dev/null || cat "$card/address" 2>/dev/null
    done | tr '[:lower:]' '[:upper:]' | sort -u
}

# Drivers load one after the other: wait until no card appeared for three seconds, thirty at most.
wait_for_cards() {
    local before="" now="" quiet=0 waited=0
    while ((quiet < 3 && waited < 30)); do
        now="$(mac_addresses)"
        if [[ "$now" == "$before" ]]; then quiet=$((quiet + 1)); else quiet=0; fi
        before="$now"
        sleep 1
        waited=$((waited + 1))
    done
}

# Folders of the described hosts that own one of this machine's addresses.
matching_hosts() {
    local folder addresses
    addresses="$(mktemp)"
    mac_addresses > "$addresses"
    for folder in "$NETWORK_FOLDER"/host*; do
        [[ -f "$folder/mac_interface.ini" ]] || continue
        if cut -d= -f1 "$folder/mac_interface.ini" | grep -q -x -F -f "$addresses"; then
            echo "$folder"
        fi
    done
    rm -f "$addresses"
}
"""

NMSTATE_SCRIPT: Final = f"""#!/bin/bash
# Hand the description of this machine to nmstate. A machine nobody described keeps its default network.
set -u
source {COMMON_SCRIPT_PATH}

sleep "${{DISCOVERY_DELAY_SECONDS:-0}}"
wait_for_cards
found="$(matching_hosts)"
if [[ -z "$found" ]]; then
    echo "None of the described hosts has one of this machine's MAC addresses."
    exit 0
fi
mkdir -p /etc/nmstate
while read -r folder; do
    cp "$folder"/*.yml /etc/nmstate/
done <<< "$found"
nmstatectl service

# In the initramfs the result must also reach the real root.
if [[ -e /etc/initrd-release ]]; then
    mkdir -p /etc/coreos-firstboot-network
    cp /etc/NetworkManager/system-connections/*.nmconnection /etc/coreos-firstboot-network/
    /usr/sbin/coreos-copy-firstboot-network
fi
"""


def full_iso_unit() -> str:
    """On a full ISO the system is up already: configure after NetworkManager, before nmstate's own service."""
    return f"""[Unit]
Description=Apply the static network described for this machine
After=NetworkManager-wait-online.service
Before=nmstate.service

[Service]
Type=oneshot
TimeoutSec=60
RemainAfterExit=yes
ExecStart={SCRIPT_PATH}

[Install]
WantedBy=multi-user.target
"""


def initramfs_unit(*, delay_seconds: int = 0) -> str:
    """In a ramdisk the network must be up before the rest of the system is fetched over it."""
    return f"""[Unit]
Description=Apply the static network described for this machine
DefaultDependencies=no
After=nm-initrd.service systemd-udev-settle.service
Before=coreos-livepxe-rootfs.service

[Service]
Type=oneshot
Environment="DISCOVERY_DELAY_SECONDS={delay_seconds}"
TimeoutSec={60 + delay_seconds}
RemainAfterExit=yes
ExecStart={SCRIPT_PATH}

[Install]
WantedBy=initrd.target
"""
