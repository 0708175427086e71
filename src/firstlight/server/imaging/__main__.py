"""The image service in a process of its own: with a number, on the listener its parent has opened."""

import sys

from firstlight.server.imaging.running import run_child, run_images
from firstlight.server.settings import Settings

if len(sys.argv) > 1:
    run_child(int(sys.argv[1]))
else:
    run_images(Settings())
