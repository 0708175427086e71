"""The core may only compute: import-linter watches its imports, this watches what it calls and awaits."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import firstlight.core

CORE: Final = Path(firstlight.core.__file__).parent
WAITING: Final = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Global)
IMPURE_NAMES: Final = frozenset({"uuid1", "uuid4", "getenv", "environ", "urandom"})
IMPURE_BUILTINS: Final = frozenset({"open", "print", "input", "exec", "eval"})
CLOCKS: Final = frozenset({"now", "utcnow", "today"})


def offences(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (f"line {node.lineno}: import {alias.name}" for alias in names if foreign(alias.name))
            case ast.ImportFrom(module=str(module)) if foreign(module):
                yield f"line {node.lineno}: from {module}"
            case ast.ImportFrom(names=names):
                yield from (f"line {node.lineno}: {alias.name}" for alias in names if alias.name in IMPURE_NAMES)
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_NAMES | IMPURE_BUILTINS:
                yield f"line {node.lineno}: {name}()"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=name)) if name in CLOCKS:
                yield f"line {node.lineno}: {name}() reads the clock"
            case ast.Attribute(attr=name) if name in IMPURE_NAMES:
                yield f"line {node.lineno}: .{name}"
            case _ if isinstance(node, WAITING):
                yield f"line {node.lineno}: {type(node).__name__}"
            case _:
                pass


def foreign(module: str) -> bool:
    """Whether a module is neither the core's own, nor msgspec, nor of the standard library."""
    root = module.partition(".")[0]
    if root == "firstlight":
        return module.split(".")[1:2] != ["core"]
    return root != "msgspec" and root not in sys.stdlib_module_names


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_the_core_only_computes(path: Path) -> None:
    assert list(offences(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "async def f(): ...",
        "import starlette",
        "from firstlight.server import ports",
        "from uuid import uuid4",
        "import uuid\nuuid.uuid4()",
        "from datetime import UTC, datetime\ndatetime.now(UTC)",
        "open('file')",
        "import os\nos.environ['HOME']",
        "def f():\n    global x\n    x = 1",
    ],
)
def test_the_watch_sees(source: str) -> None:
    assert list(offences(source))


@pytest.mark.parametrize(
    "source",
    [
        "from firstlight.core.errors import Error",
        "import msgspec",
        "from datetime import datetime",
        "def f(now): return now",
    ],
)
def test_the_watch_lets_pass(source: str) -> None:
    assert not list(offences(source))
