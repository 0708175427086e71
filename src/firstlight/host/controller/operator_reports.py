"""The controller's word on one operator."""

from firstlight.core import wire
from firstlight.host.controller.operators import Standing
from firstlight.host.controller.site import Site


async def tell_operator(site: Site, name: str, now: Standing) -> None:
    report = wire.OperatorMonitorReport(
        name=name, status=now.status, status_info=now.info or None, version=now.version or None
    )
    await site.service.tell_operator(report)
    site.log.info(f"The operator {name} is {now.status}.", info=now.info[:200])
