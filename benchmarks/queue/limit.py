"""The physical limit: claim and completion as pgbench scripts on a table that has nothing else to do.

`pair` is what a correct, plain queue can reach: claim, commit, complete under a guard, commit. `batch`
completes 64 tasks and claims the next 64 in one statement and one commit.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from benchmarks import BenchmarkFailed
from benchmarks.queue.cluster import Cluster

DATABASE = "limit"
TASKS_A_COMMIT = {"pair": 1, "batch": 64}
ROWS_PER_SECOND = {"pair": 12_000, "batch": 200_000}  # far more than any disk and two processors get through

TABLE = """
    DROP TABLE IF EXISTS task;
    CREATE TABLE task (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state smallint NOT NULL DEFAULT 0,
        worker integer, attempts integer NOT NULL DEFAULT 0, payload bigint);
    CREATE INDEX task_ready ON task (id) WHERE state = 0;
"""
SCRIPTS = {
    "pair": r"""
UPDATE task SET state = 1, worker = :client_id, attempts = attempts + 1
 WHERE id = (SELECT id FROM task WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, attempts \gset
UPDATE task SET state = 2
 WHERE id = :id AND worker = :client_id AND attempts = :attempts AND state = 1;
""",
    # The numbers in hand travel through a variable, as the text of an array.
    "batch": r"""
WITH finished AS (
    UPDATE task SET state = 2 WHERE id = ANY(:ids::bigint[]) AND worker = :client_id AND state = 1
), claimed AS (
    UPDATE task SET state = 1, worker = :client_id, attempts = attempts + 1
     WHERE id = ANY(ARRAY(
               SELECT id FROM task WHERE state = 0 ORDER BY id LIMIT 64 FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT coalesce(array_agg(id), '{}')::text AS ids FROM claimed \gset
""",
}


def tasks_per_second(cluster: Cluster, script: str, *, clients: int, seconds: int) -> float:
    """What `clients` connections get through, each claiming as soon as it has completed."""
    _refill(cluster, int(ROWS_PER_SECOND[script] * seconds))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.sql"
        path.write_text(SCRIPTS[script])
        options = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(seconds)]
        ended = subprocess.run(  # noqa: S603 - the wheel's own pgbench
            [*cluster.pgbench(), *options, "-D", "ids={}", "-f", str(path), DATABASE],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
            check=False,
        )
    found = re.search(r"tps = ([\d.]+)", ended.stdout)
    if ended.returncode or not found or "aborted" in ended.stderr:
        raise BenchmarkFailed(f"pgbench failed: {(ended.stdout + ended.stderr)[-500:]}")
    return float(found[1]) * TASKS_A_COMMIT[script]


def _refill(cluster: Cluster, rows: int) -> None:
    """A fresh table each time: the dead rows of the last measurement would slow this one."""
    with cluster.connect(DATABASE) as connection:
        connection.execute(TABLE)
        connection.execute("INSERT INTO task (payload) SELECT generate_series(1, %s)", [rows])
        connection.execute("VACUUM (ANALYZE) task")
    cluster.settle()
