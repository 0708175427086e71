"""`firstlight version`."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from firstlight.cli.output import Format, OutputOption, put, show_document


def own_version() -> str:
    try:
        return installed_version("firstlight")
    except PackageNotFoundError:
        return "unknown"


def version(output: OutputOption = Format.TABLE) -> None:
    """Print the version."""
    if output is Format.TABLE:
        put(f"firstlight {own_version()}")
    else:
        show_document({"firstlight": own_version()}, output=output)
