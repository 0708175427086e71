"""What CI says last: every failed test with its reason, in few kilobytes, whatever came before."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.ci_closing import LIMIT, NAMED, closing

ROOT = Path(__file__).parents[2]
BEFORE = "\n=== make setup\n--- make setup: 11 s\n\n=== make test\n"


def test_a_failed_test_is_named_with_its_reason() -> None:
    said = closing(
        BEFORE
        + "FAILED tests/a/test_a.py::test_one[x y] - AssertionError: after 3 kills:\n  a host   is lost\n"
        + "make: *** [test] Error 1\n"
        + "--- make test: failed after 700 s\n"
    )
    assert said.splitlines() == [
        "Steps: setup: 11 s, test: failed after 700 s.",
        "Failed tests: 1.",
        "tests/a/test_a.py::test_one[x y]",
        "    AssertionError: after 3 kills: a host is lost",
    ]


def test_tests_share_a_reason() -> None:
    names = [f"tests/ui/test_page.py::test_{number}" for number in range(NAMED + 2)]
    lines = [f"ERROR {name} - NotStarted: the browser did not start" for name in names]
    said = closing(
        BEFORE + "\n".join([*lines, "FAILED tests/b.py::test_other - ValueError: no", "== 11 failed in 3s =="])
    )
    assert said.splitlines() == [
        "Steps: setup: 11 s, test: cut off.",
        f"Failed tests: {NAMED + 3}.",
        *names[:NAMED],
        "… and 2 more",
        "    NotStarted: the browser did not start",
        "tests/b.py::test_other",
        "    ValueError: no",
    ]


@pytest.mark.parametrize("failed", [1, 100, 1_000])
def test_it_stays_short(failed: int) -> None:
    lines = [f"FAILED tests/test_a.py::test_{number} - Error {number}: {'ä' * 900}" for number in range(failed)]
    said = closing(BEFORE + "\n".join(lines))
    assert len(said.encode()) <= LIMIT
    assert f"Failed tests: {failed}." in said
    assert ("left out" in said) == (failed > 1)


def test_without_failed_tests_the_last_lines_speak() -> None:
    said = closing("=== make lint\n" + "noise\n" * 100 + "\x1b[31msrc/a.py:3:1: E501 line too long\x1b[0m\n\n")
    assert said.startswith("Steps: lint: cut off.\nNo test is named as failed; the last lines were:\nnoise\n")
    assert said.endswith("\nsrc/a.py:3:1: E501 line too long")


SHARED = """
import pytest

@pytest.fixture(scope="session")
def server():
    print("captured " * 3)
    raise RuntimeError("it did not start: " + "why " * 500)

@pytest.mark.parametrize("number", range(20))
def test_uses_it(server, number):
    pass

def test_of_its_own():
    assert [1] == [2]
"""


def test_the_script_ends_with_what_failed(tmp_path: Path) -> None:
    """The real `.ci/run` with a Makefile whose tests fail: shared errors are told whole once."""
    for name in (".ci/run", "tools/ci_closing.py", "tests/brief_reports.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "test_shared.py").write_text(SHARED)
    plugin = "from tests.brief_reports import BriefReports\ndef pytest_configure(config):\n"
    plugin += "    config.pluginmanager.register(BriefReports())\n"
    (tmp_path / "tests" / "conftest.py").write_text(plugin)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -ra --import-mode=importlib -p no:cacheprovider\npythonpath = .\n"
    )
    makefile = f"setup lint peers:\n\t@echo done\ntest test-lab:\n\t{sys.executable} -m pytest tests\n"
    (tmp_path / "Makefile").write_text(makefile)
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [tmp_path / ".ci" / "run"],
        check=False,
        capture_output=True,
        text=True,
        env={**others, "CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    said, _, last = ran.stdout.partition("=== CI failed after ")
    assert ran.returncode != 0
    assert said.count("why " * 400) == 1
    assert said.count("The same error as for tests/test_shared.py::test_uses_it[0].") == 19
    assert said.count("captured captured") == 1
    assert len(said) < 30_000
    steps, count, *rest = last.splitlines()[1:]
    assert steps.startswith("Steps: setup: 0 s, lint: 0 s, peers: 0 s, test: failed after ")
    assert count == "Failed tests: 21."
    assert "tests/test_shared.py::test_of_its_own" in rest
    assert any(line.startswith("    assert [1] == [2]") for line in rest)
    assert any(line.startswith("    RuntimeError: it did not start: why") for line in rest)
    assert "test-lab" not in steps
