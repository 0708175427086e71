"""The real ignition-validate judges what we accept, refuse and produce."""

import json

import pytest

from tests.core.install.documents import ACCEPTED, REFUSED
from tests.core.install.validator import verdict

pytestmark = pytest.mark.peer("ignition")


@pytest.mark.parametrize("document", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_the_peer_accepts_what_we_accept(document: object) -> None:
    assert verdict(json.dumps(document).encode()) == ""


# Ignition 2.14 does not look at this yet; the releases that hosts run do.
NEWER = {"file-is-also-a-unit"}


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - NEWER))
def test_the_peer_refuses_what_we_refuse(name: str) -> None:
    assert verdict(json.dumps(REFUSED[name][0]).encode()) != ""
