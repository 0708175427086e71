"""Refuse Python files longer than `[tool.firstlight.lengths]` in pyproject.toml allows; tables are exempt by name."""

import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path


def tracked_python_files(root: Path) -> list[str]:
    """Tracked files and new ones that are not ignored, so that a check before the commit sees them too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.py", "tools/peers"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if (root / name).is_file()]


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    rule = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["firstlight"]["lengths"]
    limit: int = rule["limit"]
    exempt: list[str] = rule["exempt"]
    too_long = 0
    for name in tracked_python_files(root):
        lines = len((root / name).read_text().splitlines())
        if lines > limit and not any(fnmatch(name, pattern) for pattern in exempt):
            too_long += 1
            print(f"{name}: {lines} lines, the limit is {limit}. Split it at a seam, or exempt it if it is a table.")
    print(f"file lengths: {too_long or 'none'} over {limit} lines")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
