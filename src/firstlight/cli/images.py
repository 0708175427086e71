"""`firstlight images …`: serve discovery images, and look after the base images they are made from."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from firstlight.cli.ending import Code, stop
from firstlight.cli.output import Format, OutputOption, put, show_document, show_rows
from firstlight.cli.serving import ConfigOption, DataDirOption, load_settings

if TYPE_CHECKING:
    from firstlight.server.imaging.base_images import Listed
    from firstlight.server.imaging.options import Options
    from firstlight.server.imaging.stock import Stock

app = typer.Typer(invoke_without_command=True)
TITLES: Final = ["OpenShift", "Build", "Architecture", "Kind", "State", "Size", "Where"]
STEP: Final = 10
"""Percent after which a download is told of again where nobody watches a screen."""


@app.callback()
def images(
    context: typer.Context,
    listen: Annotated[str | None, typer.Option(help="Address and port of images [127.0.0.1:8888].")] = None,
    data_dir: DataDirOption = None,
    config: ConfigOption = None,
    service_base_url: Annotated[str | None, typer.Option(help="Where the API is.")] = None,
) -> None:
    """Serve discovery images alone, near the machines that boot them; `serve` does this beside the API."""
    if context.invoked_subcommand is not None:
        context.obj = (data_dir, config)
        return
    settings = load_settings(config=config, images_listen=listen, data_dir=data_dir, service_base_url=service_base_url)
    from firstlight.core.errors import Error
    from firstlight.server.imaging.running import run_images

    try:
        run_images(settings)
    except (Error, OSError) as error:
        stop(f"images cannot be served. {error}")


@app.command("list")
def list_images(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are not here.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare checksums where they are configured.")] = False,
    data_dir: DataDirOption = None,
    config: ConfigOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """List the base images that are here, what they occupy and whether they can be used. Nothing is downloaded."""
    from firstlight.core.errors import Error
    from firstlight.server.imaging.stock import take_stock

    try:
        stock = take_stock(_options(context, data_dir, config), verify=verify)
    except (Error, OSError) as error:
        stop(f"the base images cannot be listed. {error}")
    if output is Format.TABLE:
        _show(stock, everything=everything)
    else:
        show_document(msgspec.to_builtins(stock), output=output)


@app.command("fetch")
def fetch_images(
    context: typer.Context,
    versions: Annotated[
        list[str] | None, typer.Argument(metavar="[VERSION]...", help="OpenShift versions or builds.")
    ] = None,
    architectures: Annotated[
        list[str] | None, typer.Option("--architecture", "-a", help="Only this one; may be repeated [x86_64].")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every configured image of all architectures.")] = False,
    data_dir: DataDirOption = None,
    config: ConfigOption = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Download base images before they are needed; what is here already stays, what broke off goes on."""
    if not versions and not everything:
        stop("name the versions to fetch, such as `firstlight images fetch 4.18`, or say --all.", Code.USAGE)
    from firstlight.core.errors import Error, NotFound
    from firstlight.server.imaging.stock import chosen, fetch

    options = _options(context, data_dir, config)
    wanted_architectures = architectures or ([] if everything else ["x86_64"])
    try:
        wanted = chosen(options, versions=versions or (), architectures=wanted_architectures)
        done = asyncio.run(fetch(options, wanted, tell=_Teller(quiet=output is not Format.TABLE)))
    except KeyboardInterrupt:
        stop("interrupted. What is here so far stays, and the next fetch goes on with it.")
    except NotFound as error:
        stop(str(error), Code.NOT_FOUND)
    except (Error, OSError) as error:
        stop(f"the base images cannot be fetched. {error}")
    if output is not Format.TABLE:
        show_document(msgspec.to_builtins(done), output=output)
    failed = [one for one in done if one.state != "ready"]
    if failed:
        reasons = " ".join(f"{_name(one)}: {one.reason or 'it is not here.'}" for one in failed)
        stop(f"{len(failed)} of {len(done)} base images could not be fetched. {reasons}")


def _options(context: typer.Context, data_dir: Path | None, config: Path | None) -> "Options":
    """The options may stand before or behind the word `list` or `fetch`."""
    from firstlight.core.errors import Error
    from firstlight.server.imaging.options import options_of
    from firstlight.server.telemetry.logging import set_up_logging

    # What goes wrong is told in our own sentences, once.
    set_up_logging(level="critical", json_lines=False)
    before: tuple[Path | None, Path | None] = context.obj
    try:
        return options_of(load_settings(config=config or before[1], data_dir=data_dir or before[0]))
    except Error as error:
        stop(f"the settings cannot be used. {error}", Code.USAGE)


def _name(image: "Listed") -> str:
    kind = "" if image.type == "full-iso" else f" {image.type}"
    return f"{image.openshift_version} {image.cpu_architecture}{kind}"


def _show(stock: "Stock", *, everything: bool) -> None:
    shown = [one for one in stock.images if everything or one.state != "missing"]
    rows = [
        [
            one.openshift_version,
            one.version,
            one.cpu_architecture,
            one.type,
            str(one.state),
            shown_size(one.bytes_on_disk) if one.bytes_on_disk else "",
            one.path,
        ]
        for one in shown
    ]
    if rows:
        show_rows(TITLES, rows)
    for one in shown:
        if one.reason:
            put(f"{_name(one)}: {one.reason}")
    away = sum(one.state == "missing" for one in stock.images)
    if away and not everything:
        put(f"{away} more are configured and not here; --all lists them.")
    for other in stock.other_files:
        put(f"{other.path} is no base image: {shown_size(other.bytes)}.")
    free = "" if stock.free_bytes is None else f"; {shown_size(stock.free_bytes)} are free"
    put(f"{shown_size(stock.total_bytes)} in all, in {stock.folder}{free}.")


def shown_size(size: int) -> str:
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"


class _Teller:
    """Says how far downloads are: in place on a screen, and now and then elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._screen = sys.stderr.isatty()
        self._told: dict[str, str] = {}

    def __call__(self, images: Sequence["Listed"]) -> None:
        if self._quiet:
            return
        for one in images:
            step = -1 if one.percent is None else one.percent - one.percent % (1 if self._screen else STEP)
            words = f"{one.state} {step}" if one.state == "downloading" else str(one.state)
            if self._told.get(_name(one)) != words and one.state != "missing":
                self._told[_name(one)] = words
                put(self._line(one))

    @staticmethod
    def _line(one: "Listed") -> str:
        if one.state == "downloading":
            percent = "" if one.percent is None else f", {one.percent} %"
            return f"{_name(one)}: {shown_size(one.bytes_on_disk)}{percent}"
        if one.state == "ready":
            return f"{_name(one)}: ready, {shown_size(one.bytes_on_disk)}"
        return f"{_name(one)}: {one.state}"
