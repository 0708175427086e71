"""One laboratory for all tests of this folder: they run in order, and each leaves it as it found it."""

from collections.abc import Iterator

import pytest

from tests.lab.agents.laboratory import PLANS, Laboratory, a_laboratory
from tests.namespaces import network_or_skip


@pytest.fixture(scope="package")
def laboratory() -> Iterator[Laboratory]:
    """Five machines whose agents run."""
    network_or_skip()
    with a_laboratory() as made:
        made.create_cluster()
        for plan in PLANS:
            made.start_agent(made.add(plan))
        yield made
        assert made.complaints() == []
