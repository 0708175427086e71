"""The entry point. Everything heavy is imported by the command that needs it, so that help comes at once."""

import sys

NEEDS_EXTRAS = (
    "firstlight: the package '{name}' is missing. The command line and the service need the extra packages:"
    " install 'firstlight[server]'.\n"
)


def run() -> None:
    """The console script `firstlight`."""
    try:
        from firstlight.cli.app import app
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("firstlight"):
            raise
        sys.stderr.write(NEEDS_EXTRAS.format(name=missing.name))
        raise SystemExit(1) from None
    app()


if __name__ == "__main__":
    run()
