"""Write docs/reference/settings.md: every setting of `server/settings.py` with its names, default and meaning."""

import ast
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo

from firstlight.core.model.policy import DEFAULT_FINALIZING_LIMITS, DEFAULT_STAGE_TIMEOUTS
from firstlight.server import settings as source
from firstlight.server.settings import Settings

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "settings.md"
PREFIX: Final = "FIRSTLIGHT_"

HEAD: Final = """# Settings

Written by `tools/settings_page.py` from `src/firstlight/server/settings.py`; a test fails when this page is stale.

A setting can be given in three places. Later ones win:

1. a TOML file, named by `--config` or `FIRSTLIGHT_CONFIG`, under the setting's name: `poll_seconds = 30`
2. the environment, under one of the names in the second column. The first is ours, the others are those of the
   assisted-service and mean the same; ours wins
3. flags of `firstlight serve`, for the few that have one (`firstlight serve --help`)

Durations are written like `90s`, `3m` or `1h30m`, lists with commas. `firstlight serve --print-settings` prints what is
in force, without secrets. A name in the file that is no setting is refused.
"""
STAGES: Final = """
## Time limits of single stages

These are read from the environment only, with or without `FIRSTLIGHT_` in front.

| environment | default |
|---|---|
"""


def page() -> str:
    rows = "\n".join(_rows())
    return f"{HEAD}\n| setting | environment | default | meaning |\n|---|---|---|---|\n{rows}\n{STAGES}{_stages()}\n"


def meanings() -> dict[str, str]:
    """The sentence below each setting in its source."""
    tree = ast.parse(Path(source.__file__).read_text())
    settings = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    found: dict[str, str] = {}
    for field, after in zip(settings.body, settings.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            found[field.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return found


def _rows() -> Iterator[str]:
    meaning = meanings()
    for name, field in Settings.model_fields.items():
        names = " ".join(f"`{shown}`" for shown in dict.fromkeys(_names(name, field)))
        yield f"| `{name}` | {names} | {_default(name, field)} | {meaning.get(name, '').replace('|', '/')} |"


def _names(name: str, field: FieldInfo) -> Iterator[str]:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        yield from (str(choice) for choice in alias.choices)
    else:
        yield f"{PREFIX}{name.upper()}"


def _default(name: str, field: FieldInfo) -> str:
    if name == "data_dir":
        return "`~/.local/share/firstlight`"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, timedelta):
        return f"`{shown_duration(value)}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value)  # pyright: ignore[reportUnknownVariableType]
    return "" if value in (None, "") else f"`{value}`"


def shown_duration(value: timedelta) -> str:
    """As a person writes it: the largest units, nothing that is zero."""
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"


def _stages() -> str:
    hosts = ((f"HOST_STAGE_{_upper(stage)}_TIMEOUT", limit) for stage, limit in DEFAULT_STAGE_TIMEOUTS.items())
    ends = (
        (f"FINALIZING_STAGE_{_upper(stage)}_TIMEOUT", limit.hard) for stage, limit in DEFAULT_FINALIZING_LIMITS.items()
    )
    return "\n".join(f"| `{name}` | `{shown_duration(limit)}` |" for name, limit in (*hosts, *ends))


def _upper(stage: str) -> str:
    return stage.upper().replace(" ", "_")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
