"""Which host is calling: the id it brings, unless another machine has that one already."""

from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.decision import Decision, HostKey
from firstlight.core.hosts.identity import Placement, derived_id, place, same_machine
from firstlight.core.model.fingerprint import Fingerprint
from firstlight.core.model.host import Host
from firstlight.server.usecases.world import World


class Claim(Struct, frozen=True, kw_only=True):
    """What a machine says about itself."""

    host_id: UUID
    fingerprint: Fingerprint | None = None
    """None from agents that do not know such a thing; they are whoever they say."""

    def contradicts(self, host: Host) -> bool:
        """The host is another machine."""
        known, told = host.fingerprint, self.fingerprint
        return known is not None and told is not None and not same_machine(known, told)

    def noted(self, decision: Decision, key: HostKey) -> Decision:
        """The decision with the fingerprint in the record, so that the next registration can be compared."""
        host = decision.hosts.get(key)
        if self.fingerprint is None or host is None:
            return decision
        claimed = self.host_id if self.host_id != host.id else None
        told = replace(host, fingerprint=self.fingerprint, claimed_id=claimed)
        return replace(decision, hosts={**decision.hosts, key: told})


async def placement(world: World, claim: Claim, *, infra_env_id: UUID) -> Placement:
    """Under which id the machine is kept. Costs nothing without a fingerprint, one read with one as a rule."""
    if claim.fingerprint is None:
        return Placement(host_id=claim.host_id)
    first = await world.store.host((infra_env_id, claim.host_id))
    if first is None:
        twin = await world.store.host((infra_env_id, derived_id(claim.host_id, claim.fingerprint)))
        known = () if twin is None else (twin,)
    elif claim.contradicts(first.host):
        known = await world.store.hosts_of_infra_env(infra_env_id)
    else:
        known = (first,)
    return place(claim.host_id, claim.fingerprint, known=[state.host for state in known])
