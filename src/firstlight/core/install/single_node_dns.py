"""A single node answers its own names: nobody else may know them at its first boot."""

from typing import Final

from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document
from firstlight.core.install.kube_objects import machine_config

NAME: Final = "50-master-dnsmasq-configuration"
SCRIPT_PATH: Final = "/usr/local/bin/dnsmasq_config.sh"
SETTINGS_PATH: Final = "/etc/default/sno_dnsmasq_configuration"
OVERRIDES_PATH: Final = "/etc/default/sno_dnsmasq_configuration_overrides"
DISPATCHER_PATH: Final = "/etc/NetworkManager/dispatcher.d/forcedns"

# The overrides file lets a node move to another name or address later.
READ_SETTINGS: Final = f"""source {SETTINGS_PATH}
if [[ -f {OVERRIDES_PATH} ]]; then source {OVERRIDES_PATH}; fi
address="${{SNO_DNSMASQ_IP_OVERRIDE:-$HOST_IP}}"
domain="${{SNO_CLUSTER_NAME_OVERRIDE:-$CLUSTER_NAME}}.${{SNO_BASE_DOMAIN_OVERRIDE:-$BASE_DOMAIN}}"
"""
SCRIPT: Final = f"""#!/bin/bash
# Write what dnsmasq answers.
set -euo pipefail
{READ_SETTINGS}
for name in apps api-int api; do
    echo "address=/$name.$domain/$address"
done > /etc/dnsmasq.d/single-node.conf
"""
DISPATCHER: Final = f"""#!/bin/bash
# Ask this node first, then the servers the network gave us.
{READ_SETTINGS}
given=/run/NetworkManager/resolv.conf
case "$2" in
    up | dhcp4-change | dhcp6-change | connectivity-change | reapply)
        [[ -f "$given" ]] || exit 0
        new="$(mktemp /etc/resolv.conf.XXXXXX)"
        grep '^search' "$given" > "$new"
        echo "nameserver $address" >> "$new"
        grep '^nameserver' "$given" | grep -v -x -F "nameserver $address" >> "$new"
        chmod 0644 "$new"
        mv -f "$new" /etc/resolv.conf
        ;;
esac
exit 0
"""
UNIT: Final = f"""[Unit]
Description=Answer the names of this cluster
Wants=network-online.target
After=network-online.target
Before=kubelet.service crio.service

[Service]
Type=simple
TimeoutStartSec=30
ExecStartPre={SCRIPT_PATH}
ExecStart=/usr/sbin/dnsmasq --keep-in-foreground
Restart=always

[Install]
WantedBy=multi-user.target
"""


def single_node_dns(cluster: ClusterInputs) -> Document:
    """The MachineConfig; the address is the bootstrap host's in the first machine network."""
    settings = f"CLUSTER_NAME={cluster.name}\nBASE_DOMAIN={cluster.base_domain}\nHOST_IP={node_address(cluster)}\n"
    document = ignition.config(
        "3.1.0",
        files=[
            ignition.file(SETTINGS_PATH, settings),
            ignition.file(SCRIPT_PATH, SCRIPT, mode=0o755),
            ignition.file(DISPATCHER_PATH, DISPATCHER, mode=0o755),
            ignition.file("/etc/NetworkManager/conf.d/single-node.conf", "[main]\nrc-manager=unmanaged\n"),
        ],
        units=[ignition.unit("dnsmasq.service", UNIT)],
    )
    return machine_config(NAME, "master", document=document)


def node_address(cluster: ClusterInputs) -> str:
    host = cluster.bootstrap
    found = None if host is None else host.address_in(cluster.machine_networks or host.networks)
    return found or ""
