"""What an installer that starts again must know: which phases are behind it. Kept until the machine reboots."""

from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.host.keeping import keep, kept

FILE: Final = "journal.json"


class Pages(Struct, frozen=True, kw_only=True):
    run: str
    """Cluster, host and role; the pages of another installation say nothing about this one."""
    boot_id: str = ""
    done: tuple[str, ...] = ()
    begun: str = ""
    """The phase that was under way."""
    facts: dict[str, str] = {}


class Memory:
    def __init__(self, folder: Path, *, run: str, boot_id: str) -> None:
        self._path = folder / FILE
        found = kept(self._path, Pages)
        fits = found is not None and found.run == run and found.boot_id == boot_id
        self._pages = found if found is not None and fits else Pages(run=run, boot_id=boot_id)

    @property
    def done(self) -> tuple[str, ...]:
        return self._pages.done

    @property
    def begun(self) -> str:
        return self._pages.begun

    def begin(self, phase: str) -> None:
        """Raises OSError if it cannot be recorded."""
        self._put(replace(self._pages, begun=phase))

    def finish(self, phase: str) -> None:
        done = self._pages.done
        self._put(replace(self._pages, begun="", done=done if phase in done else (*done, phase)))

    def forget(self) -> None:
        """The next start is a first one. Raises OSError if it cannot be recorded."""
        self._put(Pages(run=self._pages.run, boot_id=self._pages.boot_id))

    def fact(self, name: str) -> str:
        return self._pages.facts.get(name, "")

    def learn(self, name: str, value: str) -> None:
        self._put(replace(self._pages, facts={**self._pages.facts, name: value}))

    def _put(self, pages: Pages) -> None:
        keep(self._path, pages)
        self._pages = pages
