"""Lays out the files of our images: what all of them share in one folder, what is only one image's in another.

Shared are an interpreter, the packages our host programs import, those programs and how they reach the host. All of it
comes from the machine that builds: its Python, its Debian packages, the project's environment. Libraries are found with
ldd. Nothing is downloaded, and the same inputs give the same trees, byte for byte.
"""

import argparse
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from subprocess import PIPE

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
SHARED = "shared"

ALWAYS = ("sh", "cp", "true", "nsenter", "mount")
"""`true` is how the unit of the discovery system finds out whether an image can be started at all."""
DISTRIBUTIONS = ("httpx2", "msgspec", "pyyaml")
ROLE = "usr/libexec/firstlight/role"


@dataclass(frozen=True, kw_only=True)
class Image:
    """What one image has beyond the shared part."""

    names: tuple[str, ...]
    """Names that our program is started by here."""
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    """Programs that are used where they exist."""
    launcher: bool = False
    """Whether the host copies a launcher out of it."""


IMAGES = {
    "agent": Image(
        names=(
            "next_step_runner",
            "inventory",
            "free_addresses",
            "disk_speed_check",
            "logs_sender",
            "firstlight-agent",
        ),
        required=("fio",),
        # Addresses of BMCs, health of disks, names of interfaces.
        optional=("ipmitool", "smartctl", "biosdevname"),
        launcher=True,
    ),
    "installer": Image(names=("installer", "firstlight-installer")),
    "controller": Image(names=("assisted-installer-controller", "firstlight-controller")),
}

LEFT_OUT = frozenset(
    (
        "__phello__",
        "__pycache__",
        "curses",
        "dbm",
        "dist-packages",
        "distutils",
        "ensurepip",
        "idlelib",
        "lib2to3",
        "msilib",
        "pydoc_data",
        "site-packages",
        "sqlite3",
        "test",
        "tests",
        "tkinter",
        "turtledemo",
        "unittest",
        "venv",
        "wsgiref",
        "xmlrpc",
    )
)
LEFT_OUT_MODULES = re.compile(
    r"(_?sqlite3|_tkinter|_curses.*|_dbm|_gdbm|readline|_test.*|_xx.*|xx.*|ossaudiodev|nis|audioop)\b"
)

FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
}


def interpreter(python: str) -> dict[str, str]:
    """Where a Python keeps its parts."""
    script = (
        "import json,sys,sysconfig;print(json.dumps({'program':sys.executable,'stdlib':sysconfig.get_path('stdlib'),"
        "'version':'%d.%d'%sys.version_info[:2]}))"
    )
    done = subprocess.run([python, "-I", "-c", script], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def imported_files() -> dict[str, Path]:
    """Our own modules that host programs import, by dotted path, found by importing them all."""
    script = (
        "import importlib, json, pkgutil, sys, firstlight.host as host\n"
        "for item in pkgutil.walk_packages(host.__path__, 'firstlight.host.', onerror=print):\n"
        "    if not item.name.endswith('__main__'):\n"
        "        importlib.import_module(item.name)\n"
        "print(json.dumps({n: m.__file__ for n, m in sys.modules.items()"
        " if n.split('.')[0] == 'firstlight' and m.__file__}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", script], check=True, stdout=PIPE, text=True, env=environment)
    return {name: Path(file) for name, file in json.loads(done.stdout).items()}


