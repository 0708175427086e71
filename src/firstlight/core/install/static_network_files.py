"""Scripts and units that apply a static network on the host itself.

Before OpenShift 4.18 the host gets connections for NetworkManager, from then on descriptions for nmstate. Scripts need
little more than bash: an initramfs has little more. `ROOT` and `QUIET_SECONDS` are for trying them out.
"""

from enum import StrEnum
from typing import Final

SCRIPT_PATH: Final = "/usr/local/bin/pre-network-manager-config.sh"
COMMON_SCRIPT_PATH: Final = "/usr/local/bin/common_network_script.sh"
UNIT_NAME: Final = "pre-network-manager-config.service"


class AppliedBy(StrEnum):
    KEYFILES = "keyfiles"
    """Connections written beforehand, which NetworkManager finds when it starts."""
    NMSTATE = "nmstate"
    """Descriptions that nmstate applies on the host."""


COMMON_SCRIPT: Final = """#!/bin/bash
# Functions that find out which of the described hosts this machine is.

ROOT="${ROOT:-}"
NETWORK_FOLDER="$ROOT/etc/assisted/network"
declare -A CARD_OF=()
MATCHING=()
HARDWARE=0

# CARD_OF[upper-case MAC address] = name. A bond hides its ports' own address; what is no hardware repeats others'.
find_cards() {
    local card mac
    CARD_OF=()
    HARDWARE=0
    for card in "$ROOT"/sys/class/net/*; do
        mac=""
        if [[ -r "$card/bonding_slave/perm_hwaddr" ]]; then
            read -r mac < "$card/bonding_slave/perm_hwaddr"
        elif [[ -r "$card/address" ]]; then
            read -r mac < "$card/address"
        fi
        [[ -n "$mac" ]] || continue
        [[ ! -e "$card/device" ]] || HARDWARE=$((HARDWARE + 1))
        if [[ -e "$card/device" || -z "${CARD_OF[${mac^^}]:-}" ]]; then
            CARD_OF["${mac^^}"]="${card##*/}"
        fi
    done
}

# Drivers load one after the other, and cards are renamed: wait until there is one and nothing happened for three
# seconds, thirty at most.
wait_for_cards() {
    local before="" quiet=0 waited=0
    find_cards
    while ((quiet < ${QUIET_SECONDS:-3} && waited < 30)); do
        before="${!CARD_OF[*]} ${CARD_OF[*]}"
        sleep 1
        find_cards
        if ((HARDWARE > 0)) && [[ "${!CARD_OF[*]} ${CARD_OF[*]}" == "$before" ]]; then
            quiet=$((quiet + 1))
        else
            quiet=0
        fi
        waited=$((waited + 1))
    done
}

# MATCHING: the folders of the described hosts that own one of this machine's addresses.
find_matching_hosts() {
    local folder mac name
    MATCHING=()
    for folder in "$NETWORK_FOLDER"/host*; do
        [[ -r "$folder/mac_interface.ini" ]] || continue
        while IFS== read -r mac name; do
            if [[ -n "$mac" && -n "${CARD_OF[${mac^^}]:-}" ]]; then
                MATCHING+=("$folder")
                break
            fi
        done < "$folder/mac_interface.ini"
    done
}

# Whoever is not described keeps the default network.
find_this_host() {
    sleep "${DISCOVERY_DELAY_SECONDS:-0}"
    wait_for_cards
    find_matching_hosts
    if ((${#MATCHING[@]} == 0)); then
        echo "None of the described hosts has one of this machine's MAC addresses."
        exit 0
    fi
}
"""

