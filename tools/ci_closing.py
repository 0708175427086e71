"""The last lines of a CI run that failed, from its log: how far it came, and each failed test with its reason.

    ci_closing.py LOG

Whoever reads CI's output may see only the end of it, so everything here fits into a few kilobytes.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

LIMIT: Final = 6_000
"""Bytes, at most."""
REASON: Final = 300
NAMED: Final = 8
"""Tests named beside a reason that they share."""
LAST_LINES: Final = 40
BEGUN: Final = re.compile(r"=== make (?P<step>.+)")
ENDED: Final = re.compile(r"--- make (?P<step>.+): (?P<how>(?:failed after )?\d+ s)")
FAILED: Final = re.compile(r"(?:FAILED|ERROR) (?P<test>tests/.+?)(?: - (?P<reason>.*))?")
SUMMARY_ENDS: Final = re.compile(r"(?:FAILED|ERROR|SKIPPED|XFAIL|XPASS) |=+ |make: |\d+ skipped ")
COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def failures(lines: list[str]) -> dict[str, list[str]]:
    """The failed tests by their reason, as pytest's short summary names them; a reason may have several lines."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        failed = FAILED.fullmatch(line)
        if failed is None:
            continue
        words = [failed["reason"] or "no reason given"]
        for further in lines[number + 1 :]:
            if SUMMARY_ENDS.match(further) or sum(map(len, words)) > REASON:
                break
            words.append(further)
        tests = found.setdefault(cut(" ".join(" ".join(words).split()), length=REASON), [])
        if failed["test"] not in tests:
            tests.append(failed["test"])
    return found


def cut(text: str, *, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def steps(lines: Iterable[str]) -> str:
    """All steps with their seconds; one without an end was cut off."""
    told: dict[str, str] = {}
    for line in lines:
        if begun := BEGUN.fullmatch(line):
            told[begun["step"]] = "cut off"
        elif ended := ENDED.fullmatch(line):
            told[ended["step"]] = ended["how"]
    return ", ".join(f"{step}: {how}" for step, how in told.items())


def closing(log: str) -> str:
    lines = COLOURS.sub("", log).splitlines()
    words = [f"Steps: {steps(lines) or 'none begun'}."]
    found = failures(lines)
    if found:
        words.append(f"Failed tests: {sum(map(len, found.values()))}.")
    else:
        words += ["No test is named as failed; the last lines were:", *(cut(line, length=200) for line in tail(lines))]
    for reason, tests in found.items():
        words += [cut(test, length=REASON) for test in tests[:NAMED]]
        words += [f"… and {len(tests) - NAMED} more"] if len(tests) > NAMED else []
        words.append(f"    {reason}")
    return whole_lines(words)


def tail(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip()][-LAST_LINES:]


def whole_lines(words: list[str]) -> str:
    """As many lines as fit; what is left out is counted."""
    kept, size = list[str](), 0
    for number, line in enumerate(words):
        size += len(line.encode()) + 1
        if size > LIMIT - 100:
            kept.append(f"… {len(words) - number} more lines are left out here; the log above has them.")
            break
        kept.append(line)
    return "\n".join(kept)


if __name__ == "__main__":
    print(closing(Path(sys.argv[1]).read_text(errors="replace")))
