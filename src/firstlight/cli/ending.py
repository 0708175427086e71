"""How a command ends early: one sentence on standard error, and a code that programs can tell apart."""

import sys
from enum import IntEnum
from typing import NoReturn

import typer


class Code(IntEnum):
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    UNREACHABLE = 4


def stop(sentence: str, code: Code = Code.FAILED) -> NoReturn:
    sys.stderr.write(f"firstlight: {sentence}\n")
    raise typer.Exit(code)
