"""Machines as file trees: recorded ones from archives, and ones made up file by file for what no guest here has."""

import tarfile
from collections.abc import Mapping
from pathlib import Path

from firstlight.host.collect.health import Health
from firstlight.host.collect.lab import Lab
from firstlight.host.collect.remembered import Remembered
from firstlight.host.collect.view import Network, View
from firstlight.host.links import netlink_messages as messages
from firstlight.host.programs import NOT_STARTED, Outcome
from firstlight.host.root import Root

TREES = Path(__file__).parents[1] / "trees"


class NoPrograms:
    """A machine on which nothing is installed."""

    async def run(self, *command: str, limit: float, **_: object) -> Outcome:
        return Outcome(exit_code=NOT_STARTED, errors=f"{command[0]} is not installed".encode())


class Scripted:
    """Programs that answer by their whole command line; the others are not installed."""

    def __init__(self, answers: Mapping[str, str | int]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def run(self, *command: str, limit: float, **_: object) -> Outcome:
        line = " ".join(command)
        self.asked.append(line)
        answer = self._answers.get(line, NOT_STARTED)
        if isinstance(answer, int):
            return Outcome(exit_code=answer)
        return Outcome(exit_code=0, output=answer.encode())


def unpack(name: str, folder: Path) -> Path:
    with tarfile.open(TREES / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def recorded_network(folder: Path) -> Network:
    """The kernel's tables as the recorder kept them."""

    def payloads(name: str, kind: int) -> list[bytes]:
        data = (folder / "netlink" / name).read_bytes()
        return [payload for got, _, payload in messages.messages(data) if got == kind]

    return Network(
        links=tuple(row for data in payloads("links", messages.NEW_LINK) if (row := messages.link_of(data))),
        addresses=tuple(
            row for data in payloads("addresses", messages.NEW_ADDRESS) if (row := messages.address_of(data))
        ),
        routes=tuple(row for data in payloads("routes", messages.NEW_ROUTE) if (row := messages.route_of(data))),
    )


def recorded_view(folder: Path) -> View:
    network = recorded_network(folder)
    return View(
        root=Root(folder),
        programs=NoPrograms(),
        own=Root(folder / "nothing"),
        network=lambda: network,
        health=Health(),
        bmc=Remembered(seconds=0),
    )


def plant(folder: Path, files: Mapping[str, str | bytes]) -> Root:
    """A tree with these files; a text that begins with `-> ` is a link."""
    for name, content in files.items():
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Root(folder)


def planted_view(folder: Path, files: Mapping[str, str | bytes], *, lab: Lab | None = None) -> View:
    return View(
        root=plant(folder, files),
        programs=NoPrograms(),
        own=Root(folder / "nothing"),
        network=Network,
        lab=lab,
        health=Health(),
        bmc=Remembered(seconds=0),
    )


def a_disk(
    name: str, *, number: str = "8:0", place: str = "", size: int = 2**28, **files: str
) -> dict[str, str | bytes]:
    """A disk of 128 GiB; `files` are those of its folder, with `__` for a slash."""
    where = place or f"devices/pci0000:00/0000:00:01.0/{name}"
    made: dict[str, str | bytes] = {
        f"sys/block/{name}": f"-> ../{where}",
        f"sys/class/block/{name}": f"-> ../../{where}",
        f"sys/{where}/dev": f"{number}\n",
        f"sys/{where}/size": f"{size}\n",
    }
    return made | {f"sys/{where}/{file.replace('__', '/')}": content for file, content in files.items()}


def udev(number: str, **properties: str) -> dict[str, str | bytes]:
    lines = "".join(f"E:{name}={value}\n" for name, value in properties.items())
    return {f"run/udev/data/b{number}": f"S:disk/by-id/x\nI:1\n{lines}G:systemd\n"}
