"""What the tables of the rule tests share."""

from typing import Any

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules import host_rules
from firstlight.core.rules import Finding, Status

SUCCESS, FAILURE, PENDING = Status.SUCCESS, Status.FAILURE, Status.PENDING
ERROR, SUPPRESSED = Status.ERROR, Status.SUPPRESSED


def finding(rule_id: str, facts: HostFacts) -> Finding:
    """The finding of one rule, out of a judgement of all of them."""
    return next(found for found in host_rules.judge(facts) if found.id == rule_id)


def case(name: str, facts: HostFacts, status: Status, cause: str = "") -> Any:
    """One line of a table."""
    return pytest.param(facts, status, cause, id=name)


def check(rule_id: str, facts: HostFacts, status: Status, cause: str) -> Finding:
    """The rule says what the line of the table says, in whole sentences."""
    found = finding(rule_id, facts)
    assert (found.status, found.cause) == (status, cause), found.message
    if status is Status.SUPPRESSED:
        assert found.message == ""
    else:
        assert found.message.endswith(".")
        assert found.message[0].isupper()
    return found
