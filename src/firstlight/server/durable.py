"""What outlives a power cut."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Without it a power cut may take back a rename or a link made in the folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
