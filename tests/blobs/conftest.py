"""The same place for blobs three times: a folder, a bucket in a real S3 server, and a folder that is sealed."""

from pathlib import Path

import pytest

from firstlight.server.blobs.connect import open_blobs
from firstlight.server.blobs.sealed import SealedBlobs
from firstlight.server.ports.blobs import Blobs
from firstlight.server.sealing.seal import Seal
from tests.peers import S3


@pytest.fixture
def bucket(s3: S3, s3_bucket: str) -> Blobs:
    url = f"s3://{s3_bucket}?endpoint={s3.endpoint}&region={s3.region}"
    return open_blobs(url, access_key=s3.access_key, secret_key=s3.secret_key)


@pytest.fixture
def folder(tmp_path: Path) -> Blobs:
    return open_blobs((tmp_path / "blobs").as_uri())


@pytest.fixture
def sealed(folder: Blobs) -> Blobs:
    return SealedBlobs(folder, Seal([bytes(range(32))]), is_secret=lambda _: True)


@pytest.fixture(params=["folder", "sealed", pytest.param("bucket", marks=pytest.mark.peer("s3"))])
def blobs(request: pytest.FixtureRequest) -> Blobs:
    return request.getfixturevalue(request.param)
