"""A service in small that is going to be killed: it commits as fast as it can and says what was acknowledged."""

import asyncio
import itertools
import os
import sys

from firstlight.server.store.connect import open_database
from tests.store.rows import add_secret, events


async def main(url: str, run: str) -> None:
    database = await open_database(url)
    numbers = itertools.count()

    async def write(writer: int) -> None:
        for number in numbers:
            key = f"{run}-{writer}-{number}"
            relaxed = number % 4 == 0
            await database.commit(add_secret(key, name="a"), add_secret(key, name="b"), *events(key), relaxed=relaxed)
            os.write(1, f"{key}\n".encode())

    await asyncio.gather(*(write(writer) for writer in range(8)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