def distribution_files(names: Iterable[str]) -> Iterator[tuple[Path, Path]]:
    """Files of installed packages and of what they require: relative path and where it is."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            # A requirement of other platforms or versions of Python.
            continue
        requirements = [text for text in found.requires or () if "extra ==" not in text]
        waiting += [word[0] for text in requirements if (word := re.match(r"[A-Za-z0-9._-]+", text))]
        for file in found.files or ():
            path = Path(file)
            # Packages ask for their own version.
            wanted = path.name == "METADATA" if ".dist-info" in path.parts[0] else path.suffix in (".py", ".so")
            if wanted and path.parts[0] != "..":
                yield path, Path(str(found.locate_file(file)))


def libraries(files: Iterable[Path]) -> set[Path]:
    """Shared libraries that programs and modules need, as the loader finds them here."""
    needed: set[Path] = set()
    for file in files:
        done = subprocess.run(["ldd", file], check=False, capture_output=True, text=True)
        if "not found" in done.stdout:
            raise SystemExit(f"{file} lacks a library:\n{done.stdout}")
        needed |= {Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", done.stdout, re.MULTILINE)}
    return needed


class Tree:
    """Files of an image under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    def add_skeleton(self) -> None:
        for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "root", "tmp", "proc", "sys", "dev", "run"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        for name, target in LINKS.items():
            (self.folder / name).symlink_to(target)
        self.copy(HERE / "role", ROLE, mode=0o755)

    def copy(self, source: Path, name: str, *, mode: int | None = None) -> Path:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(mode if mode is not None else 0o755 if os.access(source, os.X_OK) else 0o644)
        return target

    def add_python(self, parts: dict[str, str]) -> list[Path]:
        """The interpreter under /usr/bin/python3, its library without what no host program needs."""
        stdlib, home = Path(parts["stdlib"]), f"usr/lib/python{parts['version']}"
        binaries = [self.copy(Path(parts["program"]).resolve(), "usr/bin/python3", mode=0o755)]
        for file in sorted(stdlib.rglob("*")):
            inside = file.relative_to(stdlib)
            skipped = LEFT_OUT.intersection(inside.parts) or inside.parts[0].startswith("config-")
            if skipped or not file.is_file() or file.suffix not in (".py", ".so"):
                continue
            if file.suffix == ".so" and LEFT_OUT_MODULES.match(file.name):
                continue
            copied = self.copy(file, f"{home}/{inside}", mode=0o644)
            binaries += [copied] if file.suffix == ".so" else []
        for inside, file in sorted(distribution_files(DISTRIBUTIONS)):
            copied = self.copy(file, f"{home}/{inside}", mode=0o644)
            binaries += [copied] if file.suffix == ".so" else []
        for name, file in sorted(imported_files().items()):
            inside = f"{name.replace('.', '/')}{'/__init__' if file.name == '__init__.py' else ''}.py"
            self.copy(file, f"{home}/{inside}", mode=0o644)
        self._compile(home)
        return binaries

    def _compile(self, home: str) -> None:
        """Compiled code that is trusted without a look at the source: starts fast and does not depend on times."""
        for file in sorted((self.folder / home).rglob("*.py")):
            py_compile.compile(
                str(file),
                dfile=f"/{file.relative_to(self.folder)}",
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )

    def add_programs(self, *, required: Iterable[str], optional: Iterable[str] = ()) -> list[Path]:
        copied: list[Path] = []
        needed = set(required)
        for name in (*required, *optional):
            found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
            if found is not None:
                copied.append(self.copy(Path(found).resolve(), f"usr/bin/{name}", mode=0o755))
            elif name in needed:
                raise SystemExit(f"The program {name} is not installed here; the image needs it.")
        return copied

    def add_libraries(self, files: Iterable[Path], *, unless_in: Path | None = None) -> None:
        """Each at the path where its users look for it, but not twice in one image."""
        for library in sorted(libraries(files)):
            place = str(library).lstrip("/")
            place = place if place.startswith("usr/") else f"usr/{place}"
            if unless_in is None or not (unless_in / place).exists():
                self.copy(library.resolve(), place, mode=0o755)

    def add_names(self, names: Iterable[str]) -> None:
        (self.folder / "usr/bin").mkdir(parents=True, exist_ok=True)
        for name in names:
            (self.folder / "usr/bin" / name).symlink_to("../libexec/firstlight/role")

    def add_launcher(self) -> None:
        """The name `agent` is the launcher on a host, and our program inside the image."""
        self.copy(HERE / "agent/agent", "usr/bin/agent", mode=0o755)
        (self.folder / "usr/libexec/firstlight").mkdir(parents=True, exist_ok=True)
        (self.folder / "usr/libexec/firstlight/agent").symlink_to("role")
        for names in ("/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"):
            if Path(names).exists():
                self.copy(Path(names), "usr/share/hwdata/pci.ids", mode=0o644)
                break

    def settle(self) -> None:
        """One time for everything, so that the same files are the same image."""
        for path in [*self.folder.rglob("*"), self.folder]:
            os.utime(path, (0, 0), follow_symlinks=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a new folder; it gets one for the shared part and one per image")
    parser.add_argument("images", nargs="+", choices=sorted(IMAGES), metavar="image", help=", ".join(sorted(IMAGES)))
    default = "/usr/bin/python3.11" if Path("/usr/bin/python3.11").exists() else sys.executable
    parser.add_argument("--python", default=default, help="the interpreter to put into the image")
    options = parser.parse_args()
    parts = interpreter(options.python)
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if parts["version"] != own:
        raise SystemExit(f"{options.python} is Python {parts['version']}, the environment's packages are for {own}.")
    os.umask(0o022)
    shared = stage_shared(options.folder / SHARED, parts)
    for name in options.images:
        stage(options.folder / name, IMAGES[name], shared=shared)


def stage_shared(folder: Path, parts: dict[str, str]) -> Path:
    tree = Tree(folder)
    tree.add_skeleton()
    binaries = [*tree.add_python(parts), *tree.add_programs(required=ALWAYS)]
    tree.add_libraries(binaries)
    tree.settle()
    return folder


def stage(folder: Path, image: Image, *, shared: Path) -> None:
    tree = Tree(folder)
    programs = tree.add_programs(required=image.required, optional=image.optional)
    tree.add_libraries(programs, unless_in=shared)
    tree.add_names(image.names)
    if image.launcher:
        tree.add_launcher()
    tree.settle()


if __name__ == "__main__":
    main()
