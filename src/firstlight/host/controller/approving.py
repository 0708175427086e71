"""Certificate requests, approved as soon as it is proven who asks."""

from collections import Counter
from typing import Final

import msgspec

from firstlight.host.calling import Refused, Unreachable, decoded
from firstlight.host.controller.csr_rules import Known, identity, is_approved, judge
from firstlight.host.controller.objects import Csr
from firstlight.host.controller.repeating import repeat
from firstlight.host.controller.site import CERTIFICATES, Site
from firstlight.host.controller.stages import all_ended
from firstlight.host.controller.yaml_text import Document
from firstlight.host.recognising import Address

REASON: Final = "NodeCSRApprove"
MESSAGE: Final = "Approved by the controller of the assisted installation: the node is one of its hosts."
MOST_REFUSALS_TOLD: Final = 200
"""Whoever may ask may ask often; the log must not become theirs."""


class Approving:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._identities: dict[str, tuple[str, str]] = {}
        """Of approved requests by their uid: what a request asks for never changes."""
        self._refused: set[str] = set()

    async def run(self) -> None:
        site = self._site
        bell = site.bell()
        site.requests.wakes(bell)
        site.nodes.wakes(bell)
        await repeat(self._look, about="Approving certificate requests", bell=bell, seconds=30.0, log=site.log)

    async def _look(self) -> bool:
        site = self._site
        if site.nodes.synced:
            known = self.known()
            for csr in site.requests.items.values():
                try:
                    if await self._settle(csr, known):
                        known = self.known()
                except (Refused, Unreachable) as trouble:
                    # One that cannot be settled must not keep the others waiting.
                    site.log.once(csr.key, f"The certificate request {csr.key} cannot be approved yet: {trouble}.")
        return all_ended(site.hosts)

    async def _settle(self, csr: Csr, known: Known) -> bool:
        """Whether it was approved."""
        verdict = judge(csr, known)
        if verdict is not None and verdict.approved:
            await self._approve(csr)
            return True
        if verdict is not None:
            self._tell_refusal(csr, verdict.reason)
        return False

    async def _approve(self, csr: Csr) -> None:
        """What is approved is what was judged: it is read again, and the answer counts only for this version of it."""
        site = self._site
        path = f"{CERTIFICATES}/{csr.metadata.name}"
        body = await site.kube.ask("GET", path)
        verdict = judge(decoded(Csr, body), self.known())
        if verdict is None or not verdict.approved:
            return
        document = decoded(dict[str, object], body)
        status = msgspec.convert(document.get("status") or {}, Document)
        conditions = msgspec.convert(status.get("conditions") or [], list[object])
        condition = {"type": "Approved", "status": "True", "reason": REASON, "message": MESSAGE}
        document["status"] = {**status, "conditions": [*conditions, condition]}
        await site.kube.ask("PUT", f"{path}/approval", document=document)
        self._identities[csr.metadata.uid] = identity(csr)
        site.log.info(f"The certificate request {csr.metadata.name} is approved. {verdict.reason}")

    def _tell_refusal(self, csr: Csr, reason: str) -> None:
        log = self._site.log
        if csr.key not in self._refused:
            self._refused.add(csr.key)
            if len(self._refused) == MOST_REFUSALS_TOLD + 1:
                log.warning(f"{MOST_REFUSALS_TOLD} certificate requests are not approved; further ones are not told.")
        if len(self._refused) <= MOST_REFUSALS_TOLD:
            facts = {"signer": csr.spec.signer_name, "requester": csr.spec.username}
            log.once(csr.key, f"The certificate request {csr.key} is not approved. {reason}", **facts)

    def known(self) -> Known:
        site, cluster = self._site, self._site.cluster
        vips: frozenset[Address] = cluster.vips if cluster is not None else frozenset()
        return Known(
            hosts=site.hosts,
            nodes=site.nodes.items,
            vips=vips,
            domain=cluster.domain if cluster is not None else "",
            approved=self._approved(),
        )

    def _approved(self) -> Counter[tuple[str, str]]:
        there = {csr.metadata.uid: csr for csr in self._site.requests.items.values()}
        for uid, csr in there.items():
            if is_approved(csr) and uid not in self._identities:
                self._identities[uid] = identity(csr)
        # What we approved a moment ago counts, also while the watch has not shown it yet.
        return Counter(self._identities[uid] for uid in self._identities if uid in there)
