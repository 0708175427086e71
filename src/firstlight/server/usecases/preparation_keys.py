"""Identity and certificates of one installation attempt: made once, whoever prepares and however often.

They are kept while the preparation runs. Two processes that both believe to be at it therefore write the same bytes.
"""

import asyncio
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.install.certificates import Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.identity import Identity
from firstlight.server.ports.pki import Pki
from firstlight.server.ports.rows import OperationRow
from firstlight.server.ports.writes import PutOperation, PutSecret
from firstlight.server.usecases.world import World

KEYS: Final = "preparation_keys"


class Keys(Struct, frozen=True, kw_only=True):
    attempt: int
    identity: Identity
    certificates: Certificates


async def keys_of(world: World, row: OperationRow, inputs: ClusterInputs, *, pki: Pki) -> Keys:
    """The keys of this attempt, made now if nobody did before. Raises LostRace when somebody else took over."""
    stored = await world.store.secret(row.subject, KEYS)
    known = None if stored is None else msgspec.json.decode(stored, type=Keys)
    if known is not None and known.attempt == row.attempt:
        return known
    identity = await asyncio.to_thread(pki.make_identity, inputs.name)
    certificates = await asyncio.to_thread(pki.make_certificates, inputs, now=world.clock.now())
    keys = Keys(attempt=row.attempt, identity=identity, certificates=certificates)
    now = world.clock.now()
    await world.store.commit(
        PutSecret(subject=row.subject, name=KEYS, value=msgspec.json.encode(keys).decode()),
        PutOperation(operation=replace(row, updated_at=now, heartbeat_at=now), expect_epoch=row.epoch),
    )
    return keys
