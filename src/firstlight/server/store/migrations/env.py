"""Alembic's entry: renders the steps as SQL for the dialect that `run` names; it never connects by itself."""

from alembic import context

context.configure(dialect_name=context.config.attributes["dialect"], transactional_ddl=True, literal_binds=True)
with context.begin_transaction():
    context.run_migrations()
