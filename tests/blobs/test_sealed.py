"""What only sealed blobs have: which of them are, what lies in the folder, and a new key."""

from datetime import timedelta
from pathlib import Path

import pytest

from firstlight.core.errors import Unavailable
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.blobs.sealed import SealedBlobs
from firstlight.server.ports.blobs import Blobs
from firstlight.server.sealing.seal import MAGIC, Seal
from firstlight.server.usecases.object_names import holds_secrets

pytestmark = pytest.mark.anyio

OLD, NEW = b"o" * 32, b"n" * 32
CLUSTER = "6b1c0d0e-0000-4000-8000-000000000001"


def sealed(folder: Path, *keys: bytes) -> SealedBlobs:
    return SealedBlobs(FolderBlobs(folder), Seal(keys), is_secret=holds_secrets)


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        (f"{CLUSTER}/kubeconfig", True),
        (f"{CLUSTER}/kubeconfig-noingress", True),
        (f"{CLUSTER}/kubeadmin-password", True),
        (f"{CLUSTER}/install-config.yaml", True),
        (f"{CLUSTER}/master-{CLUSTER}.ign", True),
        (f"{CLUSTER}/manifests/openshift/secret.yaml", True),
        (f"{CLUSTER}/manifests/manifests/logs", True),
        (f"{CLUSTER}/logs/{CLUSTER}/logs.tar.gz", False),
        (f"live-logs/{CLUSTER}/{CLUSTER}/1", False),
        (f"log-uploads/{CLUSTER}/{CLUSTER}/1", False),
    ],
)
async def test_everything_of_a_cluster_but_logs_is_sealed(tmp_path: Path, key: str, secret: bool) -> None:
    await sealed(tmp_path, OLD).put(key, b"content to be kept")
    assert ((tmp_path / key).read_bytes() == b"content to be kept") is not secret
    assert await sealed(tmp_path, OLD).get(key) == b"content to be kept"


async def test_logs_may_look_sealed(tmp_path: Path) -> None:
    blobs, key = sealed(tmp_path, OLD), f"{CLUSTER}/logs/controller/logs.tar.gz"
    await blobs.put(key, MAGIC + b"not ours" * 8)
    assert await blobs.get(key) == MAGIC + b"not ours" * 8
    assert (await blobs.head(key)).size == len(MAGIC) + 64


async def test_files_from_before_are_read_and_told_their_size(tmp_path: Path) -> None:
    content = b"x" * 100
    await FolderBlobs(tmp_path).put(f"{CLUSTER}/worker.ign", content)
    blobs = sealed(tmp_path, OLD)
    assert await blobs.get(f"{CLUSTER}/worker.ign") == content
    assert (await blobs.head(f"{CLUSTER}/worker.ign")).size == 100


async def test_resealing_leaves_nothing_under_the_old_key_or_none(tmp_path: Path) -> None:
    names = {f"{CLUSTER}/worker.ign": b"plain", f"{CLUSTER}/kubeconfig": b"old", f"{CLUSTER}/logs/x/l": b"log"}
    await FolderBlobs(tmp_path).put(f"{CLUSTER}/worker.ign", b"plain")
    await sealed(tmp_path, OLD).put(f"{CLUSTER}/kubeconfig", b"old")
    await sealed(tmp_path, OLD).put(f"{CLUSTER}/logs/x/l", b"log")
    assert await sealed(tmp_path, NEW, OLD).reseal() == 2
    assert await sealed(tmp_path, NEW, OLD).reseal() == 0
    for key, content in names.items():
        assert await sealed(tmp_path, NEW).get(key) == content
    with pytest.raises(Unavailable, match="was not given"):
        await sealed(tmp_path, OLD).get(f"{CLUSTER}/worker.ign")


@pytest.mark.peer("s3")
async def test_no_link_leads_past_the_seal(bucket: Blobs) -> None:
    blobs = SealedBlobs(bucket, Seal([OLD]), is_secret=holds_secrets)
    assert blobs.presign(f"{CLUSTER}/kubeconfig", expires=timedelta(minutes=1)) is None
    assert blobs.presign(f"{CLUSTER}/logs/x/logs.tar.gz", expires=timedelta(minutes=1)) is not None
