"""Certificate requests, approved as soon as it is proven who asks."""

from typing import Final

import msgspec

from firstlight.host.controller.csr_rules import Known, judge
from firstlight.host.controller.documents import Address
from firstlight.host.controller.kube.client import decoded
from firstlight.host.controller.objects import Csr
from firstlight.host.controller.repeating import repeat
from firstlight.host.controller.site import CERTIFICATES, Site
from firstlight.host.controller.stages import all_ended
from firstlight.host.controller.yaml_text import Document

REASON: Final = "NodeCSRApprove"
MESSAGE: Final = "Approved by the controller of the assisted installation: the node is one of its hosts."


async def approve_requests(site: Site) -> None:
    bell = site.bell()
    site.requests.wakes(bell)
    site.nodes.wakes(bell)

    async def look() -> bool:
        await _approve_all(site)
        return all_ended(site.hosts)

    await repeat(look, about="Approving certificate requests", bell=bell, seconds=30.0, log=site.log)


async def _approve_all(site: Site) -> None:
    if not site.nodes.synced:
        return
    for csr in site.requests.items.values():
        verdict = judge(csr, known(site))
        if verdict is None:
            continue
        if not verdict.approved:
            facts = {"signer": csr.spec.signer_name, "requester": csr.spec.username}
            site.log.once(csr.key, f"The certificate request {csr.key} is not approved. {verdict.reason}", **facts)
            continue
        await _approve(site, csr)


async def _approve(site: Site, csr: Csr) -> None:
    """What is approved is what was judged: it is read again, and the answer counts only for this version of it."""
    path = f"{CERTIFICATES}/{csr.metadata.name}"
    body = await site.kube.ask("GET", path)
    verdict = judge(decoded(Csr, body), known(site))
    if verdict is None or not verdict.approved:
        return
    document = decoded(dict[str, object], body)
    status = msgspec.convert(document.get("status") or {}, Document)
    conditions = msgspec.convert(status.get("conditions") or [], list[object])
    condition = {"type": "Approved", "status": "True", "reason": REASON, "message": MESSAGE}
    document["status"] = {**status, "conditions": [*conditions, condition]}
    await site.kube.ask("PUT", f"{path}/approval", document=document)
    site.log.info(f"The certificate request {csr.metadata.name} is approved. {verdict.reason}")


def known(site: Site) -> Known:
    vips: frozenset[Address] = site.cluster.vips if site.cluster is not None else frozenset()
    return Known(hosts=site.hosts, nodes=site.nodes.items, vips=vips)
