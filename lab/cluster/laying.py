"""A stand-in for the machine-config daemon and for Ignition: it writes the files and units of a config over a machine.

As a program it is `machine-config-daemon start … --once-from FILE`, for machines of the laboratory alone.
"""

import base64
import json
import os
import sys
import urllib.parse
from pathlib import Path
from typing import Final, cast

from lab.cluster.api import Json

UNITS: Final = "etc/systemd/system"
OWN: Final = "LAB_OWN"
"""Names the folder that a machine of the laboratory has for what it writes."""


def content_of(source: str) -> bytes:
    head, _, data = source.removeprefix("data:").partition(",")
    return base64.b64decode(data) if head.endswith(";base64") else urllib.parse.unquote_to_bytes(data)


def lay_over(config: Json, root: Path, *, below: str = "/") -> int:
    """Write what a config has below a folder; how many files that were."""
    written = 0
    for file in config.get("storage", {}).get("files", []):
        path = str(file["path"])
        if path.startswith(below):
            content = content_of(str(file.get("contents", {}).get("source", "")))
            written += _write(root / path.lstrip("/"), content, mode=int(file.get("mode", 0o644)))
    for unit in config.get("systemd", {}).get("units", []):
        if unit.get("contents") and f"/{UNITS}/".startswith(below):
            written += _write(root / UNITS / str(unit["name"]), str(unit["contents"]).encode(), mode=0o644)
    return written


def _write(target: Path, content: bytes, *, mode: int) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    # A link would lead to where the config never meant to write.
    target.unlink(missing_ok=True)
    target.write_bytes(content)
    target.chmod(mode)
    return 1


def main(words: list[str]) -> None:
    own = Path(os.environ.get(OWN, "/nowhere"), "opt").resolve()
    if own == Path("/opt") or not own.exists() or not own.samefile("/opt"):
        sys.exit("This stand-in writes all over a machine: it is refused where the laboratory has made no room for it.")
    config = cast("Json", json.loads(Path(words[words.index("--once-from") + 1]).read_bytes()))
    sys.stdout.write(f"{lay_over(config, Path('/'))} files and units were laid over the system.\n")


if __name__ == "__main__":
    main(sys.argv)
