"""Whether a running cluster that is to grow brings its own DNS: read off the Ignition its new hosts fetched."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from firstlight.core.model.cluster import Cluster
from firstlight.core.model.host import HostState
from firstlight.core.network.addresses import address_of

OWN_DNS_FILES: Final = frozenset(
    {"/etc/kubernetes/manifests/coredns.yaml", "/etc/kubernetes/manifests/keepalived.yaml"}
)
KUBECONFIG: Final = "/etc/kubernetes/kubeconfig"


class _Contents(Struct):
    source: str | None = None


class _File(Struct):
    path: str = ""
    contents: _Contents | None = None


class _Storage(Struct):
    files: list[_File] | None = None


class _Ignition(Struct):
    storage: _Storage | None = None


def brings_its_own_dns(cluster: Cluster, hosts: Sequence[HostState]) -> bool | None:
    """None until some host has fetched the cluster's Ignition; only imported clusters leave the question open."""
    if not cluster.imported:
        return None
    fetched = (host.reports.api_vip for host in hosts)
    ignition = next((reply.ignition for reply in fetched if reply is not None and reply.success), None)
    return None if ignition is None else _is_managed(ignition)


@lru_cache(maxsize=64)
def _is_managed(ignition: str) -> bool:
    """A configuration that cannot be read proves nothing missing, so it counts as managed."""
    try:
        storage = msgspec.json.decode(ignition, type=_Ignition).storage
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return True
    files = {file.path: file for file in (storage.files if storage is not None else None) or ()}
    if not OWN_DNS_FILES.isdisjoint(files):
        return True
    kubeconfig = files.get(KUBECONFIG)
    if kubeconfig is None or kubeconfig.contents is None:
        return True
    return _server_is_address(unquote((kubeconfig.contents.source or "").partition(",")[2]))


def _server_is_address(kubeconfig: str) -> bool:
    for line in kubeconfig.splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "server":
            name = value.strip("\"'").removeprefix("https://").rpartition(":")[0]
            return address_of(name.strip("[]")) is not None
    return True
