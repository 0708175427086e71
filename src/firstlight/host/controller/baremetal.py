"""Bare-metal hosts of the new cluster: told that they run already, and whose Machine each is."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.host.controller.kube.client import MERGE
from firstlight.host.controller.objects import BareMetalHost, KubeObject, Machine
from firstlight.host.controller.repeating import for_each, repeat
from firstlight.host.controller.site import BARE_METAL, Site
from firstlight.host.controller.yaml_text import Document

PROVISIONING: Final = "/apis/metal3.io/v1alpha1/provisionings/provisioning-configuration"
STATUS: Final = "baremetalhost.metal3.io/status"
PAUSED: Final = "baremetalhost.metal3.io/paused"
ROLE: Final = "machine.openshift.io/cluster-api-machine-role"
ABOUT: Final = "Settling bare-metal hosts"
UNMANAGED: Final = frozenset({"", "unmanaged"})


class Plan(Struct, frozen=True, kw_only=True):
    """Merge patches for one host; an empty one changes nothing."""

    change: Document = {}
    status: Document = {}


def plan(host: BareMetalHost, *, machine: Machine | None, provisioning: bool, now: datetime) -> Plan:
    """`machine` is a worker's that no host has yet."""
    spec: Document = {}
    if host.spec.consumer_ref is None and machine is not None:
        spec["consumerRef"] = {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "Machine",
            "name": machine.metadata.name,
            "namespace": machine.metadata.namespace,
        }
    annotations: Document = {}
    status: Document = {}
    if provisioning:
        state = host.status.provisioning.state if host.status is not None else ""
        if state in UNMANAGED and not host.spec.externally_provisioned:
            spec["externallyProvisioned"] = True
        if PAUSED in host.metadata.annotations:
            annotations[PAUSED] = None
    elif STATUS in host.metadata.annotations:
        status = {**_status(host.metadata.annotations[STATUS]), "lastUpdated": now.strftime("%Y-%m-%dT%H:%M:%SZ")}
        annotations[STATUS] = None
    change: Document = {"spec": spec} if spec else {}
    if annotations:
        change["metadata"] = {"annotations": annotations}
    return Plan(change=change, status={"status": status} if status else {})


def free_machines(machines: Iterable[Machine], hosts: Iterable[BareMetalHost]) -> list[Machine]:
    """Workers' machines without a host, in order of their names."""
    taken = {host.spec.consumer_ref.name for host in hosts if host.spec.consumer_ref is not None}
    workers = (one for one in machines if one.metadata.labels.get(ROLE) == "worker")
    return sorted((one for one in workers if one.metadata.name not in taken), key=lambda one: one.metadata.name)


class BareMetal:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def run(self) -> None:
        site = self._site
        bell = site.bell()
        site.bare_metal.wakes(bell)
        site.machines.wakes(bell)
        await repeat(self._look, about=ABOUT, bell=bell, seconds=30.0, log=site.log)

    async def _look(self) -> bool:
        site = self._site
        if site.platform not in ("baremetal", ""):
            return True
        hosts: Mapping[str, BareMetalHost] = site.bare_metal.items
        provisioning = await site.kube.find(KubeObject, PROVISIONING) is not None if hosts else False
        free = free_machines(site.machines.items.values(), hosts.values())

        async def settle(host: BareMetalHost) -> None:
            machine = free.pop(0) if free and host.spec.consumer_ref is None else None
            await self._carry_out(host, plan(host, machine=machine, provisioning=provisioning, now=datetime.now(UTC)))

        await for_each(hosts.items(), settle, about=ABOUT, log=site.log)
        # Hosts and machines come when their operators do: it ends with the installation.
        return False

    async def _carry_out(self, host: BareMetalHost, wanted: Plan) -> None:
        path = f"{BARE_METAL}/{host.metadata.name}"
        if wanted.status:
            await self._site.kube.ask("PATCH", f"{path}/status", document=wanted.status, content_type=MERGE)
        if wanted.change:
            await self._site.kube.ask("PATCH", path, document=wanted.change, content_type=MERGE)
            self._site.log.info(f"The bare-metal host {host.metadata.name} is settled.")


def _status(text: str) -> Document:
    try:
        return msgspec.json.decode(text, type=Document)
    except msgspec.MsgspecError:
        return {}
