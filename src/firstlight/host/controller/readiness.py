"""The start: proxies of the cluster, and the sign that releases the bootstrap host.

The original's sign is an Event, which expires. A ConfigMap says the same and stays.
"""

from datetime import UTC, datetime
from typing import Final

from firstlight.host.calling import Refused
from firstlight.host.controller.applying import FIELD_MANAGER
from firstlight.host.controller.kube.client import APPLY, Kube
from firstlight.host.controller.objects import ClusterProxy, ConfigMap
from firstlight.host.controller.site import CONFIG, NODES, Site

READY_EVENT: Final = "AssistedControllerIsReady"
READY_CONFIG_MAP: Final = "assisted-installer-controller-ready"
INVOKER_CONFIG_MAP: Final = "/api/v1/namespaces/openshift-config/configmaps/openshift-install-manifests"
EXISTS: Final = 409
FORBIDDEN: Final = 403


async def cluster_proxies(kube: Kube) -> dict[str, str]:
    """The proxies of the new cluster as environment variables; a cluster without the object has none."""
    found = await kube.find(ClusterProxy, f"{CONFIG}/proxies/cluster")
    if found is None:
        return {}
    status = found.status
    named = {"HTTP_PROXY": status.http_proxy, "HTTPS_PROXY": status.https_proxy, "NO_PROXY": status.no_proxy}
    return {name: value for name, value in named.items() if value}


async def invoker_of(kube: Kube) -> str:
    """Who made the cluster's manifests; nobody's name if the cluster does not say."""
    try:
        found = await kube.find(ConfigMap, INVOKER_CONFIG_MAP)
    except Refused as refusal:
        if refusal.status != FORBIDDEN:
            raise
        found = None
    return found.data.get("invoker", "") if found is not None else ""


async def tell_readiness(site: Site) -> bool:
    """True once the service was seen, nodes can be listed and both signs stand."""
    site.cluster = await site.service.cluster()
    await put_signs(site)
    return True


async def put_signs(site: Site) -> None:
    await site.kube.ask("GET", NODES, query={"limit": "1"})
    await _put_event(site.kube, namespace=site.settings.namespace, now=_now())
    await put_lasting_sign(site)


async def put_lasting_sign(site: Site) -> None:
    """With whatever is kept beside it."""
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": READY_CONFIG_MAP, "namespace": site.settings.namespace},
        "data": {"ready": "true", "since": _now(), **site.kept},
    }
    query = {"fieldManager": FIELD_MANAGER, "force": "true"}
    try:
        await site.kube.ask("PATCH", sign_path(site), query=query, document=document, content_type=APPLY)
    except Refused as refusal:
        # The original's installer gives no right to it, and waits only for the Event.
        if refusal.status != FORBIDDEN:
            raise
        site.log.once(READY_CONFIG_MAP, f"Only the Event says that the controller is ready: {refusal}.")


def sign_path(site: Site) -> str:
    return f"/api/v1/namespaces/{site.settings.namespace}/configmaps/{READY_CONFIG_MAP}"


async def _put_event(kube: Kube, *, namespace: str, now: str) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": READY_EVENT, "namespace": namespace},
        "involvedObject": {"namespace": namespace},
        "reason": READY_EVENT,
        "message": "The controller of the assisted installation is ready; the bootstrap host may leave.",
        "type": "Normal",
        "source": {"component": "assisted-installer-controller"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    try:
        await kube.ask("POST", f"/api/v1/namespaces/{namespace}/events", document=event)
    except Refused as refusal:
        if refusal.status != EXISTS:
            raise


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
