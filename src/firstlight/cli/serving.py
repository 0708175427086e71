"""`firstlight serve` and `migrate`: the service, with settings from file, environment and flags."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.ending import Code, stop
from firstlight.cli.output import Format, put, show_document

if TYPE_CHECKING:
    from firstlight.server.settings import Settings

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", exists=True, dir_okay=False, help="TOML file with settings.")
]
DataDirOption = Annotated[Path | None, typer.Option("--data-dir", help="Where the embedded database and files live.")]


def serve(
    listen: Annotated[str | None, typer.Option(help="Address and port of the API [127.0.0.1:8090].")] = None,
    images_listen: Annotated[str | None, typer.Option(help="Address and port of images [127.0.0.1:8888].")] = None,
    data_dir: DataDirOption = None,
    config: ConfigOption = None,
    service_base_url: Annotated[str | None, typer.Option(help="The address hosts are told to call.")] = None,
    image_service_base_url: Annotated[str | None, typer.Option(help="The address images are offered at.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    log_format: Annotated[str | None, typer.Option(help="text or json.")] = None,
    print_settings: Annotated[
        bool, typer.Option("--print-settings", help="Print the settings in force, without secrets, and end.")
    ] = False,
) -> None:
    """Run the service until it is told to stop.

    Every setting can be given as FIRSTLIGHT_<NAME> in the environment or in a TOML file; flags beat both.
    """
    settings = load_settings(
        config=config,
        listen=listen,
        images_listen=images_listen,
        data_dir=data_dir,
        service_base_url=service_base_url,
        image_service_base_url=image_service_base_url,
        log_level=log_level,
        log_format=log_format,
    )
    if print_settings:
        show_document(settings.model_dump(mode="json"), output=Format.JSON)
        return
    from firstlight.server.main import check
    from firstlight.server.main import serve as run_service

    if trouble := check(settings):
        stop(f"the settings cannot be used. {trouble}", Code.USAGE)
    from firstlight.core.errors import Error

    try:
        run_service(settings)
    except (Error, OSError) as error:
        stop(f"the service cannot run. {error}")


def migrate(data_dir: DataDirOption = None, config: ConfigOption = None) -> None:
    """Bring the database to the newest schema. The service does this by itself when it starts."""
    settings = load_settings(config=config, data_dir=data_dir)
    from firstlight.core.errors import Error
    from firstlight.server.store.places import SqlitePlace, place
    from firstlight.server.store.schema import HEAD
    from firstlight.server.store.schema import migrate as bring_up_to_date

    target = place(settings.database_location)
    if isinstance(target, SqlitePlace):
        target.path.parent.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(bring_up_to_date(settings.database_location))
    except (Error, OSError) as error:
        stop(str(error))
    put(f"The database is at schema {HEAD}.")


def load_settings(**flags: Any) -> "Settings":
    """The settings in force; wrong ones end the command with a sentence each."""
    from pydantic import AliasChoices, ValidationError

    from firstlight.server.settings import Settings

    given: dict[str, Any] = {}
    for name, value in flags.items():
        alias = Settings.model_fields[name].validation_alias
        # A setting with several names is looked up by its first one before its own: that is where a flag must stand.
        key = str(alias.choices[0]) if isinstance(alias, AliasChoices) else name
        if value is not None:
            given[key] = value
    try:
        return Settings(**given)
    except ValidationError as error:
        lines = [
            f"{'.'.join(str(part) for part in item['loc'])}: {_complaint(item['type'], item['msg'])}"
            for item in error.errors()
        ]
        stop("these settings cannot be used. " + "; ".join(lines), Code.USAGE)


def _complaint(kind: str, message: str) -> str:
    return "there is no setting of this name" if kind == "extra_forbidden" else message.removeprefix("Value error, ")
