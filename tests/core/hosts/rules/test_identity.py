"""Both machines of a pair with one identity are told, and nobody is stopped by it."""

from uuid import UUID

from msgspec.structs import replace

from firstlight.core.hosts.rules.identity import identity_unique
from firstlight.core.model.fingerprint import make_fingerprint
from firstlight.core.rules import Status
from tests.builders.facts import host_facts
from tests.builders.hosts import a_host

CLAIMED = UUID("11111111-2222-3333-4444-555555555555")
PRINT = make_fingerprint(board="0123456789abcdef", macs=["52:54:00:00:00:01"])


def test_a_machine_alone_with_its_identity_passes() -> None:
    assert identity_unique(host_facts(host=a_host(fingerprint=PRINT))).status is Status.SUCCESS


def test_machines_without_a_fingerprint_are_not_concerned() -> None:
    assert identity_unique(host_facts(host=a_host())).status is Status.SUPPRESSED


def test_the_second_is_told_whose_identity_it_has() -> None:
    verdict = identity_unique(host_facts(host=a_host(fingerprint=PRINT, claimed_id=CLAIMED)))
    assert (verdict.status, verdict.cause) == (Status.FAILURE, "identity-taken")
    assert str(CLAIMED) in verdict.message
    assert verdict.evidence == {"claimed_id": str(CLAIMED), "macs": ["52:54:00:00:00:01"]}
    assert verdict.measured_at == a_host().registered_at, "machines tell it when they register"


def test_the_first_is_told_too() -> None:
    facts = host_facts(host=a_host(id=CLAIMED, fingerprint=PRINT))
    shared = replace(facts, context=replace(facts.context, shared_ids=frozenset({CLAIMED})))
    assert identity_unique(shared).cause == "identity-shared"
