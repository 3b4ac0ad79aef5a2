"""Tasks and schedules, queued."""

from __future__ import annotations

# The place in line of what is due by now; NULL for what is not: PROMOTE gives it one in time.
_POSITION = """CASE WHEN {due} <= statement_timestamp()
                     THEN {due} + make_interval(secs => 6 * {priority}) END"""

# What of the keys is taken (queue_task_key_once).
HELD_KEYS = "(dedupe_key) WHERE dedupe_key IS NOT NULL AND (finished_at IS NULL OR key_until IS NOT NULL)"

# One row per key (Q1): a competing insert waits for the other transaction's end, then yields to its row or,
# after a rollback, takes its place. Touches no row that others use. The notifications leave with the
# caller's commit; `wake` is false for the next of a quick series. Index: queue_task_key_once.
ENQUEUE = f"""
    INSERT INTO queue_task
           (kind, subject, payload, dedupe_key, parent_id, account, host, priority, not_before, position)
    SELECT %(kind)s, %(subject)s, %(payload)s::jsonb, %(key)s, %(parent)s::bigint, %(account)s, %(host)s,
           %(priority)s::smallint, due, {_POSITION.format(due="due", priority="%(priority)s::smallint")}
      FROM coalesce(%(not_before)s::timestamptz, statement_timestamp()) AS due
    ON CONFLICT {HELD_KEYS} DO NOTHING
 RETURNING id, CASE WHEN %(wake)s THEN pg_notify('queue', '') END,
           CASE WHEN account <> '' OR subject <> '' THEN pg_notify('queue_changed', id::text) END
"""

# Many that have keys, in the order of the keys: two producers in different orders would wait for each other.
ENQUEUE_KEYED = f"""
    WITH inserted AS (
        INSERT INTO queue_task
               (kind, subject, payload, dedupe_key, account, host, priority, not_before, position)
        SELECT %(kind)s, subject, payload, key, account, host, %(priority)s, %(due)s, %(position)s
          FROM unnest(%(payloads)s::jsonb[], %(subjects)s::text[], %(keys)s::text[], %(accounts)s::text[],
                      %(hosts)s::text[]) AS given(payload, subject, key, account, host)
         ORDER BY key COLLATE "C"
        ON CONFLICT {HELD_KEYS} DO NOTHING
     RETURNING 1
    )
    SELECT count(*) FROM inserted
"""

# Many without keys: there is nothing to look up, and COPY is the shortest way in.
COPY_TASKS = """
    COPY queue_task (kind, subject, payload, account, host, priority, not_before, position) FROM STDIN
"""

# When all of them are due and where that puts them in line. One notification, which leaves with the commit.
DUE_NOW = """
    SELECT statement_timestamp(), statement_timestamp() + make_interval(secs => 6 * %(priority)s::smallint),
           pg_notify('queue', '')
"""

# What has become due joins its line, as of when it was due. Any worker's tick; one that another is
# promoting is stepped over. Index: queue_task_not_due.
PROMOTE = f"""
    WITH due AS MATERIALIZED (
        SELECT id
          FROM queue_task
         WHERE position IS NULL AND status IN ('pending', 'awaiting_batch')
           AND not_before <= statement_timestamp()
         ORDER BY not_before
         LIMIT %(most)s
           FOR NO KEY UPDATE SKIP LOCKED
    ), promoted AS (
        UPDATE queue_task AS task
           SET position = {_POSITION.format(due="task.not_before", priority="task.priority")}
          FROM due
         WHERE task.id = due.id
     RETURNING task.id
    )
    SELECT count(*), CASE WHEN count(*) > 0 THEN pg_notify('queue', '') END FROM promoted
"""

# Children are one with their parent, kind and payload, so that a handler which splits a second time adds
# only what is missing. The parent's claim is held: nobody else adds children meanwhile. Index:
# queue_task_children.
ENQUEUE_CHILDREN = f"""
    WITH inserted AS (
        INSERT INTO queue_task (kind, subject, payload, parent_id, account, host, priority, position)
        SELECT DISTINCT %(kind)s, %(subject)s, wanted.payload, parent.id, parent.account, %(host)s,
               chosen.priority, {_POSITION.format(due="statement_timestamp()", priority="chosen.priority")}
          FROM queue_task AS parent
         CROSS JOIN LATERAL coalesce(%(priority)s::smallint, parent.priority) AS chosen(priority)
         CROSS JOIN jsonb_array_elements(%(payloads)s::jsonb) AS wanted(payload)
         WHERE parent.id = %(parent)s
           AND NOT EXISTS (
                   SELECT FROM queue_task AS child
                    WHERE child.parent_id = %(parent)s AND child.kind = %(kind)s
                      AND child.payload = wanted.payload)
     RETURNING id
    )
    SELECT id, pg_notify('queue', '') FROM inserted
"""

# One task for each subject and cycle (Q2), whoever asks: the key names the cycle and outlives the task
# until the cycle is over. A subject's cycles begin at its own moment of the period, drawn from its name, so
# that subjects of one period do not fall due together. A pending task of the subject, whatever queued it,
# is enough, and so is one that somebody queued by hand until it ends. Rows go in by subject: two workers in
# different orders would wait for each other's keys. `{due}` is the schedule's own query. Indexes:
# queue_task_key_once, queue_task_in_flight.
ENQUEUE_DUE = """
    WITH due(subject, payload, host, period) AS ({due}),
    shifted AS (
        SELECT subject, payload, host, period,
               mod(('x' || left(md5(%s || ':' || subject), 8))::bit(32)::bigint, period) AS shift
          FROM (SELECT subject, payload, host,
                       least(greatest(period, 1), 3660 * 86400)::bigint AS period FROM due) AS sensible
    ), numbered AS (
        SELECT *, floor((extract(epoch FROM statement_timestamp()) + shift) / period)::bigint AS cycle
          FROM shifted
    ), inserted AS (
        INSERT INTO queue_task (kind, subject, payload, host, dedupe_key, key_until, position)
        SELECT %s, subject, payload::jsonb, host, %s || ':' || subject || ':' || cycle,
               to_timestamp((cycle + 1) * period - shift),
               statement_timestamp() + make_interval(secs => 6 * 50)
          FROM numbered
         WHERE NOT EXISTS (
                   SELECT FROM queue_task AS waiting
                    WHERE waiting.kind = %s AND waiting.subject = numbered.subject
                      AND waiting.status IN ('pending', 'running', 'awaiting_batch', 'waiting')
                      AND (waiting.status = 'pending' OR waiting.key_until IS NULL))
         ORDER BY subject
        ON CONFLICT {held_keys} DO NOTHING
     RETURNING id
    )
    SELECT id, pg_notify('queue', '') FROM inserted
"""

# The query of a schedule with one fixed row.
ONE_DUE = "SELECT %s::text, %s::jsonb, %s::text, %s::bigint"
