"""The same place for blobs twice: a folder, and a bucket in a real S3 server."""

from pathlib import Path

import pytest

from firstlight.server.blobs.connect import open_blobs
from firstlight.server.ports.blobs import Blobs
from tests.peers import S3


@pytest.fixture
def bucket(s3: S3, s3_bucket: str) -> Blobs:
    url = f"s3://{s3_bucket}?endpoint={s3.endpoint}&region={s3.region}"
    return open_blobs(url, access_key=s3.access_key, secret_key=s3.secret_key)


@pytest.fixture
def folder(tmp_path: Path) -> Blobs:
    return open_blobs((tmp_path / "blobs").as_uri())


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.peer("s3"))])
def blobs(request: pytest.FixtureRequest) -> Blobs:
    return request.getfixturevalue(request.param)
