"""The child process of `schema.migrate`: the URL comes in on standard input, where no process list shows it."""

import sqlite3
import sys

from firstlight.core.errors import Error
from firstlight.server.store.migrations.run import upgrade

if __name__ == "__main__":
    try:
        upgrade(sys.stdin.readline().strip())
    except (Error, OSError, sqlite3.Error) as error:
        sys.exit(str(error))
