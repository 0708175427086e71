"""Server-side apply of whatever objects a text holds: the API server itself says where each kind lives."""

from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.host.controller.kube.client import APPLY, Kube
from firstlight.host.controller.yaml_text import Document, read_documents

FIELD_MANAGER: Final = "assisted-installer-controller"


class _Resource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool = False


class _Resources(msgspec.Struct):
    resources: tuple[_Resource, ...]


class _Metadata(msgspec.Struct):
    name: str
    namespace: str = ""


class _Identity(msgspec.Struct):
    api_version: str = msgspec.field(name="apiVersion")
    kind: str
    metadata: _Metadata


async def apply_text(kube: Kube, text: str) -> int:
    """How many objects were applied. Raises what the client raises, and `Invalid` for something else than objects."""
    documents = read_documents(text)
    for document in documents:
        await apply(kube, document)
    return len(documents)


async def apply(kube: Kube, document: Document) -> None:
    try:
        which = msgspec.convert(document, _Identity)
    except msgspec.ValidationError as reason:
        raise Invalid(f"A document is no Kubernetes object: {reason}.") from reason
    path = await _place(kube, which)
    query = {"fieldManager": FIELD_MANAGER, "force": "true"}
    await kube.ask("PATCH", path, query=query, document=document, content_type=APPLY)


async def _place(kube: Kube, which: _Identity) -> str:
    root = f"/api/{which.api_version}" if "/" not in which.api_version else f"/apis/{which.api_version}"
    found = await kube.read(_Resources, root)
    resource = next((one for one in found.resources if one.kind == which.kind and "/" not in one.name), None)
    if resource is None:
        raise Invalid(f"The cluster does not know objects of kind {which.kind} in {which.api_version} yet.")
    space = f"/namespaces/{which.metadata.namespace or 'default'}" if resource.namespaced else ""
    return f"{root}{space}/{resource.name}/{which.metadata.name}"
