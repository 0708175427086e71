"""Print this machine's inventory: `python -m firstlight.host.collect [--output-max-size=N] [--disk-min-size=N]`."""

import asyncio
import os
import sys
from pathlib import Path

from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.lab import load_lab
from firstlight.host.collect.view import View
from firstlight.host.programs import LocalPrograms
from firstlight.host.root import Root


def main() -> None:
    root = Root(Path(os.environ.get("FIRSTLIGHT_HOST_ROOT", "/")))
    view = View(root=root, programs=LocalPrograms(), lab=load_lab(os.environ))
    sys.stdout.buffer.write(asyncio.run(inventory_document(view, sys.argv[1:])) + b"\n")


if __name__ == "__main__":
    main()
