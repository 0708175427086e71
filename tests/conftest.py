"""Fixtures every suite shares, and what happens to tests whose peers are missing."""

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Final, NoReturn, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests.brief_reports import BriefReports
from tests.peers import S3, Missing, Postgres, peer_path, running_postgres, running_s3
from tests.registries import Registry, guarded_registry, running_registry

T = TypeVar("T")
PEER_FIXTURES: Final = {
    "postgres": "postgres",
    "postgres_url": "postgres",
    "s3": "s3",
    "s3_bucket": "s3",
    "ignition_validate": "ignition",
    "xorriso": "xorriso",
    "nmstatectl": "nmstatectl",
    "openshift_install": "openshift-install",
    "registry": "docker-registry",
    "guarded": "docker-registry",
}

# The same examples on every run and no verdict by the clock: a busy machine must not turn a test red.
PATIENT: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", PATIENT, derandomize=True, database=None)
settings.register_profile("explore", PATIENT, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(BriefReports())


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# --- peers ------------------------------------------------------------------------------------------------------------


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


def missing(reason: str) -> NoReturn:
    """A test without its peer is skipped by name on a person's machine, and a failure in CI."""
    if in_ci():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def enter(stack: ExitStack, peer: AbstractContextManager[T]) -> T:
    try:
        return stack.enter_context(peer)
    except Missing as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server; `fresh_database()` gives the URL of an empty database."""
    with ExitStack() as stack:
        yield enter(stack, running_postgres())


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The URL of an empty database of this test's own."""
    url = postgres.fresh_database()
    yield url
    postgres.drop(url)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    """An S3 server that checks signatures and expiry; `fresh_bucket()` gives the name of an empty bucket."""
    with ExitStack() as stack:
        yield enter(stack, running_s3())


@pytest.fixture
def s3_bucket(s3: S3) -> str:
    """The name of an empty bucket of this test's own."""
    return s3.fresh_bucket()


@pytest.fixture(scope="session")
def ignition_validate() -> str:
    """The path of Ignition's own checker: `[path, file]` ends with 0 when the file is a valid config."""
    found = shutil.which("ignition-validate")
    return found or missing("ignition-validate is not installed: sudo apt-get install --no-install-recommends ignition")


@pytest.fixture(scope="session")
def xorriso() -> str:
    """A tool that makes and reads ISO images, and is not ours."""
    found = shutil.which("xorriso")
    return found or missing("xorriso is not installed: sudo apt-get install --no-install-recommends xorriso")


@pytest.fixture(scope="session")
def nmstatectl() -> Path:
    """The path of nmstate's own program, built by `tools/peers`."""
    try:
        return peer_path("nmstatectl")
    except Missing as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def openshift_install() -> Path:
    """OpenShift's own installer, built by `tools/peers`."""
    try:
        return peer_path("openshift-install")
    except Missing as reason:
        missing(str(reason))


@pytest.fixture(scope="session")
def registry() -> Iterator[Registry]:
    """A container registry that is open to all."""
    with ExitStack() as stack:
        yield enter(stack, running_registry())


@pytest.fixture(scope="session")
def guarded() -> Iterator[Registry]:
    """A container registry that wants tokens."""
    with ExitStack() as stack:
        yield enter(stack, guarded_registry())


# --- order and verdict ------------------------------------------------------------------------------------------------


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that use a peer, so that `-m 'not peer'` leaves them out; put slow tests where they cost least.

    One process alone comes to them after the rest. Of several processes none shall sit idle at the end while another
    has begun something long, so there they come first.
    """
    for item in items:
        names = {PEER_FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in PEER_FIXTURES}
        for name in sorted(names):
            item.add_marker(pytest.mark.peer(name))
    several = hasattr(config, "workerinput")
    items.sort(key=lambda item: takes_long(item) != several)


def takes_long(item: pytest.Item) -> bool:
    """Files with browsers take as long as slow tests, one after the other."""
    return item.get_closest_marker("slow") is not None or item.path.parent.name == "ui"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI nothing may be skipped: a skipped test proves nothing."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if in_ci() and reporter is not None and reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = len(terminalreporter.stats.get("skipped", ()))
    if skipped and in_ci():
        terminalreporter.write_line(f"{skipped} skipped (listed at the end): in CI that is a failure.", red=True)
