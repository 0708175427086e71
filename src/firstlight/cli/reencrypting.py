"""`firstlight reencrypt`: everything secret under the newest key, with the service stopped."""

import asyncio
from typing import TYPE_CHECKING

from firstlight.cli.ending import stop
from firstlight.cli.output import put
from firstlight.cli.serving import ConfigOption, DataDirOption, load_settings

if TYPE_CHECKING:
    from firstlight.server.settings import Settings


def reencrypt(data_dir: DataDirOption = None, config: ConfigOption = None) -> None:
    """Encrypt all secrets with the first of the keys, after a new one was put before the old one.

    Stop the service first. Afterwards the old keys are needed only for backups.
    """
    settings = load_settings(config=config, data_dir=data_dir)
    from firstlight.core.errors import Error

    try:
        name, values, files = asyncio.run(_reencrypted(settings))
    except (Error, OSError) as error:
        stop(str(error))
    put(f"Encrypted {values} secrets in the database and {files} files anew. Everything is under key {name} now.")


async def _reencrypted(settings: "Settings") -> tuple[str, int, int]:
    from firstlight.server.sealing.keys import place_of
    from firstlight.server.service import sealed_blobs
    from firstlight.server.store.connect import open_database
    from firstlight.server.store.places import SqlitePlace, place
    from firstlight.server.store.resealing import compact, reseal
    from firstlight.server.store.sealing import open_seal

    database = await open_database(settings.database_location)
    try:
        seal = await open_seal(database, place_of(settings))
        blobs = sealed_blobs(settings, seal)
        try:
            # Files first: as long as something is left under an old key, the database asks for that key at start.
            files = await blobs.reseal()
            values = await reseal(database, seal)
        finally:
            await blobs.close()
    finally:
        await database.close()
    target = place(settings.database_location)
    if isinstance(target, SqlitePlace):
        await asyncio.to_thread(compact, target.path)
    return seal.key.name, values, files
