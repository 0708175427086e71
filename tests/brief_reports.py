"""Failures that can be read: an error that many tests share is told whole once, and reasons in the summary are short.

A server that does not start fails every test that wants it. Its traceback, a hundred times over, would bury the rest.
"""

from typing import Final

import pytest
from _pytest._code.code import ExceptionRepr, ReprEntryNative, ReprExceptionInfo, ReprTraceback

REASON_LENGTH: Final = 600


class BriefReports:
    """A pytest plugin for the process that writes the report."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        if report.when != "call":
            self._tell_once(report)
        if isinstance(report.longrepr, ExceptionRepr) and report.longrepr.reprcrash is not None:
            crash = report.longrepr.reprcrash
            crash.message = shortened(crash.message)

    def _tell_once(self, report: pytest.TestReport) -> None:
        """Fixtures of a session fail again with the same error, for each test that asks."""
        first = self._told.setdefault(report.longreprtext, report.nodeid)
        if first == report.nodeid:
            return
        again = f"The same error as for {first}."
        if isinstance(report.longrepr, ExceptionRepr) and report.longrepr.reprcrash is not None:
            traceback = ReprTraceback([ReprEntryNative([again])], extraline=None, style="native")
            report.longrepr = ReprExceptionInfo(traceback, report.longrepr.reprcrash)
        else:
            report.longrepr = again
        report.sections = []


def shortened(reason: str) -> str:
    return reason if len(reason) <= REASON_LENGTH else f"{reason[:REASON_LENGTH]} …"
