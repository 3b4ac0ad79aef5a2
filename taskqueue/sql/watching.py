"""What the console and the metrics show. Unfinished rows and the failures of an hour, never what is done."""

from __future__ import annotations

# Of each kind, how much is in which state, and the oldest moment that matters in it: since when it is due,
# when it will be, when it began, when it failed. Each part is one partial index: queue_task_open_line,
# queue_task_lanes, queue_task_not_due, queue_task_in_hand, queue_task_waiting, queue_failed.
KINDS = """
    SELECT kind, 'in_line', count(*), min(not_before)
      FROM queue_task WHERE position IS NOT NULL AND lane = '' GROUP BY kind
    UNION ALL
    SELECT kind, 'in_line', count(*), min(not_before)
      FROM queue_task WHERE position IS NOT NULL AND lane <> '' GROUP BY kind
    UNION ALL
    SELECT kind, CASE status WHEN 'pending' THEN 'not_due' ELSE status END, count(*), min(not_before)
      FROM queue_task
     WHERE position IS NULL AND status IN ('pending', 'awaiting_batch') GROUP BY kind, status
    UNION ALL
    SELECT kind, 'running', count(*), min(started_at) FROM queue_task WHERE status = 'running' GROUP BY kind
    UNION ALL
    SELECT kind, 'waiting', count(*), min(started_at) FROM queue_task WHERE status = 'waiting' GROUP BY kind
    UNION ALL
    SELECT kind, 'failed', count(*), min(finished_at)
      FROM queue_task
     WHERE status = 'failed' AND finished_at > statement_timestamp() - interval '1 hour' GROUP BY kind
"""

# The lanes in which most waits, with their turns that are taken. Indexes: queue_task_lanes, queue_turn_once.
LANES = """
    SELECT line.lane, line.count, line.oldest_at, turn.taken
      FROM (SELECT lane, count(*) AS count, min(not_before) AS oldest_at
              FROM queue_task
             WHERE position IS NOT NULL AND lane <> ''
             GROUP BY lane ORDER BY count(*) DESC, lane LIMIT %(most)s) AS line
     CROSS JOIN LATERAL (
              SELECT count(*) AS taken FROM queue_turn WHERE lane = line.lane AND task_id IS NOT NULL) AS turn
     ORDER BY line.count DESC, line.lane
"""

# Taken by whoever comes first in the minute: for others the WHERE is false before anything is counted. The
# reaper may have made the row.
SAMPLE = """
    INSERT INTO queue_sample AS sample
           (at, depth, oldest_seconds, running, not_due, awaiting_batch, waiting, failed, workers)
    SELECT date_bin('1 minute', statement_timestamp(), '2000-01-01 00:00Z'), line.depth,
           coalesce(extract(epoch FROM statement_timestamp() - line.oldest_at), 0),
           (SELECT count(*) FROM queue_task WHERE status = 'running'),
           parked.not_due, parked.awaiting_batch,
           (SELECT count(*) FROM queue_task WHERE status = 'waiting'),
           (SELECT count(*) FROM queue_task
             WHERE status = 'failed' AND finished_at > statement_timestamp() - interval '1 minute'),
           (SELECT count(*) FROM queue_worker
             WHERE lost_at IS NULL AND lease_expires_at > statement_timestamp())
      FROM (SELECT sum(count) AS depth, min(oldest_at) AS oldest_at
              FROM (SELECT count(*), min(not_before) AS oldest_at
                      FROM queue_task WHERE position IS NOT NULL AND lane = ''
                    UNION ALL
                    SELECT count(*), min(not_before)
                      FROM queue_task WHERE position IS NOT NULL AND lane <> '') AS half) AS line
     CROSS JOIN (
            SELECT count(*) FILTER (WHERE status = 'pending') AS not_due,
                   count(*) FILTER (WHERE status = 'awaiting_batch') AS awaiting_batch
              FROM queue_task WHERE position IS NULL AND status IN ('pending', 'awaiting_batch')) AS parked
     WHERE NOT EXISTS (
               SELECT FROM queue_sample
                WHERE at = date_bin('1 minute', statement_timestamp(), '2000-01-01 00:00Z')
                  AND depth IS NOT NULL)
    ON CONFLICT (at) DO UPDATE
       SET depth = excluded.depth, oldest_seconds = excluded.oldest_seconds, running = excluded.running,
           not_due = excluded.not_due, awaiting_batch = excluded.awaiting_batch, waiting = excluded.waiting,
           failed = excluded.failed, workers = excluded.workers
     WHERE sample.depth IS NULL
"""

# What the reaper found, added to the minute's sample.
NOTE_REAPED = """
    INSERT INTO queue_sample AS sample (at, reaped, lost)
    VALUES (date_bin('1 minute', statement_timestamp(), '2000-01-01 00:00Z'), %(reaped)s, %(lost)s)
    ON CONFLICT (at) DO UPDATE
       SET reaped = sample.reaped + excluded.reaped, lost = sample.lost + excluded.lost
"""

FORGET_SAMPLES = """
    DELETE FROM queue_sample WHERE at < statement_timestamp() - make_interval(days => %(days)s)
"""

# The samples since a moment in steps of equal length, each the worst of its minutes; failures add up.
HISTORY = """
    SELECT date_bin(%(step)s, at, %(since)s), max(depth), max(oldest_seconds), max(running), sum(failed)
      FROM queue_sample
     WHERE at >= %(since)s
     GROUP BY 1
     ORDER BY 1
"""

# What keeps vacuum from its work, and what it has left to do. Sessions of other roles show no times.
DATABASE = """
    SELECT coalesce(max(age(backend_xmin)), 0),
           coalesce(extract(epoch FROM statement_timestamp() - min(xact_start)), 0)
      FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
TABLES = """
    SELECT relname, n_dead_tup, n_live_tup
      FROM pg_stat_user_tables
     WHERE schemaname = current_schema() AND relname IN ('queue_task', 'queue_turn', 'queue_worker')
     ORDER BY relname
"""

# A task that may start later may start now, before all that nobody waits for. No row: it runs, has ended,
# waits for its children or is in that place already.
RUN_NOW = """
    WITH changed AS (
        UPDATE queue_task
           SET not_before = least(not_before, statement_timestamp()),
               priority = least(priority, %(urgent)s),
               position = least(not_before, statement_timestamp())
                          + make_interval(secs => 6 * least(priority, %(urgent)s))
         WHERE id = %(task)s AND status IN ('pending', 'awaiting_batch')
           AND (position IS NULL OR priority > %(urgent)s)
     RETURNING id
    )
    SELECT id, pg_notify('queue', ''), pg_notify('queue_changed', id::text) FROM changed
"""

# What ended in the last minute, children of other tasks left out. Index: queue_task_finished_roots.
ENDED = """
    SELECT kind, status, count(*)
      FROM queue_task
     WHERE parent_id IS NULL AND finished_at > statement_timestamp() - interval '1 minute'
     GROUP BY kind, status
"""
