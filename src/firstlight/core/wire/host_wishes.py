"""From requests about hosts to what they ask for."""

from firstlight.core.hosts.wishes import DiskChoice, DiskKeeping, HostWish
from firstlight.core.model.host import FencingCredentials, HttpHeader, NodeLabel
from firstlight.core.model.host_status import HostRole
from firstlight.core.wire.host_requests import FencingCredentialsParams, HostUpdateParams


def host_wish(params: HostUpdateParams) -> HostWish:
    disks, keeping = params.disks_selected_config, params.disks_skip_formatting
    headers, labels = params.ignition_endpoint_http_headers, params.node_labels
    return HostWish(
        role=None if params.host_role is None else HostRole(params.host_role),
        name=params.host_name,
        disks=None
        if disks is None
        else tuple(DiskChoice(name=disk.id, install=disk.role == "install") for disk in disks),
        skip_formatting=None
        if keeping is None
        else tuple(DiskKeeping(name=disk.disk_id, keep=disk.skip_formatting) for disk in keeping),
        machine_config_pool_name=params.machine_config_pool_name,
        ignition_endpoint_token=params.ignition_endpoint_token,
        ignition_endpoint_headers=None
        if headers is None
        else tuple(HttpHeader(header.key, header.value) for header in headers),
        node_labels=None if labels is None else tuple(NodeLabel(label.key, label.value) for label in labels),
        fencing=None if params.fencing_credentials is None else _fencing(params.fencing_credentials),
    )


def _fencing(params: FencingCredentialsParams) -> FencingCredentials:
    return FencingCredentials(
        address=params.address,
        username=params.username,
        password=params.password,
        certificate_verification=params.certificate_verification or "",
    )
