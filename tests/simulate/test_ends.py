"""When a fleet that somebody else drives may be switched off."""

from uuid import UUID, uuid4

import pytest

from firstlight.simulate.documents import ClusterDocument, HostDocument
from firstlight.simulate.ends import Snapshot, is_complete


def snapshot(cluster: str, *hosts: str, wanted: int = 2) -> Snapshot:
    documents = [HostDocument(id=uuid4(), status=status) for status in hosts]
    return Snapshot(
        hosts={host.id: host for host in documents},
        cluster=ClusterDocument(id=UUID(int=1), status=cluster) if cluster else None,
        wanted=wanted,
    )


@pytest.mark.parametrize(
    ("seen", "complete"),
    [
        (snapshot("installing", "installed", "installed"), False),
        (snapshot("finalizing", "installed", "installed"), False),
        (snapshot("installed", "installed", "installed"), True),
        (snapshot("installed", "installed", "error"), True),
        (snapshot("adding-hosts", "added-to-existing-cluster", "known"), False),
        (snapshot("adding-hosts", "added-to-existing-cluster", "added-to-existing-cluster"), True),
        (snapshot("adding-hosts", "added-to-existing-cluster"), False),
        (snapshot("", "known-unbound", "known-unbound"), False),
    ],
)
def test_machines_stay_on_until_the_cluster_itself_is_done(seen: Snapshot, complete: bool) -> None:
    assert is_complete(seen) is complete
