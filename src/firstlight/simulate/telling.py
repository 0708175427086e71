"""Progress reports: sent once, and never a reason to stop when one is not taken."""

from uuid import UUID

from firstlight.core import wire
from firstlight.core.wire.words import HostStage
from firstlight.simulate.calls import Refused, Service, Unreachable


async def tell_progress(
    service: Service, infra_env_id: UUID, host_id: UUID, stage: HostStage, *, info: str = ""
) -> str:
    """Empty when the report was taken, else why not."""
    progress = wire.HostProgress(current_stage=stage, progress_info=info or None)
    try:
        await service.progress(infra_env_id, host_id, progress)
    except (Refused, Unreachable) as error:
        return f"{stage} was not taken: {error}"
    return ""
