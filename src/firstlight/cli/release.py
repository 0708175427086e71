"""`firstlight release …`: look into a release image, and take its programs out, with nothing but this command."""

import asyncio
import platform
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from firstlight.cli.ending import Code, stop
from firstlight.cli.output import Format, OutputOption, put, show_document, show_rows

if TYPE_CHECKING:
    from firstlight.server.release.payload import Release, ReleaseInfo

app = typer.Typer(no_args_is_help=True, help="Look into release images and take programs out of them.")

Image = Annotated[str, typer.Argument(help="The release image, such as registry.example/ocp/release:4.19.1-x86_64.")]
PullSecretOption = Annotated[Path | None, typer.Option(help="File with the pull secret.", exists=True, dir_okay=False)]
RegistriesOption = Annotated[
    Path | None, typer.Option(help="registries.conf that names mirrors.", exists=True, dir_okay=False)
]
CaOption = Annotated[Path | None, typer.Option(help="Authorities to trust besides the system's.", exists=True)]
PlainOption = Annotated[list[str] | None, typer.Option("--plain", help="A registry without TLS; may be repeated.")]
ArchitectureOption = Annotated[str, typer.Option("--architecture", "-a", help="Which variant of a multi-arch image.")]
MACHINE: Final = platform.machine()
STEP: Final = 10
"""Percent after which a download is told of again."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """How the registries are reached."""

    pull_secret: Path | None
    registries: Path | None
    ca: Path | None
    plain: tuple[str, ...]
    architecture: str


@app.command("info")
def info(
    image: Image,
    pull_secret: PullSecretOption = None,
    registries: RegistriesOption = None,
    ca: CaOption = None,
    plain: PlainOption = None,
    architecture: ArchitectureOption = MACHINE,
    output: OutputOption = Format.TABLE,
) -> None:
    """Show a release's version and the images it consists of."""
    access = Access(
        pull_secret=pull_secret, registries=registries, ca=ca, plain=tuple(plain or ()), architecture=architecture
    )
    found = _run(image, access, program=None, to=None)
    if output is Format.TABLE:
        put(f"{found.image}\nVersion {found.version}, {len(found.images)} images\n")
        show_rows(["Component", "Image"], [[name, found.images[name]] for name in sorted(found.images)])
    else:
        show_document(msgspec.to_builtins(found), output=output)


@app.command("extract")
def extract(
    image: Image,
    program: Annotated[str, typer.Argument(help="openshift-install, openshift-baremetal-install or oc.")],
    to: Annotated[Path | None, typer.Option(help="Where to write it [the program's name, here].")] = None,
    pull_secret: PullSecretOption = None,
    registries: RegistriesOption = None,
    ca: CaOption = None,
    plain: PlainOption = None,
    architecture: ArchitectureOption = MACHINE,
) -> None:
    """Write a program of the release to a file."""
    from firstlight.server.release.payload import PROGRAMS

    if program not in PROGRAMS:
        stop(f"there is no program '{program}' in releases. Choose one of {', '.join(PROGRAMS)}.", Code.USAGE)
    access = Access(
        pull_secret=pull_secret, registries=registries, ca=ca, plain=tuple(plain or ()), architecture=architecture
    )
    target = to or Path(program)
    found = _run(image, access, program=program, to=target)
    put(f"{program} of OpenShift {found.version} is in {target}.")


def _run(image: str, access: Access, *, program: str | None, to: Path | None) -> "ReleaseInfo":
    from firstlight.core.errors import Error, NotFound, Unavailable

    try:
        return asyncio.run(_read(image, access, program=program, to=to))
    except NotFound as problem:
        stop(str(problem), Code.NOT_FOUND)
    except Unavailable as problem:
        stop(str(problem), Code.UNREACHABLE)
    except Error as problem:
        stop(str(problem))
    except OSError as problem:
        stop(f"{problem.filename or to}: {problem.strerror}.")


async def _read(image: str, access: Access, *, program: str | None, to: Path | None) -> "ReleaseInfo":
    from firstlight.core.install.mirrors import parse_registries_conf
    from firstlight.core.validate.pull_secret import PullSecret, parse_pull_secret
    from firstlight.core.versions.image_reference import parse_reference
    from firstlight.server.release.connecting import open_registries
    from firstlight.server.release.payload import Release

    name = parse_reference(image)
    secret = parse_pull_secret(access.pull_secret.read_text()) if access.pull_secret else PullSecret({})
    bundle = access.ca.read_text() if access.ca else ""
    mirrors = parse_registries_conf(access.registries.read_text()) if access.registries else None
    with tempfile.TemporaryDirectory(prefix="firstlight-release-") as folder:
        async with open_registries(secret, mirrors=mirrors, bundle=bundle, plain=frozenset(access.plain)) as opened:
            release = Release(opened, architecture=access.architecture, folder=Path(folder))
            found = await release.info(name)
            if program is not None and to is not None:
                await _write(release, found, program, to=to)
    return found


async def _write(release: "Release", found: "ReleaseInfo", program: str, *, to: Path) -> None:
    part = to.with_name(f".{to.name}.part")
    try:
        await release.program(found, program, to=part, progress=_progress(program))
        part.replace(to)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _progress(program: str) -> Callable[[int, int], None]:
    told = -STEP

    def tell(done: int, total: int) -> None:
        nonlocal told
        percent = done * 100 // total if total else 100
        if percent >= told + STEP:
            told = percent
            sys.stderr.write(f"{program}: {percent} % of a layer of {total // 2**20} MiB\n")
        if done >= total:
            told = -STEP

    return tell
