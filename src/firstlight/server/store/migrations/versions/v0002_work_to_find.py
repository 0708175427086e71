"""Find work quickly: one operation per attempt, the open ones apart, and the claims that may run out."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

OPEN = sa.text("state IN ('waiting', 'running')")
CLAIMED = sa.text("lease_until IS NOT NULL")


def upgrade() -> None:
    op.drop_index("operations_of_subject", "operations")
    op.create_index("operations_of_subject", "operations", ["subject", "kind", "attempt"], unique=True)
    op.create_index("operations_open", "operations", ["created_at"], postgresql_where=OPEN, sqlite_where=OPEN)
    op.create_index("due_claimed", "due", ["lease_until"], postgresql_where=CLAIMED, sqlite_where=CLAIMED)
