"""Manifests the service adds by itself to every installation that needs them (folder `openshift`)."""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from firstlight.core.install import ignition
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.ignition_models import Clevis, Config, Filesystem, Luks, Storage, Tang
from firstlight.core.install.inputs import Value
from firstlight.core.install.kube_objects import Manifest, config_map, kube_object, machine_config, manifest
from firstlight.core.install.single_node_dns import single_node_dns
from firstlight.core.model.cluster_status import EncryptionMode
from firstlight.core.model.host_status import HostRole
from firstlight.core.versions.numbers import at_least

FOLDER: Final = "openshift"
SCHEDULER_PATCH: Final = "cluster-scheduler-02-config.yml.patch_ai_set_masters_schedulable"
TAG_MIRRORS: Final = "50-service-tag-mirrors.yaml"
ROOT_DEVICE: Final = "/dev/disk/by-partlabel/root"
PLAIN_CIPHER: Final = "aes-cbc-essiv:sha256"
TELEMETER: Final = {
    "https://api.stage.openshift.com": "https://infogw.api.stage.openshift.com",
    "https://api.integration.openshift.com": "https://infogw.api.integration.openshift.com",
}
ISCSI_SCRIPT_PATH: Final = "/usr/local/bin/iscsi-nic-reapply.sh"
ISCSI_SCRIPT: Final = """#!/bin/bash
# Firmware configured the cards of an iSCSI root; NetworkManager must take them over once with its own profiles.
set -euo pipefail
root="$(findmnt --noheadings --output SOURCE /sysroot)"
if lsblk --noheadings --inverse --output TRAN "$root" | grep --quiet iscsi; then
    nmcli --terse --get-values DEVICE,STATE device status | while IFS=: read -r device state; do
        if [[ "$state" == connected* ]]; then nmcli device reapply "$device" || true; fi
    done
fi
"""
ISCSI_UNIT: Final = f"""[Unit]
Description=Apply NetworkManager's settings to cards that the firmware configured for iSCSI
ConditionFirstBoot=true
After=NetworkManager.service
Before=kubelet.service

[Service]
Type=oneshot
ExecStart={ISCSI_SCRIPT_PATH}
ExecStartPost=/usr/bin/systemctl disable iscsi-nic-reapply.service

[Install]
WantedBy=multi-user.target
"""


class EncryptionSettings(Value, frozen=True, kw_only=True):
    roles: frozenset[HostRole] = frozenset()
    mode: EncryptionMode = EncryptionMode.TPM2
    tang_servers: tuple[tuple[str, str], ...] = ()
    """URL and thumbprint of each."""
    cipher: str = PLAIN_CIPHER


class SystemSettings(Value, frozen=True, kw_only=True):
    """What decides which manifests are added."""

    ntp_sources: tuple[str, ...] = ()
    """The only servers to use; empty means the public pool besides the others."""
    other_ntp_sources: tuple[str, ...] = ()
    """What hosts reported as synchronised and what the user added."""
    schedulable_masters: bool = False
    single_node_dns: bool = True
    encryption: EncryptionSettings = EncryptionSettings()
    service_url: str = ""
    operator_manifests: tuple[tuple[str, str], ...] = ()
    """Name and content of what the chosen operators need before they are installed."""


def system_manifests(cluster: ClusterInputs, settings: SystemSettings) -> tuple[Manifest, ...]:
    made = [*chrony(cluster, settings), *iscsi(cluster), *encryption(settings.encryption)]
    if cluster.is_single_node and settings.single_node_dns and cluster.bootstrap is not None:
        made.append(manifest(FOLDER, "dnsmasq-bootstrap-in-place.yaml", single_node_dns(cluster)))
    if settings.schedulable_masters:
        made.append(Manifest(folder=FOLDER, name=SCHEDULER_PATCH, content=schedulable_patch()))
    made += [*tag_mirrors(cluster), *telemeter(settings.service_url)]
    made += (Manifest(folder=FOLDER, name=name, content=content) for name, content in settings.operator_manifests)
    return tuple(made)


def tag_mirrors(cluster: ClusterInputs) -> Iterator[Manifest]:
    """install-config knows mirrors of digests only; older releases cannot have both kinds."""
    if cluster.mirrors is not None and cluster.mirrors.tag_mirrors and at_least(cluster.version, "4.14"):
        entries = [{"source": one.source, "mirrors": list(one.mirrors)} for one in cluster.mirrors.tag_mirrors]
        spec = {"imageTagMirrors": entries}
        document = kube_object("config.openshift.io/v1", "ImageTagMirrorSet", "service-tag-mirrors", spec=spec)
        yield manifest(FOLDER, TAG_MIRRORS, document)


