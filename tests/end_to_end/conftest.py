"""The places a service keeps its data in: beside itself, or in PostgreSQL and S3."""

from collections.abc import Iterator

import pytest

from tests.databases import fresh_postgres
from tests.peers import S3, Postgres

Place = dict[str, str]
"""Settings of the service."""


@pytest.fixture
def shared(postgres: Postgres, s3: S3) -> Iterator[Place]:
    """PostgreSQL and S3, for as many replicas as there are."""
    url = fresh_postgres(postgres)
    yield {
        "FIRSTLIGHT_DATABASE_URL": url,
        "FIRSTLIGHT_BLOBS_URL": f"s3://{s3.fresh_bucket()}?endpoint={s3.endpoint}&region={s3.region}",
        "AWS_ACCESS_KEY_ID": s3.access_key,
        "AWS_SECRET_ACCESS_KEY": s3.secret_key,
        "FIRSTLIGHT_ENCRYPTION_KEY": "1f" * 32,
    }
    postgres.drop(url)


@pytest.fixture
def embedded() -> Place:
    """SQLite and a folder."""
    return {}


@pytest.fixture(
    params=["embedded", pytest.param("shared", marks=[pytest.mark.peer("postgres"), pytest.mark.peer("s3")])]
)
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue(request.param)
