"""One site for all tests of this folder, in order: a cluster of five, one more worker for it, a single node."""

from collections.abc import Iterator

import pytest

from tests.lab.installs.site import Site, a_site
from tests.namespaces import network_or_skip


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    network_or_skip()
    with a_site() as made:
        yield made
        assert made.complaints() == []
