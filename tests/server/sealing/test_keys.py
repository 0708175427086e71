"""Keys: how they may be written, and the file that is made when nobody gives one."""

import os
import stat
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from firstlight.core.errors import Invalid
from firstlight.server.main import warn_if_key_is_here_only
from firstlight.server.sealing.keys import KeyPlace, make_key_file, parse_keys, place_of
from firstlight.server.settings import Settings

ONE, TWO = bytes(range(32)), bytes(range(32, 64))
BASE64, HEX = b64encode(ONE).decode(), TWO.hex()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (BASE64, [ONE]),
        (HEX, [TWO]),
        (HEX.upper(), [TWO]),
        (f"{BASE64} {HEX}", [ONE, TWO]),
        (f"{BASE64},{HEX}", [ONE, TWO]),
        (f"# the new one\n{HEX}\n\n# until winter\n{BASE64}  # the old one\n", [TWO, ONE]),
    ],
)
def test_ways_to_write_keys(text: str, keys: list[bytes]) -> None:
    assert parse_keys(text, where="here") == keys


@pytest.mark.parametrize("text", ["", "  \n", "# nothing", BASE64[:-2], HEX[1:], HEX + "0", "päss", BASE64 + " x"])
def test_what_is_no_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(Invalid, match="^The setting holds .*openssl rand -base64 32") as refusal:
        parse_keys(text, where="The setting")
    assert text.strip() == "" or text not in str(refusal.value)


def test_a_missing_file_of_our_own_is_made_once_and_for_us_only(tmp_path: Path) -> None:
    place = KeyPlace(file=tmp_path / "data" / "encryption-key")
    assert place.known() is None
    made = place.made()
    assert (place.known(), place.made()) == (made, made)
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o600
    assert [file.name for file in place.file.parent.iterdir()] == ["encryption-key"]


def test_many_that_start_at_once_have_one_key(tmp_path: Path) -> None:
    """Replicas in containers may share a folder, and the id of their process as well."""
    for attempt in range(20):
        file = tmp_path / str(attempt) / "encryption-key"
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(make_key_file, [file] * 8))
        assert len(made[0]) == 1
        assert made == [made[0]] * 8
        assert [found.name for found in file.parent.iterdir()] == [file.name]


def test_a_new_key_survives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the database keeps is worth nothing without it."""
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink()))
    make_key_file(tmp_path / "encryption-key")
    assert synced[-1] == tmp_path
    assert len(synced) == 2


def test_a_file_of_bare_bytes_is_refused_without_repeating_any(tmp_path: Path) -> None:
    file = tmp_path / "encryption-key"
    file.write_bytes(bytes(range(200, 232)))
    with pytest.raises(Invalid, match=r"openssl rand -base64 32") as refusal:
        KeyPlace(file=file).known()
    assert str(file) in str(refusal.value)
    assert "0x" not in str(refusal.value)


def test_a_file_that_was_named_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="does not exist"):
        KeyPlace(file=tmp_path / "mounted", is_own=False).made()


def test_what_settings_say(tmp_path: Path) -> None:
    assert place_of(Settings(data_dir=tmp_path)) == KeyPlace(file=tmp_path / "encryption-key")
    named = place_of(Settings(data_dir=tmp_path, encryption_key_file=tmp_path / "other"))
    assert named == KeyPlace(file=tmp_path / "other", is_own=False)
    given = place_of(Settings(data_dir=tmp_path, encryption_key=HEX))
    assert given.known() == [TWO]
    assert HEX not in repr(Settings(encryption_key=HEX))


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({}, False),
        ({"database_url": "postgresql://db/x"}, True),
        ({"blobs_url": "s3://bucket"}, True),
        ({"blobs_url": "/srv/blobs"}, False),
        ({"database_url": "postgresql://db/x", "encryption_key": HEX}, False),
        ({"blobs_url": "s3://bucket", "encryption_key_file": "/run/secrets/key"}, False),
    ],
)
def test_a_key_that_is_only_here_is_warned_of_where_data_is_elsewhere(
    tmp_path: Path, settings: dict[str, Any], warned: bool
) -> None:
    with capture_logs() as logged:
        warn_if_key_is_here_only(Settings(data_dir=tmp_path, **settings))
    assert [entry["file"] for entry in logged] == ([str(tmp_path / "encryption-key")] if warned else [])
