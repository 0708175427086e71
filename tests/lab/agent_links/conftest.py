"""A small network of namespaces, made once for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.namespaces import Bridge, bridge, network_or_skip


@pytest.fixture(scope="module")
def network() -> Iterator[Bridge]:
    network_or_skip()
    with bridge() as made:
        yield made
