"""How the tables came to be: one small step per file in `versions/`, applied by alembic.

To change the schema:

1. Copy the newest file in `versions/` to `v0002_<what>.py`; set `revision = "0002"` and `down_revision = "0001"`.
2. Write `upgrade()` with `op.add_column`, `op.create_table`, `op.execute` …, using the column types of `types.py`. The
   step is rendered to SQL and run in one transaction, so it cannot read rows into Python: move data with SQL, and
   branch on `op.get_context().dialect.name` where the databases differ. A new column of a filled table needs a default.
3. Set `HEAD` below to the new number. Replicas still running the old code must bear the new schema: add first, drop in
   a later release.
4. Run `pytest tests/store`: it migrates both databases from nothing, and from each earlier version with rows in it.

The running service reads `HEAD` only; alembic is imported in a child process, when a database is behind.
"""

from typing import Final

HEAD: Final = "0004"
"""The schema this code is written for."""
