"""Refuse Python files longer than `[tool.firstlight.lengths]` in pyproject.toml allows; tables are exempt by name."""

import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

FOLDERS: Final = ("src", "tests", "tools", "bench", "lab")


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    rule = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["firstlight"]["lengths"]
    limit: int = rule["limit"]
    exempt: list[str] = rule["exempt"]
    too_long = 0
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    for path in [*files, root / "tools" / "peers"]:
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text().splitlines())
        if lines > limit and not any(fnmatch(name, pattern) for pattern in exempt):
            too_long += 1
            print(f"{name}: {lines} lines, the limit is {limit}. Split it at a seam, or exempt it if it is a table.")
    print(f"file lengths: {too_long or 'none'} over {limit} lines")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
