"""Write docs/reference/settings.md: every setting by its group, with its names, default and meaning."""

import ast
import inspect
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo

from firstlight.core.model.policy import DEFAULT_FINALIZING_LIMITS, DEFAULT_STAGE_TIMEOUTS
from firstlight.server.setting_groups.group import SettingGroup
from firstlight.server.settings import Settings

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "settings.md"
PREFIX: Final = "FIRSTLIGHT_"

HEAD: Final = """# Settings

Written by `tools/settings_page.py` from `src/firstlight/server/setting_groups`; a test fails when this page
is stale.

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


COLUMNS: Final = "| setting | environment | default | meaning |\n|---|---|---|---|"


def page() -> str:
    tables = "\n\n".join(_table(group) for group in groups())
    return f"{HEAD}\n{tables}\n{STAGES}{_stages()}\n"


def groups() -> Iterator[type[SettingGroup]]:
    """In the order of the fields of `Settings`, which comes last and adds its own."""
    return (kind for kind in reversed(Settings.__mro__) if issubclass(kind, SettingGroup) and kind is not SettingGroup)


def meanings(group: type[SettingGroup]) -> dict[str, str]:
    """The sentence below each setting in its source."""
    (declared,) = ast.parse(inspect.getsource(group)).body
    assert isinstance(declared, ast.ClassDef)
    found: dict[str, str] = {}
    for field, after in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            found[field.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return found


def _table(group: type[SettingGroup]) -> str:
    if group is Settings:
        title, about = "The file", "Where all of these may stand."
    else:
        title, about = group.__name__.removesuffix("Settings"), inspect.getdoc(inspect.getmodule(group)) or ""
    return f"## {title}\n\n{about}\n\n{COLUMNS}\n" + "\n".join(_rows(group))


def _rows(group: type[SettingGroup]) -> Iterator[str]:
    meaning = meanings(group)
    for name in meaning:
        field = Settings.model_fields[name]
        names = " ".join(f"`{shown}`" for shown in dict.fromkeys(_names(name, field)))
        yield f"| `{name}` | {names} | {_default(name, field)} | {meaning[name].replace('|', '/')} |"


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
