"""How a setting is declared: under our name, and under those the original has for it."""

from typing import Any

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class SettingGroup(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="FIRSTLIGHT_",
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        env_ignore_empty=True,
    )


def also(name: str, *originals: str, default: Any, **bounds: Any) -> Any:
    """A setting with the names the original has for it."""
    return Field(default=default, validation_alias=AliasChoices(f"FIRSTLIGHT_{name}", *originals), **bounds)
