"""The platform block of install-config: what is known, and placeholders where only the user will know it later."""

from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install.cluster_inputs import ClusterInputs, InstallHost
from firstlight.core.install.documents import Document
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.model.host_status import HostRole
from firstlight.core.versions.numbers import at_least

ROLE_ORDER: Final = (HostRole.MASTER, HostRole.ARBITER, HostRole.WORKER)
NUTANIX_PORT: Final = 9440
NUTANIX_ELEMENT: Final = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
NUTANIX_SUBNET: Final = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy"
TO_BE_REPLACED: Final = "passwordplaceholder"


def platform_section(cluster: ClusterInputs) -> Document:
    if cluster.is_single_node and cluster.platform not in (PlatformType.NONE, PlatformType.EXTERNAL):
        raise Invalid(
            f"Cluster {cluster.name} has one control plane node and platform {cluster.platform}, "
            "but a single node needs the platform none or external. Change the platform."
        )
    match cluster.platform:
        case PlatformType.BAREMETAL:
            block = baremetal(cluster)
        case PlatformType.VSPHERE:
            block = vsphere(cluster)
        case PlatformType.NUTANIX:
            block = nutanix(cluster)
        case PlatformType.EXTERNAL:
            block = external(cluster)
        case PlatformType.NONE:
            block = {}
    return {str(cluster.platform): block}


def baremetal(cluster: ClusterInputs) -> Document:
    ordered = [host for role in ROLE_ORDER for host in cluster.with_role(role)]
    block: Document = {
        "provisioningNetwork": "Disabled" if at_least(cluster.version, "4.7") else "Unmanaged",
        **vips(cluster),
    }
    # With fencing the credentials name the hosts, and the installer refuses a second list of them.
    if not any(host.fencing for host in ordered):
        block["hosts"] = [baremetal_host(host, cluster.machine_networks) for host in ordered]
    if cluster.additional_ntp_servers:
        block["additionalNTPServers"] = list(cluster.additional_ntp_servers)
    if cluster.user_managed_load_balancer:
        block["loadBalancer"] = {"type": "UserManaged"}
    return block


def baremetal_host(host: InstallHost, machine_networks: tuple[str, ...]) -> Document:
    mac = host.mac_in(machine_networks)
    if mac is None:
        raise Invalid(
            f"Host {host.name} has no network interface with an address in the machine networks "
            f"{', '.join(machine_networks) or '(none)'}. Connect it to one of them or change the machine networks."
        )
    return {
        "name": host.name,
        "role": str(host.node_role),
        "bootMACAddress": mac,
        "bootMode": "UEFI" if host.uefi else "legacy",
        "bmc": {"username": "", "password": "", "address": "", "disableCertificateVerification": False},
        "hardwareProfile": "",
    }


def vips(cluster: ClusterInputs) -> Document:
    if not cluster.api_vips or not cluster.ingress_vips:
        return {}
    if at_least(cluster.version, "4.12"):
        return {"apiVIPs": list(cluster.api_vips), "ingressVIPs": list(cluster.ingress_vips)}
    # Older installers know a single pair, under its old names; the new ones are harmless beside them.
    api, ingress = cluster.api_vips[0], cluster.ingress_vips[0]
    return {"apiVIPs": [api], "apiVIP": api, "ingressVIPs": [ingress], "ingressVIP": ingress}


def external(cluster: ClusterInputs) -> Document:
    return {
        "platformName": cluster.platform_name,
        "cloudControllerManager": "External" if cluster.external_cloud_controller else "",
    }


def vsphere(cluster: ClusterInputs) -> Document:
    block: Document = {} if cluster.user_managed_networking else vips(cluster)
    if cluster.user_managed_load_balancer:
        block["loadBalancer"] = {"type": "UserManaged"}
    if not at_least(cluster.version, "4.13"):
        return block | {
            "vCenter": "vcenterplaceholder",
            "username": "usernameplaceholder",
            "password": TO_BE_REPLACED,
            "datacenter": "datacenterplaceholder",
            "defaultDatastore": "defaultdatastoreplaceholder",
            "cluster": "clusterplaceholder",
            "network": "networkplaceholder",
            "folder": "/datacenterplaceholder/vm/folderplaceholder",
        }
    center = {
        "server": "vcenterplaceholder",
        "user": "usernameplaceholder",
        "password": TO_BE_REPLACED,
        "datacenters": ["datacenterplaceholder"],
    }
    domain = {
        "name": "assisted-generated-failure-domain",
        "region": "assisted-generated-region",
        "zone": "assisted-generated-zone",
        "server": "vcenterplaceholder",
        "topology": {
            "computeCluster": "/datacenterplaceholder/host/clusterplaceholder",
            "datacenter": "datacenterplaceholder",
            "datastore": "/datacenterplaceholder/datastore/defaultdatastoreplaceholder",
            "folder": "/datacenterplaceholder/vm/folderplaceholder",
            "networks": ["networkplaceholder"],
        },
    }
    return block | {"vcenters": [center], "failureDomains": [domain]}


def nutanix(cluster: ClusterInputs) -> Document:
    return {
        **vips(cluster),
        "prismCentral": {
            "endpoint": {"address": "prismcentralplaceholder", "port": NUTANIX_PORT},
            "username": "usernameplaceholder",
            "password": TO_BE_REPLACED,
        },
        "prismElements": [
            {
                "endpoint": {"address": "prismelementplaceholder", "port": NUTANIX_PORT},
                "uuid": NUTANIX_ELEMENT,
                "name": "prismelementplaceholder",
            }
        ],
        "subnetUUIDs": [NUTANIX_SUBNET],
    }
