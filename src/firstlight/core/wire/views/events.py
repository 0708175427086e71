"""Events as the original lists them."""

from typing import Final

import msgspec

from firstlight.core.events.recorded import Recorded
from firstlight.core.wire.dates import zulu
from firstlight.core.wire.events import Event

_encode: Final = msgspec.json.Encoder().encode


def view_event(recorded: Recorded) -> Event:
    """Category, request and actor are kept but not shown here."""
    return Event(
        name=recorded.name,
        cluster_id=recorded.cluster_id,
        host_id=recorded.host_id,
        infra_env_id=recorded.infra_env_id,
        severity=recorded.severity.value,
        message=recorded.message,
        event_time=zulu(recorded.event_time),
        props=_encode(recorded.props).decode() if recorded.props else "",
    )
