"""Files that stay open as long as somebody holds them: a download goes on when its image is replaced on disk."""

import os
from pathlib import Path


class OpenFile:
    """A file for reading at any place. It is closed when the last answer that needs it is gone."""

    mode = "rb"

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def fileno(self) -> int:
        return self._descriptor

    def read_at(self, offset: int, length: int, /) -> bytes:
        """Fewer bytes than asked for mean the end of the file."""
        return os.pread(self._descriptor, length, offset) if offset >= 0 else b""

    def status(self) -> os.stat_result:
        return os.fstat(self._descriptor)

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", -1)
        if descriptor >= 0:
            os.close(descriptor)
