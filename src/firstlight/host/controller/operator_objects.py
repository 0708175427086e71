"""Objects of OLM operators out of a ConfigMap in the cluster, for installations whose service is not there to ask."""

import base64
import binascii
from enum import Enum
from typing import Final

import msgspec
from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.host.calling import Refused
from firstlight.host.controller.applying import apply_text
from firstlight.host.controller.documents import OperatorDocument
from firstlight.host.controller.objects import ConfigMap
from firstlight.host.controller.operators import csv_of
from firstlight.host.controller.readiness import put_lasting_sign
from firstlight.host.controller.repeating import repeat
from firstlight.host.controller.site import Site
from firstlight.host.controller.yaml_text import read_documents

CONFIG_MAP: Final = "olm-operator-manifests"
METADATA: Final = ".metadata.yaml"
APPLIED: Final = "applied"
SECONDS: Final = 30.0
NO_RIGHT: Final = frozenset({401, 403})


class Progress(Enum):
    NOTHING_THERE = "nothing there"
    UNDER_WAY = "under way"
    OVER = "over"


class OperatorObjects(Struct, frozen=True, kw_only=True):
    """One operator's entry."""

    operator: OperatorDocument
    texts: dict[str, str]
    """File → objects; what is listed but not there is left out."""
    missing: tuple[str, ...] = ()


class _About(Struct, frozen=True, kw_only=True, rename="camel"):
    namespace: str
    subscription_name: str
    manifests: tuple[str, ...] = ()


def read_entries(data: dict[str, str]) -> tuple[OperatorObjects, ...]:
    """All operators of the ConfigMap. Raises `Invalid`."""
    found: list[OperatorObjects] = []
    for key in sorted(data):
        if not key.endswith(METADATA):
            continue
        name = key.removesuffix(METADATA)
        try:
            documents = read_documents(data[key])
            about = msgspec.convert(documents[0] if documents else {}, _About)
        except msgspec.ValidationError as reason:
            raise Invalid(f"The entry {key} does not describe an operator: {reason}.") from reason
        operator = OperatorDocument(
            name=name, operator_type="olm", namespace=about.namespace, subscription_name=about.subscription_name
        )
        texts = {file: _plain(data[file]) for file in about.manifests if file in data}
        missing = tuple(file for file in about.manifests if file not in data)
        found.append(OperatorObjects(operator=operator, texts=texts, missing=missing))
    return tuple(found)


def _plain(text: str) -> str:
    """Objects are in base64; as they are, they are none by mistake."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text


class ObjectsFromCluster:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._applied = set(filter(None, site.kept.get(APPLIED, "").split("\n")))
        """Operator and file of everything that this or an earlier life applied."""
        self.progress = Progress.NOTHING_THERE

    async def run(self) -> None:
        site = self._site
        bell = site.bell()
        for watched in (site.subscriptions, site.csvs):
            watched.wakes(bell)
        seconds = min(SECONDS, site.settings.look_seconds)
        await repeat(self._look, about="Applying the objects of operators", bell=bell, seconds=seconds, log=site.log)

    async def _look(self) -> bool:
        site = self._site
        path = f"/api/v1/namespaces/{site.settings.namespace}/configmaps/{CONFIG_MAP}"
        try:
            found = await site.kube.find(ConfigMap, path)
        except Refused as refusal:
            if refusal.status not in NO_RIGHT:
                raise
            site.log.warning(f"The objects of operators have to be applied by hand: {refusal}.")
            self.progress = Progress.OVER
            return True
        if found is None:
            return False
        self.progress = Progress.UNDER_WAY
        try:
            over = await self._apply(read_entries(found.data))
        except Invalid as reason:
            site.log.warning(f"The objects of operators in the ConfigMap {CONFIG_MAP} cannot be used: {reason}")
            over = True
        self.progress = Progress.OVER if over else Progress.UNDER_WAY
        return over

    async def _apply(self, entries: tuple[OperatorObjects, ...]) -> bool:
        """Whether everything is applied; what an operator does not understand yet waits for it."""
        site = self._site
        complete = True
        for entry in entries:
            name = entry.operator.name
            if csv_of(entry.operator, subscriptions=site.subscriptions.items, csvs=site.csvs.items) is None:
                site.log.once(name, f"The objects of {name} wait for its subscription.")
                complete = False
                continue
            for file in entry.missing:
                site.log.once(f"{name}/{file}", f"The file {file} of {name} is listed but not there yet.")
            due = {file: text for file, text in entry.texts.items() if f"{name}/{file}" not in self._applied}
            for file, text in due.items():
                read_documents(text)
                await self._apply_one(name, file, text)
            complete &= not entry.missing and all(f"{name}/{file}" in self._applied for file in entry.texts)
        return complete

    async def _apply_one(self, name: str, file: str, text: str) -> None:
        site = self._site
        try:
            async with await site.as_admin() as admin:
                await apply_text(admin, text)
        except (Invalid, Refused) as reason:
            # A kind that the operator has not brought yet, or one that it does not take yet. Others do not wait for it.
            site.log.once(f"{name}/{file}", f"The file {file} of {name} is not applied yet: {reason}")
            return
        self._applied.add(f"{name}/{file}")
        site.log.info(f"The file {file} of {name} is applied.")
        site.kept[APPLIED] = "\n".join(sorted(self._applied))
        await put_lasting_sign(site)