KEYFILE_SCRIPT: Final = """#!/bin/bash
# Give NetworkManager the connections described for this machine, under the names its cards have here.
set -u
source "${ROOT:-}/usr/local/bin/common_network_script.sh"
declare -A card_named=()

# RENAMED: what $2, the value of the key $1, is called on this machine.
rename() {
    local base="${2%%.*}" number
    RENAMED="$2"
    case "$1" in
        type | *-type | method | mode) return ;;
    esac
    [[ -n "$base" ]] || return
    if [[ -n "${card_named[$2]:-}" ]]; then
        RENAMED="${card_named[$2]}"
    elif [[ "$2" == *.* && -n "${card_named[$base]:-}" ]]; then
        case "$1" in
            # A VLAN is called after its card; the kernel takes fifteen characters, and its number must stay whole.
            id | interface-name | parent | master | controller)
                number=".${2#*.}"
                RENAMED="${card_named[$base]}"
                ((${#number} >= 15)) || RENAMED="${RENAMED:0:15-${#number}}$number"
                ;;
        esac
    fi
}

install_connections() {
    local folder="$1" target="$2" mac name file line stem
    card_named=()
    while IFS== read -r mac name; do
        if [[ -n "$mac" && -n "$name" && -n "${CARD_OF[${mac^^}]:-}" ]]; then
            card_named["$name"]="${CARD_OF[${mac^^}]}"
        fi
    done < "$folder/mac_interface.ini"
    for file in "$folder"/*.nmconnection; do
        [[ -r "$file" ]] || continue
        stem="${file##*/}"
        rename id "${stem%.nmconnection}"
        stem="$RENAMED"
        while IFS= read -r line || [[ -n "$line" ]]; do
            if [[ "$line" == *=* ]]; then
                rename "${line%%=*}" "${line#*=}"
                line="${line%%=*}=$RENAMED"
            fi
            printf '%s\\n' "$line"
        done < "$file" > "$target/$stem.nmconnection"
    done
}

find_this_host
# What lies in the folder of the initramfs reaches the real root as well.
target="$ROOT/etc/NetworkManager/system-connections"
[[ ! -e "$ROOT/etc/initrd-release" ]] || target="$ROOT/etc/coreos-firstboot-network"
umask 077
rm -rf "$target"
mkdir -p "$target"
for folder in "${MATCHING[@]}"; do
    install_connections "$folder" "$target"
done
"""

NMSTATE_SCRIPT: Final = """#!/bin/bash
# Hand the description of this machine to nmstate.
set -u
source "${ROOT:-}/usr/local/bin/common_network_script.sh"

find_this_host
mkdir -p "$ROOT/etc/nmstate"
for folder in "${MATCHING[@]}"; do
    cp "$folder"/*.yml "$ROOT/etc/nmstate/"
done
nmstatectl service

# In the initramfs the result must also reach the real root.
if [[ -e "$ROOT/etc/initrd-release" ]]; then
    mkdir -p "$ROOT/etc/coreos-firstboot-network"
    cp "$ROOT"/etc/NetworkManager/system-connections/*.nmconnection "$ROOT/etc/coreos-firstboot-network/"
    /usr/sbin/coreos-copy-firstboot-network
fi
"""

SCRIPT_OF: Final = {AppliedBy.KEYFILES: KEYFILE_SCRIPT, AppliedBy.NMSTATE: NMSTATE_SCRIPT}
_FULL_ISO_ORDER: Final = {
    AppliedBy.KEYFILES: "Before=NetworkManager.service",
    AppliedBy.NMSTATE: "After=NetworkManager-wait-online.service\nBefore=nmstate.service",
}
_INITRAMFS_ORDER: Final = {
    AppliedBy.KEYFILES: "After=systemd-udev-settle.service\nBefore=coreos-copy-firstboot-network.service",
    AppliedBy.NMSTATE: "After=nm-initrd.service systemd-udev-settle.service\nBefore=coreos-livepxe-rootfs.service",
}


def full_iso_unit(applied_by: AppliedBy) -> str:
    """Connections must lie there before NetworkManager looks; descriptions are applied once it runs."""
    return f"""[Unit]
Description=Apply the static network described for this machine
{_FULL_ISO_ORDER[applied_by]}

[Service]
Type=oneshot
TimeoutSec=60
RemainAfterExit=yes
ExecStart={SCRIPT_PATH}

[Install]
WantedBy=multi-user.target
"""


def initramfs_unit(applied_by: AppliedBy, *, delay_seconds: int = 0) -> str:
    """In a ramdisk the network must be up before the rest of the system is fetched over it."""
    return f"""[Unit]
Description=Apply the static network described for this machine
DefaultDependencies=no
Wants=systemd-udev-settle.service
{_INITRAMFS_ORDER[applied_by]}

[Service]
Type=oneshot
Environment="DISCOVERY_DELAY_SECONDS={delay_seconds}"
TimeoutSec={60 + delay_seconds}
RemainAfterExit=yes
ExecStart={SCRIPT_PATH}

[Install]
WantedBy=initrd.target
"""
