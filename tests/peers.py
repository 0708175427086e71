"""Real servers for tests and bench: Debian's PostgreSQL and an S3 gateway built by `tools/peers`.

Each starts in a folder of its own under the system's temporary folder, on a free loopback port, and is gone with its
folder when the `with` block ends. Nothing here knows pytest: tests/conftest.py turns `Missing` into a skip.
"""

import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
START_SECONDS: Final = 180
"""How long a server may take to answer on a busy machine before we call it broken."""
PORT_ATTEMPTS: Final = 5
"""Another process may take the port between our looking and the server's binding."""


class Missing(Exception):
    """A peer is not installed; the text says how to get it."""


class NotStarted(Exception):
    """A peer ended, or kept silent, instead of starting; the text has its last words."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def private_folder(name: str, *, owner: pwd.struct_passwd | None = None) -> Iterator[Path]:
    """Not pytest's own temporary folder: that one is closed to other users, and too deep for a socket's path."""
    path = Path(tempfile.mkdtemp(prefix=f"firstlight-{name}-"))
    try:
        if owner is not None:
            os.chown(path, owner.pw_uid, owner.pw_gid)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def start(
    command: Callable[[int], Sequence[str | Path]],
    *,
    answers: Callable[[int], bool],
    log: Path,
    environment: Mapping[str, str] | None = None,
    user: pwd.struct_passwd | None = None,
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a server on a free port and wait until it answers there."""
    for _ in range(PORT_ATTEMPTS):
        port = free_port()
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(word) for word in command(port)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={**os.environ, **(environment or {})},
                **as_user(user),
            )
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if answers(port):
                return process, port
            time.sleep(0.02)
        stop(process)
    raise NotStarted(f"{command(0)[0]} did not start:\n{log.read_text(errors='replace')[-2000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask to end; insist after ten seconds."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def as_user(user: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A running server; every user of it takes a database of its own."""

    port: int
    password: str
    pid: int
    """The postmaster: its CPU and that of its children is the database's."""
    binaries: Path
    sockets: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def url(self, database: str) -> str:
        return f"postgresql://firstlight:{self.password}@127.0.0.1:{self.port}/{database}"

    def fresh_database(self) -> str:
        """Create an empty database and return its URL."""
        name = f"test_{next(self.numbers)}"
        self.run("createdb", name)
        return self.url(name)

    def drop(self, url: str) -> None:
        """Remove the database even while somebody is still connected to it."""
        self.run("dropdb", "--force", url.rpartition("/")[2])

    def run(self, tool: str, *arguments: str) -> None:
        where = ["-h", str(self.sockets), "-p", str(self.port), "-U", "firstlight"]
        subprocess.run([self.binaries / tool, *where, *arguments], check=True, stdin=subprocess.DEVNULL)


def postgres_binaries() -> Path:
    """Debian keeps the server's programs off PATH, one folder per major version; the newest wins."""
    folders = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda folder: float(folder.parent.name),
    )
    found = shutil.which("initdb")
    if not folders and found is None:
        raise Missing("PostgreSQL is not installed: sudo apt-get install --no-install-recommends postgresql")
    return folders[-1] if folders else Path(found or "").resolve().parent


def server_user() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root, so root lends it another user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Missing("PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody`.")


@contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[Postgres]:
    """`durable` waits for the disk at each commit, as in production; tests do without."""
    binaries, user = postgres_binaries(), server_user()
    with private_folder("postgres", owner=user) as folder:
        data, password = folder / "data", secrets.token_hex(8)
        secret = folder / "password"
        secret.write_text(password)
        secret.chmod(0o644)
        subprocess.run(
            [
                *(binaries / "initdb", "--no-sync", "--encoding=UTF8", "--locale=C", "--username=firstlight"),
                *("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}", "-D", data),
            ],
            check=True,
            capture_output=True,
            cwd="/",
            **as_user(user),
        )
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(folder),
            "max_connections": "200",
            "fsync": "on" if durable else "off",
            "synchronous_commit": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

        def ready(port: int) -> bool:
            check = [binaries / "pg_isready", "-q", "-h", folder, "-p", str(port)]
            return subprocess.run(check, check=False).returncode == 0

        process, port = start(
            lambda port: [binaries / "postgres", "-D", data, "-p", str(port), *options],
            answers=ready,
            log=folder / "log",
            user=user,
        )
        try:
            yield Postgres(port=port, password=password, pid=process.pid, binaries=binaries, sockets=folder)
        finally:
            # SIGTERM would wait for clients that forgot to disconnect.
            process.send_signal(signal.SIGINT)
            stop(process)


# --- S3 ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class S3:
    """A running gateway. An object is a plain file `folder/<bucket>/<key>`, so a test may look at it directly."""

    endpoint: str
    access_key: str
    secret_key: str
    folder: Path
    region: str = "us-east-1"
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def fresh_bucket(self) -> str:
        """Create an empty bucket and return its name."""
        name = f"test-{next(self.numbers)}"
        (self.folder / name).mkdir()
        return name


def peer_path(name: str) -> Path:
    asked = subprocess.run([ROOT / "tools" / "peers", "path", name], check=False, capture_output=True, text=True)
    if asked.returncode:
        raise Missing(asked.stderr.strip())
    return Path(asked.stdout.strip())


def keeps_attributes(folder: Path) -> bool:
    """Whether the file system has the extended attributes in which the gateway stores metadata."""
    try:
        os.setxattr(folder, "user.firstlight", b"probe")
    except OSError:
        return False
    return True


@contextmanager
def running_s3() -> Iterator[S3]:
    gateway = peer_path("versitygw")
    with private_folder("s3") as folder:
        buckets, metadata = folder / "buckets", folder / "metadata"
        buckets.mkdir()
        metadata.mkdir()
        backend = ["posix", *([] if keeps_attributes(buckets) else ["--sidecar", metadata]), buckets]
        access_key, secret_key = "firstlight", secrets.token_hex(16)

        def healthy(port: int) -> bool:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                    return answer.status == 200
            except (urllib.error.URLError, OSError):
                return False

        process, port = start(
            lambda port: [gateway, "--port", f"127.0.0.1:{port}", "--health", "/healthz", *backend],
            answers=healthy,
            log=folder / "log",
            environment={"ROOT_ACCESS_KEY": access_key, "ROOT_SECRET_KEY": secret_key},
        )
        try:
            yield S3(endpoint=f"http://127.0.0.1:{port}", access_key=access_key, secret_key=secret_key, folder=buckets)
        finally:
            stop(process)
