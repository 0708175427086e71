"""Arguments of the steps that act: install, collect logs, upgrade the agent, give the machine back."""

from typing import Final

from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.host import Host, HostState
from firstlight.core.model.host_status import HostRole, HostStatus
from firstlight.core.model.inventory import Inventory
from firstlight.core.model.plan import Step, StepType
from firstlight.core.steps.arguments import json_text, lies_in, saves_partitions
from firstlight.core.steps.day_two import os_image_in
from firstlight.core.steps.decoding import network_around
from firstlight.core.steps.inputs import ReleaseFacts
from firstlight.core.steps.kernel_arguments import installer_arguments
from firstlight.core.steps.occasion import Occasion, boot_device_of, node_role_of

HOST_ROOT: Final = "/host"
"""Where the reclaiming container sees the machine's own file system."""


def install(occasion: Occasion) -> Step | None:
    state, host, inventory = occasion.state, occasion.host, occasion.inventory
    device = boot_device_of(host)
    if state is None or inventory is None or not device:
        return None
    cluster = state.cluster
    request: dict[str, object] = {
        "cluster_id": str(cluster.id),
        "infra_env_id": str(host.infra_env_id),
        "host_id": str(host.id),
        "role": HostRole.BOOTSTRAP if host.bootstrap else node_role_of(host),
        "boot_device": device,
        "controller_image": occasion.policy.controller_image,
        "installer_image": occasion.policy.installer_image,
        "control_plane_count": cluster.control_plane_count,
        "check_cvo": occasion.policy.check_cluster_version,
        "service_ips": [],
        "enable_skip_mco_reboot": occasion.policy.skip_mco_reboot and _may_skip_reboot(cluster, host),
        "notify_num_reboots": not occasion.policy.kube_api,
    }
    if inventory.boot.device_type == "persistent":
        image = _system_image(occasion)
        if not image:
            return None
        request["coreos_image"] = image
    if not cluster.is_day_two:
        release = occasion.inputs.release
        request["mco_image"] = release.mco_image
        request["must_gather_image"] = _must_gather(release)
        request["openshift_version"] = cluster.openshift_version
    arguments = installer_arguments(state, host, inventory=inventory, infra_env=occasion.infra_env)
    if arguments:
        request["installer_args"] = json_text(arguments)
    saving = saves_partitions(arguments)
    request["skip_installation_disk_cleanup"] = saving
    spared = {*host.skip_formatting_disks, *((device,) if saving else ())}
    request["disks_to_format"] = [disk for disk in host.disks_to_be_formatted if disk not in spared]
    if cluster.proxy.http or cluster.proxy.https:
        request["proxy"] = _proxy(cluster)
    return Step(StepType.INSTALL, (json_text(request),), host.tries)


def _may_skip_reboot(cluster: Cluster, host: Host) -> bool:
    return (
        _line(cluster.openshift_version) >= (4, 15)
        and cluster.cpu_architecture != "s390x"
        and not host.installation_disk_path.startswith("/dev/dm-")
    )


def _line(version: str) -> tuple[int, ...]:
    """(4, 15) of 4.15.3; empty when the text is no version, which is older than everything."""
    parts = version.split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _system_image(occasion: Occasion) -> str:
    reply = occasion.member.reports.api_vip
    return occasion.inputs.release.coreos_image or (os_image_in(reply.ignition) if reply is not None else "")


def _must_gather(release: ReleaseFacts) -> str:
    images = dict(release.must_gather_images)
    return images["ocp"] if list(images) == ["ocp"] else json_text(images) if images else ""


def _proxy(cluster: Cluster) -> dict[str, str]:
    given = cluster.proxy.no_proxy.strip()
    own = ("127.0.0.1", "localhost", ".svc", ".cluster.local", f"api-int.{cluster.name}.{cluster.base_dns_domain}")
    listed = [part for part in given.split(",") if part]
    proxy = {
        "http_proxy": cluster.proxy.http,
        "https_proxy": cluster.proxy.https,
        "no_proxy": given if given == "*" else ",".join(dict.fromkeys([*listed, *own])),
    }
    return {name: value for name, value in proxy.items() if value}


def logs_gather(occasion: Occasion) -> Step | None:
    state, host = occasion.state, occasion.host
    if state is None or host.logs_collected_at is not None:
        return None
    request = {
        "cluster_id": str(state.cluster.id),
        "infra_env_id": str(host.infra_env_id),
        "host_id": str(host.id),
        "bootstrap": host.bootstrap,
        "installer_gather": True,
        "master_ips": _master_addresses(state) if host.bootstrap else [],
    }
    return Step(StepType.LOGS_GATHER, (json_text(request),))


def _master_addresses(state: ClusterState) -> list[str]:
    """Of every other control-plane node: its address in the machine network, or all where there is none."""
    networks = () if state.cluster.user_managed_networking else state.cluster.machine_networks[:1]
    addresses = [
        address
        for member in state.hosts
        if not member.host.bootstrap and member.host.effective_role is not HostRole.WORKER
        for address in _addresses(member, networks=networks)
    ]
    return list(dict.fromkeys(addresses))


def _addresses(member: HostState, *, networks: tuple[str, ...]) -> list[str]:
    inventory: Inventory | None = member.reports.inventory
    found = [address for nic in inventory.interfaces for address in nic.addresses] if inventory is not None else []
    known = [network for network in map(network_around, networks) if network is not None]
    inside = [address for address in found if any(lies_in(address, network=network) for network in known)]
    return [address.partition("/")[0] for address in (inside[:1] if known else found)]


def stop_installation(occasion: Occasion) -> Step | None:
    """Who failed only along with its cluster goes on as long as that one may be saved."""
    host = occasion.host
    return None if host.status is HostStatus.ERROR and host.kept_status else Step(StepType.STOP_INSTALLATION)


def upgrade_agent(occasion: Occasion) -> Step:
    return Step(StepType.UPGRADE_AGENT, (json_text({"agent_image": occasion.policy.agent_image}),))


def download_boot_artifacts(occasion: Occasion) -> Step | None:
    artifacts = occasion.inputs.boot_artifacts.get(occasion.host.infra_env_id)
    if artifacts is None:
        return None
    request = {
        "kernel_url": artifacts.kernel_url,
        "rootfs_url": artifacts.rootfs_url,
        "initrd_url": artifacts.initrd_url,
        "host_fs_mount_dir": HOST_ROOT,
    }
    return Step(StepType.DOWNLOAD_BOOT_ARTIFACTS, (json_text(request),))


def reboot_for_reclaim(_occasion: Occasion) -> Step:
    return Step(StepType.REBOOT_FOR_RECLAIM, (json_text({"host_fs_mount_dir": HOST_ROOT}),))
