"""Running openshift-install: in a private directory, bounded in time and files, its words kept for people.

Its state file holds every private key of the cluster: nobody else may enter the directory, and it goes in any case.
"""

import asyncio
import errno
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from firstlight.core.errors import Invalid, Unavailable
from firstlight.core.install.documents import mapping, sequence
from firstlight.core.validate.pull_secret import parse_pull_secret
from firstlight.server.ports.installer import InstallerOrder, ManifestFile
from firstlight.server.release.programs import Command, run

log = structlog.get_logger(__name__)

FOLDERS: Final = ("manifests", "openshift")
TIME_LIMIT: Final = 300.0
SHOWN: Final = 1_000
"""How much of a failure's output a person is shown."""
SHORTEST_SECRET: Final = 3
"""Anything shorter stands in other words too."""
CONFIG: Final = "install-config.yaml"
_PASSWORD_IN_URL: Final = re.compile(r"(?<=://)[^\s/@]*@")


class Failed(Invalid):
    """The installer refused or failed; the sentence has its own words."""


class Way(Struct, frozen=True, kw_only=True):
    """How a program is run."""

    program: Path
    folder: Path
    invoker: str
    niceness: int
    threads: Executor
    """A thread of these is busy as long as the program runs."""


class Directory:
    """One run of one installer program."""

    def __init__(self, order: InstallerOrder, way: Way, *, look: Callable[[], Awaitable[Mapping[str, str]]]) -> None:
        self._look = look
        self._order = order
        self._way = way
        self._folder = way.folder

    async def images(self) -> Mapping[str, str]:
        return await self._look()

    async def manifests(self) -> Sequence[ManifestFile]:
        await asyncio.to_thread(_write, self._folder / CONFIG, self._order.install_config.encode())
        await self._create("manifests")
        return await asyncio.to_thread(_read_manifests, self._folder)

    async def configs(self, manifests: Sequence[ManifestFile], *, wanted: Sequence[str]) -> Mapping[str, bytes]:
        await asyncio.to_thread(_write_manifests, self._folder, manifests)
        target = "single-node-ignition-config" if self._order.single_node else "ignition-configs"
        await self._create(target)
        return await asyncio.to_thread(_read_wanted, self._folder, wanted)

    async def _create(self, target: str) -> None:
        code, output = await self._run("create", target, "--dir", str(self._folder))
        if code:
            reason = _told(output, secrets=_secrets(self._order))
            log.warning("openshift-install failed", target=target, code=code)
            raise Failed(f"openshift-install create {target} ended with {code}: {reason}")

    async def _run(self, *arguments: str) -> tuple[int, bytes]:
        command = Command(
            words=(self._way.program, *arguments),
            folder=self._folder,
            environment=self._environment(),
            niceness=self._way.niceness,
        )
        try:
            return await run(command, threads=self._way.threads, seconds=TIME_LIMIT)
        except TimeoutError:
            raise Unavailable(f"openshift-install did not end within {TIME_LIMIT:g} seconds and was stopped.") from None
        except OSError as problem:
            if problem.errno == errno.ENOEXEC:
                raise Failed(
                    f"The installer of release {self._order.version} is not made for this machine's processor. "
                    "Configure a multi-architecture release image for this version."
                ) from problem
            raise Unavailable(f"openshift-install cannot be started: {problem.strerror}.") from problem

    def _environment(self) -> dict[str, str]:
        """Nothing of ours but what it needs: the service's own environment holds passwords."""
        given = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE": self._order.release_image,
            "OPENSHIFT_INSTALL_INVOKER": self._way.invoker,
        }
        if self._order.bootstrap_address:
            given["OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP"] = self._order.bootstrap_address
        data = self._way.program.resolve().parent / "data"
        if data.is_dir():
            # A build that is no release reads its templates from a folder beside it.
            given["OPENSHIFT_INSTALL_DATA"] = str(data)
        return given


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _read_manifests(folder: Path) -> list[ManifestFile]:
    return [
        ManifestFile(folder=name, name=path.name, content=path.read_bytes())
        for name in FOLDERS
        for path in sorted((folder / name).glob("*"))
        if path.is_file()
    ]


def _write_manifests(folder: Path, manifests: Sequence[ManifestFile]) -> None:
    """Exactly these: what is not among them any more goes."""
    for name in FOLDERS:
        for path in (folder / name).glob("*"):
            path.unlink()
    for one in manifests:
        _write(folder / one.folder / one.name, one.content)


def _read_wanted(folder: Path, wanted: Sequence[str]) -> dict[str, bytes]:
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise Failed(f"openshift-install ended well but did not write {', '.join(missing)}.")
    return {name: (folder / name).read_bytes() for name in wanted}


def _secrets(order: InstallerOrder) -> list[str]:
    """What the installer must not repeat: it quotes what it refuses, so the whole may have other bytes then."""
    passwords = list(_passwords(_parsed(order.install_config)))
    try:
        return [order.pull_secret, *parse_pull_secret(order.pull_secret).auths.values(), *passwords]
    except Invalid:
        return [order.pull_secret, *passwords]


def _parsed(install_config: str) -> object:
    try:
        return msgspec.json.decode(install_config)
    except msgspec.DecodeError:
        return None


def _passwords(value: object) -> Iterator[str]:
    """Of vCenters, Prism Central, management controllers: whatever is called a password."""
    for name, item in mapping(value).items():
        if isinstance(item, str) and "password" in name.lower() and len(item) >= SHORTEST_SECRET:
            yield item
        else:
            yield from _passwords(item)
    for item in sequence(value):
        yield from _passwords(item)


def _told(output: bytes, *, secrets: Sequence[str]) -> str:
    """The installer's last errors in one piece, without anything that must not be shown."""
    text = output.decode("utf-8", "replace")
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    text = _PASSWORD_IN_URL.sub("…@", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "level=error" in line or "level=fatal" in line] or lines
    return " ".join(errors)[-SHOWN:] or "it said nothing"
