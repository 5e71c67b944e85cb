"""Alembic's entry: migrations run on the connection, and in the transaction, that `opening` hands over."""

from alembic import context

from chorale.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=False)
context.run_migrations()
