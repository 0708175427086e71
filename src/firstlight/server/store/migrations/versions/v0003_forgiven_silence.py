"""Remember until when silence is forgiven: a gap that one replica noticed counts for all, and after a restart."""

from alembic import op

from firstlight.server.store.migrations.types import INTEGER, optional

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("listening", optional("forgiven_until", INTEGER))
