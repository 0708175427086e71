"""`firstlight doctor`: whether the service can run here, checked before it has to."""

import shutil
import socket
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from firstlight.cli.ending import Code
from firstlight.cli.output import Format, OutputOption, put, show_document
from firstlight.cli.serving import ConfigOption, DataDirOption, load_settings

if TYPE_CHECKING:
    from firstlight.server.settings import Settings

GIB: Final = 1 << 30
LEAST_SPACE: Final = 2 * GIB
OLDEST_PYTHON: Final = (3, 11)


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    good: bool
    message: str


def doctor(data_dir: DataDirOption = None, config: ConfigOption = None, output: OutputOption = Format.TABLE) -> None:
    """Check settings, ports, database and disk space. Nothing is changed."""
    settings = load_settings(config=config, data_dir=data_dir)
    checks = [*run_checks(settings)]
    if output is Format.TABLE:
        for check in checks:
            put(f"{'✓' if check.good else '✗'} {check.name}: {check.message}")
    else:
        show_document([asdict(check) for check in checks], output=output)
    if not all(check.good for check in checks):
        raise typer.Exit(Code.FAILED)


def run_checks(settings: "Settings") -> Iterator[Check]:
    from firstlight.server.main import check

    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", sys.version_info >= OLDEST_PYTHON, f"Python {version}; 3.11 or newer is needed.")
    trouble = check(settings)
    yield Check("settings", not trouble, trouble or "They can be used.")
    yield _port("api", settings.listen, "FIRSTLIGHT_LISTEN")
    yield _port("images", settings.images_listen, "FIRSTLIGHT_IMAGES_LISTEN")
    yield _space(settings.data_dir)
    yield _database(settings)


def _port(name: str, listen: str, setting: str) -> Check:
    host, _, port = listen.rpartition(":")
    address = (host.strip("[]"), int(port))
    try:
        with socket.create_server(address, family=socket.AF_INET6 if ":" in address[0] else socket.AF_INET):
            return Check(name, True, f"{listen} is free.")
    except OSError as error:
        if name == "api" and _answers(f"http://{listen}/ready"):
            return Check(name, True, f"A service runs at {listen} already.")
        return Check(name, False, f"{listen} cannot be listened on: {error.strerror}. Choose another with {setting}.")


def _answers(url: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def _space(folder: Path) -> Check:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(existing).free
    shown = f"{free / GIB:.1f} GiB free for {folder}"
    if not _is_writable(existing):
        return Check("data", False, f"{existing} cannot be written to. Choose another place with FIRSTLIGHT_DATA_DIR.")
    if free < LEAST_SPACE:
        return Check("data", False, f"Only {shown}; make room or choose another place with FIRSTLIGHT_DATA_DIR.")
    return Check("data", True, f"{shown}.")


def _is_writable(folder: Path) -> bool:
    import os

    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _database(settings: "Settings") -> Check:
    import asyncio
    import sqlite3

    from firstlight.core.errors import Error
    from firstlight.server.store.places import SqlitePlace, place
    from firstlight.server.store.postgres_pool import connect
    from firstlight.server.store.schema import check_known, version_of_file

    async def reach(url: str) -> None:
        await (await connect(url)).close()

    try:
        target = place(settings.database_location)
        if not isinstance(target, SqlitePlace):
            asyncio.run(reach(target.url))
            return Check("database", True, f"PostgreSQL at {target.shown} answers.")
        if not target.path.exists():
            return Check("database", True, f"{target.path} will be made at the first start.")
        current = check_known(version_of_file(target.path), str(target.path))
        state = "is up to date" if current else "will be brought up to date at the next start"
        return Check("database", True, f"{target.path} {state}.")
    except (Error, OSError, sqlite3.Error) as error:
        return Check("database", False, f"{error}")
