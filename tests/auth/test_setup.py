"""What a service starts with: made once, the same for every replica, and left where its owner alone can read it."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.auth.keys import new_private_key
from firstlight.server.auth.setup import ADMIN_FILE, administrator, service_keys
from firstlight.server.composition import access_of
from firstlight.server.settings import Settings
from tests.worlds import SetClock, a_world

pytestmark = pytest.mark.anyio


async def test_keys_and_tokens_are_made_once(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        first = await service_keys(world.store, public="", private="")
        second = await service_keys(world.store, public="", private="")
        assert first.public.public_numbers() == second.public.public_numbers()
        own = new_private_key()
        given = await service_keys(world.store, public="", private=own)
        assert given.public.public_numbers() != first.public.public_numbers()
        folders = [tmp_path / "one", tmp_path / "two"]
        tokens = {await administrator(world.store, given="", folder=folder) for folder in folders}
        assert len(tokens) == 1
        for folder in folders:
            assert (folder / ADMIN_FILE).read_text().strip() in tokens
            assert (folder / ADMIN_FILE).stat().st_mode & 0o777 == 0o600
            assert [path.name for path in folder.iterdir()] == [ADMIN_FILE]


async def test_a_token_of_one_s_own_replaces_what_lies_there(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        (tmp_path / ADMIN_FILE).write_text("old")
        (tmp_path / ADMIN_FILE).chmod(0o644)
        assert await administrator(world.store, given="mine", folder=tmp_path) == "mine"
        assert (tmp_path / ADMIN_FILE).read_text() == "mine\n"
        assert (tmp_path / ADMIN_FILE).stat().st_mode & 0o777 == 0o600


async def test_a_place_that_cannot_be_written_matters_only_to_whoever_needs_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with a_world(tmp_path) as world:
        assert await administrator(world.store, given="mine", folder=tmp_path / "file") == "mine"
        with pytest.raises(Unavailable, match="FIRSTLIGHT_ADMIN_TOKEN"):
            await administrator(world.store, given="", folder=tmp_path / "file")


async def test_each_kind_of_authentication(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        clock = SetClock()
        nobody = await access_of(Settings(data_dir=tmp_path), world.store, clock)
        assert (nobody.authenticator, nobody.tokens) == (None, None)
        local = await access_of(Settings(data_dir=tmp_path, AUTH_TYPE="local"), world.store, clock)
        assert local.authenticator is not None
        assert local.tokens is not None
        assert local.tokens.keys.private is not None
        # The agent-based installer brings its key along; nothing is made, and without the key nobody could get in.
        installer = {"AUTH_TYPE": "agent-installer-local"}
        with pytest.raises(Invalid, match="EC_PUBLIC_KEY_PEM"):
            await access_of(Settings(**installer), world.store, clock)
        given = Settings(**installer, EC_PRIVATE_KEY_PEM=SecretStr(new_private_key()))
        foreign = await access_of(given, world.store, clock)
        assert foreign.authenticator is not None
        assert foreign.tokens is None
