"""Alembic's entry point; the connection comes from terrain/store/migrate.py."""

from alembic import context

from terrain.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
