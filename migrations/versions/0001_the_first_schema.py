"""The first schema

Revision: 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "edge",
        sa.Column("from_host", ID, autoincrement=False, nullable=False),
        sa.Column("to_host", ID, autoincrement=False, nullable=False),
        sa.Column("weight", ID, nullable=False),
        sa.PrimaryKeyConstraint("from_host", "to_host", name=op.f("pk_edge")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "frontier_entry",
        sa.Column("host_id", ID, autoincrement=False, nullable=False),
        sa.Column("priority", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", ID, autoincrement=False, nullable=False),
        sa.Column("page_id", ID, nullable=False),
        sa.Column("added_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "priority", "seq", name=op.f("pk_frontier_entry")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "host",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("home_id", ID, nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("run_state", sa.Text(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("admitted", sa.SmallInteger(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("asked_at", ID, nullable=True),
        sa.Column("retry_after", sa.Text(), nullable=True),
        sa.Column("limited_at_request", sa.Integer(), nullable=True),
        sa.Column("crawl_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host")),
    )
    op.create_table(
        "link",
        sa.Column("from_id", ID, autoincrement=False, nullable=False),
        sa.Column("to_id", ID, autoincrement=False, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("anchor", sa.Text(), nullable=True),
        sa.Column("rel", sa.Text(), nullable=True),
        sa.Column("first_run", sa.Integer(), nullable=False),
        sa.Column("last_run", sa.Integer(), nullable=True),
        sa.Column("listed", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("from_id", "to_id", name=op.f("pk_link")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.create_index(
            "ix_link_listed",
            ["to_id", "last_run", "listed"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed = 1"),
        )
        batch_op.create_index(
            "ix_link_redirect",
            ["to_id"],
            unique=False,
            sqlite_where=sa.text("kind = 0"),
            postgresql_where=sa.text("kind = 0"),
        )

    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "origin",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_origin")),
        sa.UniqueConstraint("name", name=op.f("uq_origin_name")),
    )
    op.create_table(
        "page",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("check_hash", sa.Integer(), nullable=False),
        sa.Column("host_id", ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("read_run", sa.Integer(), nullable=False),
        sa.Column("radius", sa.SmallInteger(), nullable=False),
        sa.Column("hops", sa.SmallInteger(), nullable=False),
        sa.Column("own_hops", sa.SmallInteger(), nullable=False),
        sa.Column("fault", sa.SmallInteger(), nullable=False),
        sa.Column("seq", ID, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page")),
    )
    with op.batch_alter_table("page", schema=None) as batch_op:
        batch_op.create_index(
            "ix_page_fetching",
            ["id"],
            unique=False,
            sqlite_where=sa.text("state = 'fetching'"),
            postgresql_where=sa.text("state = 'fetching'"),
        )

    op.create_table(
        "page_address",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetch_url", sa.Text(), nullable=True),
        sa.Column("discovered_run", sa.Integer(), nullable=False),
        sa.Column("discovered_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_address")),
    )
    op.create_table(
        "page_depth",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("depth", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("word", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("mask", ID, nullable=False),
        sa.PrimaryKeyConstraint("page_id", "depth", "word", name=op.f("pk_page_depth")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "page_fact",
        sa.Column("id", ID, autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("status_code", sa.SmallInteger(), nullable=True),
        sa.Column("content_type", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("canonical_url", sa.Text(), nullable=True),
        sa.Column("meta_robots", sa.Text(), nullable=True),
        sa.Column("bytes", ID, nullable=True),
        sa.Column("fetch_ms", sa.Integer(), nullable=True),
        sa.Column("visited_at", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("retry_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_fact")),
    )
    op.create_table(
        "revisit",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("word", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("mask", ID, nullable=False),
        sa.PrimaryKeyConstraint("page_id", "word", name=op.f("pk_revisit")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "robots",
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("host_id", ID, nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("fetched_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("origin", name=op.f("pk_robots")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("robots", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_robots_host_id"), ["host_id"], unique=False)

    op.create_table(
        "root_state",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("subdomains", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_root_state")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=True),
        sa.Column("config_hash", sa.Text(), nullable=False),
        sa.Column("terrain_hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=True),
        sa.Column("metrics", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('running', 'completed', 'interrupted')", name=op.f("ck_runs_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("job", name=op.f("uq_runs_job")),
    )
    op.create_table(
        "visits",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("status_code", sa.SmallInteger(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.Text(), nullable=True),
        sa.Column("bytes", ID, nullable=True),
        sa.Column("fetch_ms", sa.Integer(), nullable=True),
        sa.Column("visited_at", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("page_id", "run_id", name=op.f("pk_visits")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_events_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_events")),
    )


def downgrade() -> None:
    op.drop_table("run_events")
    op.drop_table("visits")
    op.drop_table("runs")
    op.drop_table("root_state")
    with op.batch_alter_table("robots", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_robots_host_id"))

    op.drop_table("robots")
    op.drop_table("revisit")
    op.drop_table("page_fact")
    op.drop_table("page_depth")
    op.drop_table("page_address")
    with op.batch_alter_table("page", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_page_fetching",
            sqlite_where=sa.text("state = 'fetching'"),
            postgresql_where=sa.text("state = 'fetching'"),
        )

    op.drop_table("page")
    op.drop_table("origin")
    op.drop_table("meta")
    with op.batch_alter_table("link", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_link_redirect",
            sqlite_where=sa.text("kind = 0"),
            postgresql_where=sa.text("kind = 0"),
        )
        batch_op.drop_index(
            "ix_link_listed",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed = 1"),
        )

    op.drop_table("link")
    op.drop_table("host")
    op.drop_table("frontier_entry")
    op.drop_table("edge")
