"""`python -m lab.live_image`: make the stand-in's live ISO and disk image, or find them made; print where they are."""

import argparse
import sys

from lab.building import BuildFailed, Missing
from lab.disk_image import disk_image
from lab.live_iso import live_iso


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.live_image", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("iso", "disk", "all"), default="all", help="all, unless said")
    wanted = parser.parse_args().what
    try:
        if wanted != "disk":
            print(live_iso())
        if wanted != "iso":
            print(disk_image())
    except (Missing, BuildFailed) as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