def pools(cluster: ClusterInputs) -> tuple[HostRole, ...]:
    arbiters = (HostRole.ARBITER,) if cluster.with_role(HostRole.ARBITER) else ()
    return (HostRole.MASTER, HostRole.WORKER, *arbiters)


def chrony(cluster: ClusterInputs, settings: SystemSettings) -> Iterator[Manifest]:
    text = chrony_conf(only=settings.ntp_sources, other=settings.other_ntp_sources)
    for role in pools(cluster):
        name = f"50-{role}s-chrony-configuration"
        document = ignition.config("3.1.0", files=[ignition.file("/etc/chrony.conf", text)])
        yield manifest(FOLDER, f"{name}.yaml", machine_config(name, role, document=document))


def chrony_conf(*, only: Sequence[str], other: Sequence[str]) -> str:
    base = [
        "sourcedir /run/chrony-dhcp",
        "driftfile /var/lib/chrony/drift",
        "makestep 1.0 3",
        "rtcsync",
        "logdir /var/log/chrony",
    ]
    pool = [] if only else ["pool 0.rhel.pool.ntp.org iburst"]
    servers = [f"server {source} iburst" for source in dict.fromkeys(only or other)]
    return "\n".join([*pool, *base, *servers]) + "\n"


def iscsi(cluster: ClusterInputs) -> Iterator[Manifest]:
    document = ignition.config(
        "3.1.0",
        files=[ignition.file(ISCSI_SCRIPT_PATH, ISCSI_SCRIPT, mode=0o755)],
        units=[ignition.unit("iscsi-nic-reapply.service", ISCSI_UNIT)],
    )
    for role in pools(cluster):
        name = f"50-{role}s-iscsi-nic-reapply"
        yield manifest(FOLDER, f"{name}.yaml", machine_config(name, role, document=document))


def schedulable_patch() -> str:
    """A list of JSON patch operations; the original's tool wants YAML, of which JSON is a part."""
    return json.dumps([{"op": "replace", "path": "/spec/mastersSchedulable", "value": True}], indent=2) + "\n"


def encryption(settings: EncryptionSettings) -> Iterator[Manifest]:
    tang = settings.mode is EncryptionMode.TANG
    kind = "tang" if tang else "tpm"
    for role in sorted(settings.roles):
        document = machine_config(
            f"{role}-{kind}",
            role,
            document=encrypted_root(settings),
            kernel_arguments=("rd.neednet=1",) if tang else (),
        )
        yield manifest(FOLDER, f"99-openshift-{role}-{kind}-encryption.yaml", document)


def encrypted_root(settings: EncryptionSettings) -> Config:
    if settings.mode is EncryptionMode.TANG:
        clevis = Clevis(tang=tuple(Tang(url=url, thumbprint=print_) for url, print_ in settings.tang_servers))
    else:
        clevis = Clevis(tpm2=True)
    luks = Luks(
        name="root",
        device=ROOT_DEVICE,
        clevis=clevis,
        options=("--cipher", settings.cipher),
        label="luks-root",
        wipe_volume=True,
    )
    root = Filesystem(device="/dev/mapper/root", format="xfs", label="root", wipe_filesystem=True)
    base = ignition.config("3.2.0")
    return Config(ignition=base.ignition, storage=Storage(luks=(luks,), filesystems=(root,)))


def encrypted_roles(enable_on: str) -> frozenset[HostRole]:
    """Roles named by the API's `enable_on`: none, all, or a comma list of plurals."""
    words = {word.strip() for word in enable_on.split(",")}
    wanted: Iterable[HostRole] = (HostRole.MASTER, HostRole.ARBITER, HostRole.WORKER)
    return frozenset(role for role in wanted if "all" in words or f"{role}s" in words)


def custom_manifests(documents: Sequence[tuple[str, str]]) -> str:
    """custom_manifests.json: what the controller applies once each operator's own types exist."""
    listed = [{"Name": name, "Content": base64.b64encode(content.encode()).decode()} for name, content in documents]
    return json.dumps(listed)


def telemeter(service_url: str) -> Iterator[Manifest]:
    """Clusters made by a staging service report to the staging telemetry."""
    for prefix, server in TELEMETER.items():
        if service_url.startswith(prefix):
            data = {"config.yaml": f"telemeterClient:\n  telemeterServerURL: {server}\n"}
            document = config_map("cluster-monitoring-config", "openshift-monitoring", data)
            yield manifest(FOLDER, "redirect-telemeter.yaml", document)
