"""The task queue beside its peers and beside what PostgreSQL itself can do."""
