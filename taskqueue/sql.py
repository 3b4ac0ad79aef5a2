"""Statements that the ORM cannot say.

The clock is statement_timestamp(), which is also Django's Now(): in a long transaction now() stands still.
A row that several statements may change is locked FOR NO KEY UPDATE, which a held claim (HOLD_CLAIM) lets
pass; only the reaper and the ending of parents lock FOR UPDATE, which it does not.
"""

from __future__ import annotations

WAKE_CHANNEL = "queue"  # something may be claimable
CANCEL_CHANNEL = "queue_cancel"  # something that runs is to stop

# One row per key (Q1): a competing insert waits for the other transaction's end, then yields to its row or,
# after a rollback, takes its place. Touches no row that others use. The notification leaves with the
# caller's commit. Index: queue_task_key_once.
ENQUEUE = """
    WITH inserted AS (
        INSERT INTO queue_task
               (kind, subject, payload, dedupe_key, parent_id, account, host, priority, not_before)
        VALUES (%(kind)s, %(subject)s, %(payload)s::jsonb, %(key)s, %(parent)s, %(account)s, %(host)s,
                %(priority)s, coalesce(%(not_before)s::timestamptz, statement_timestamp()))
        ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
     RETURNING id
    )
    SELECT id, pg_notify('queue', '') FROM inserted
"""

# Children are one with their parent, kind and payload, so that a handler which splits a second time adds
# only what is missing. The parent's claim is held: nobody else adds children meanwhile. Index:
# queue_task_children.
ENQUEUE_CHILDREN = """
    WITH inserted AS (
        INSERT INTO queue_task (kind, subject, payload, parent_id, account, host, priority)
        SELECT DISTINCT %(kind)s, %(subject)s, wanted.payload, parent.id, parent.account, %(host)s,
               coalesce(%(priority)s::smallint, parent.priority)
          FROM queue_task AS parent, jsonb_array_elements(%(payloads)s::jsonb) AS wanted(payload)
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
# is enough. Rows go in by subject: two workers in different orders would wait for each other's keys.
# `{due}` is the schedule's own query. Indexes: queue_task_key_once, queue_task_in_flight.
ENQUEUE_DUE = """
    WITH due(subject, payload, host, period) AS ({due}),
    shifted AS (
        SELECT subject, payload, host, period,
               mod(('x' || left(md5(%s || ':' || subject), 8))::bit(32)::bigint, period) AS shift
          FROM (SELECT subject, payload, host, greatest(period, 1)::bigint AS period FROM due) AS positive
    ), numbered AS (
        SELECT *, floor((extract(epoch FROM statement_timestamp()) + shift) / period)::bigint AS cycle
          FROM shifted
    ), inserted AS (
        INSERT INTO queue_task (kind, subject, payload, host, dedupe_key, key_until)
        SELECT %s, subject, payload::jsonb, host, %s || ':' || subject || ':' || cycle,
               to_timestamp((cycle + 1) * period - shift)
          FROM numbered
         WHERE NOT EXISTS (
                   SELECT FROM queue_task AS waiting
                    WHERE waiting.kind = %s AND waiting.subject = numbered.subject
                      AND waiting.status = 'pending')
         ORDER BY subject
        ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
     RETURNING id
    )
    SELECT id, pg_notify('queue', '') FROM inserted
"""

# The query of a schedule with one fixed row.
ONE_DUE = "SELECT %s::text, %s::jsonb, %s::text, %s::bigint"

# Hand one claimable task to one worker: chosen and marked running in one statement (Q3). SKIP LOCKED steps
# over rows that another worker is choosing. `attempts` is the claim's generation (Q5). MATERIALIZED keeps
# the LIMIT out of the join, where it could run more than once. The release that runs the task decides how
# often it may fail. `{claimable}` is Task.objects.claimable in claim order, one row. Index:
# queue_task_claimable.
CLAIM_TASK = """
    WITH candidate(id) AS MATERIALIZED ({claimable} FOR UPDATE SKIP LOCKED)
    UPDATE queue_task AS task
       SET status = 'running', worker = %s, attempts = task.attempts + 1,
           lease_expires_at = statement_timestamp() + make_interval(secs => %s),
           max_attempts = (%s::jsonb ->> task.kind)::integer, release = %s,
           started_at = statement_timestamp()
      FROM candidate
     WHERE task.id = candidate.id
    RETURNING task.*
"""

# Extend a lease that has not ended, and only that: a claim declared lost stays lost (Q6). Carries the
# progress, whose time moves only when its value does (Q7). No row: the claim is lost. Index: the primary
# key.
BEAT = """
    UPDATE queue_task
       SET lease_expires_at = statement_timestamp() + make_interval(secs => %(lease)s),
           progress = coalesce(%(progress)s::jsonb, progress),
           progress_at = CASE WHEN coalesce(%(progress)s::jsonb, progress) IS DISTINCT FROM progress
                              THEN statement_timestamp() ELSE progress_at END
     WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
       AND lease_expires_at > statement_timestamp()
    RETURNING cancel_requested_at IS NOT NULL
"""

# Keep the claim while this transaction lasts. FOR KEY SHARE lets the heartbeat's update pass, and makes the
# reaper's FOR UPDATE SKIP LOCKED step over the row. No row: the claim is lost. Index: the primary key.
HOLD_CLAIM = """
    SELECT id
      FROM queue_task
     WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
       FOR KEY SHARE
"""

# The claim ends as `status`, or as cancelled when somebody asked for that meanwhile: only work that is done
# wins over a request to cancel. An attempt given back spends no retry. No row: the claim is lost. Keys of a
# schedule's cycle stay until the cycle is over, others end with the task. Index: the primary key.
LEAVE = """
    WITH held AS MATERIALIZED (
        SELECT id, CASE WHEN cancel_requested_at IS NULL OR %(status)s = 'done'
                        THEN %(status)s ELSE 'cancelled' END AS next
          FROM queue_task
         WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
           FOR NO KEY UPDATE
    )
    UPDATE queue_task AS task
       SET status = held.next, worker = '', lease_expires_at = NULL, note = %(note)s,
           error = CASE WHEN held.next = 'done' THEN '' ELSE error END,
           resumes = resumes + %(given_back)s,
           not_before = coalesce(%(not_before)s::timestamptz, not_before),
           finished_at = CASE WHEN held.next IN ('done', 'cancelled') THEN statement_timestamp() END,
           dedupe_key = CASE WHEN held.next NOT IN ('done', 'cancelled') OR key_until > statement_timestamp()
                             THEN dedupe_key END,
           key_until = CASE WHEN held.next NOT IN ('done', 'cancelled') OR key_until > statement_timestamp()
                            THEN key_until END
      FROM held
     WHERE task.id = held.id
    RETURNING task.status
"""

# What becomes of a failed attempt (Q8), whoever reports it: pending again after an exponential wait with
# full jitter while retries are left, else failed. The payload stays, and with it whatever was bought.
# `{failed}` is one of the two selections below.
FAIL_ATTEMPTS = """
    WITH failed AS MATERIALIZED ({failed})
    UPDATE queue_task AS task
       SET status = failed.next, worker = '', lease_expires_at = NULL, error = failed.error,
           errors = errors || jsonb_build_array(jsonb_build_object(
               'attempt', attempts, 'at', statement_timestamp(), 'worker', worker,
               'error', failed.error || failed.detail)),
           not_before = CASE
               WHEN failed.next <> 'pending' THEN not_before
               ELSE statement_timestamp() + make_interval(secs => coalesce(
                        failed.wait,
                        random() * least(3600, 10 * 2 ^ least(attempts - resumes - 1, 12)))) END,
           finished_at = CASE WHEN failed.next <> 'pending' THEN statement_timestamp() END,
           dedupe_key = CASE WHEN failed.next = 'pending' OR key_until > statement_timestamp()
                             THEN dedupe_key END,
           key_until = CASE WHEN failed.next = 'pending' OR key_until > statement_timestamp()
                            THEN key_until END
      FROM failed
     WHERE task.id = failed.id
    RETURNING task.id, task.status
"""

# One attempt, reported by its own worker. No row: the claim is lost. Index: the primary key.
OWN_ATTEMPT = """
        SELECT id, %(error)s AS error, %(detail)s AS detail, %(wait)s::float AS wait,
               CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
                    WHEN %(may_retry)s AND attempts - resumes < max_attempts THEN 'pending'
                    ELSE 'failed' END AS next
          FROM queue_task
         WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
           FOR NO KEY UPDATE
"""

# The claims of workers that died (Q9), found by any worker, whatever kinds it runs. One that is held or
# being written just now is stepped over. Index: queue_task_leases.
LOST_ATTEMPTS = """
        SELECT id, 'the worker was lost: its lease ended without an answer' AS error, '' AS detail,
               NULL::float AS wait,
               CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
                    WHEN attempts - resumes < max_attempts THEN 'pending'
                    ELSE 'failed' END AS next
          FROM queue_task
         WHERE status = 'running' AND lease_expires_at <= statement_timestamp()
           FOR UPDATE SKIP LOCKED
"""

# The task and its descendants: what waits ends, what runs is flagged. Locked parents first. Run until it
# changes nothing: a parent may be adding children that the first snapshot did not see. Index:
# queue_task_children.
CANCEL_FAMILY = """
    WITH RECURSIVE family AS (
        SELECT id FROM queue_task WHERE id = %(task)s
        UNION ALL
        SELECT child.id FROM queue_task AS child JOIN family ON child.parent_id = family.id
    ), locked AS MATERIALIZED (
        SELECT task.id
          FROM queue_task AS task
         WHERE task.id IN (SELECT id FROM family)
           AND task.status IN ('pending', 'awaiting_batch', 'waiting', 'running')
         ORDER BY task.id
           FOR NO KEY UPDATE
    ), changed AS (
        UPDATE queue_task AS task
           SET cancel_requested_at = statement_timestamp(),
               status = CASE task.status WHEN 'running' THEN 'running' ELSE 'cancelled' END,
               finished_at = CASE WHEN task.status <> 'running' THEN statement_timestamp() END,
               dedupe_key = CASE WHEN task.status = 'running' OR key_until > statement_timestamp()
                                 THEN dedupe_key END,
               key_until = CASE WHEN task.status = 'running' OR key_until > statement_timestamp()
                                THEN key_until END
          FROM locked
         WHERE task.id = locked.id
           AND (task.status IN ('pending', 'awaiting_batch', 'waiting')
                OR task.status = 'running' AND task.cancel_requested_at IS NULL)
     RETURNING task.id
    )
    SELECT id, pg_notify('queue_cancel', '') FROM changed
"""

# A failed or cancelled task and its failed or cancelled descendants are pending again. The whole family and
# the task's parent are locked, parents first: END_PARENTS takes the same locks before it looks at the
# children. Index: queue_task_children.
RETRY_FAMILY = """
    WITH RECURSIVE family AS (
        SELECT id, parent_id FROM queue_task WHERE id = %(task)s AND status IN ('failed', 'cancelled')
        UNION ALL
        SELECT child.id, child.parent_id
          FROM queue_task AS child JOIN family ON child.parent_id = family.id
    ), locked AS MATERIALIZED (
        SELECT task.id
          FROM queue_task AS task
         WHERE task.id IN (SELECT id FROM family UNION SELECT parent_id FROM family)
         ORDER BY task.id
           FOR NO KEY UPDATE
    ), changed AS (
        UPDATE queue_task AS task
           SET status = 'pending', resumes = attempts, not_before = statement_timestamp(),
               cancel_requested_at = NULL, finished_at = NULL, error = '', note = ''
          FROM locked
         WHERE task.id = locked.id AND task.id IN (SELECT id FROM family)
           AND task.status IN ('failed', 'cancelled')
     RETURNING task.id
    )
    SELECT id, pg_notify('queue', '') FROM changed
"""

# Of the locked parents, show the sum of the children's progress, and end those with no live child (Q11):
# failed with the first failed child's name, else done. A child that said nothing counts as one unit. Index:
# queue_task_children.
END_PARENTS = """
    WITH counted AS (
        SELECT parent.id,
               count(*) FILTER (WHERE child.status IN ('pending', 'awaiting_batch', 'running', 'waiting'))
                   AS live,
               count(*) FILTER (WHERE child.status = 'failed') AS failed,
               count(*) FILTER (WHERE child.status = 'cancelled') AS cancelled,
               (array_agg('task ' || child.id || ' (' || child.kind || ') failed: ' || child.error
                          ORDER BY child.id)
                   FILTER (WHERE child.status = 'failed'))[1] AS first_failed,
               jsonb_build_object('note', '', 'done', coalesce(sum(unit.done), 0),
                                  'total', coalesce(sum(greatest(unit.total, unit.done)), 0)) AS progress
          FROM queue_task AS parent
          LEFT JOIN queue_task AS child ON child.parent_id = parent.id
          LEFT JOIN LATERAL (
                   SELECT coalesce((child.progress ->> 'total')::numeric, 1) AS total,
                          CASE child.status
                              WHEN 'done' THEN coalesce((child.progress ->> 'total')::numeric,
                                                        (child.progress ->> 'done')::numeric, 1)
                              ELSE coalesce((child.progress ->> 'done')::numeric, 0) END AS done
               ) AS unit ON child.id IS NOT NULL
         WHERE parent.id = ANY(%(parents)s)
         GROUP BY parent.id
    )
    UPDATE queue_task AS parent
       SET progress = counted.progress,
           progress_at = CASE WHEN parent.progress IS DISTINCT FROM counted.progress
                              THEN statement_timestamp() ELSE parent.progress_at END,
           status = CASE WHEN counted.live > 0 THEN 'waiting' WHEN counted.failed > 0 THEN 'failed'
                         ELSE 'done' END,
           error = CASE WHEN counted.live = 0 AND counted.failed > 0
                        THEN counted.failed || ' of its children failed; ' || counted.first_failed
                        ELSE '' END,
           note = CASE WHEN counted.live = 0 AND counted.cancelled > 0
                       THEN counted.cancelled || ' of its children were cancelled' ELSE parent.note END,
           finished_at = CASE WHEN counted.live = 0 THEN statement_timestamp() END,
           dedupe_key = CASE WHEN counted.live > 0 OR parent.key_until > statement_timestamp()
                             THEN parent.dedupe_key END,
           key_until = CASE WHEN counted.live > 0 OR parent.key_until > statement_timestamp()
                            THEN parent.key_until END
      FROM counted
     WHERE parent.id = counted.id AND parent.status = 'waiting'
       AND (counted.live = 0 OR parent.progress IS DISTINCT FROM counted.progress)
    RETURNING parent.id, parent.status
"""

# Keys of cycles that are over. Index: queue_task_kept_keys.
FREE_KEYS = """
    UPDATE queue_task
       SET dedupe_key = NULL, key_until = NULL
     WHERE id = ANY(ARRAY(
               SELECT id
                 FROM queue_task
                WHERE key_until <= statement_timestamp() AND finished_at IS NOT NULL
                LIMIT %(most)s
                  FOR UPDATE SKIP LOCKED))
"""

# Whole families whose last member ended before the retention, oldest first: a relative that is unfinished,
# or whose key is still kept, keeps all of them. Foreign keys are checked at the end of the statement.
# Indexes: queue_task_finished_roots, queue_task_children.
PRUNE = """
    WITH RECURSIVE root AS MATERIALIZED (
        SELECT id
          FROM queue_task
         WHERE parent_id IS NULL AND key_until IS NULL
           AND finished_at < statement_timestamp() - make_interval(days => %(days)s)
         ORDER BY finished_at
         LIMIT %(most)s
           FOR UPDATE SKIP LOCKED
    ), family AS (
        SELECT id AS root_id, id FROM root
        UNION ALL
        SELECT family.root_id, child.id FROM queue_task AS child JOIN family ON child.parent_id = family.id
    ), kept AS (
        SELECT DISTINCT family.root_id
          FROM family JOIN queue_task AS task USING (id)
         WHERE task.finished_at IS NULL OR task.key_until IS NOT NULL
            OR task.finished_at >= statement_timestamp() - make_interval(days => %(days)s)
    )
    DELETE FROM queue_task
     WHERE id IN (SELECT id FROM family WHERE root_id NOT IN (SELECT root_id FROM kept))
"""

# Say that this worker lives and what it runs; its row comes back if retention took it.
SEE_WORKER = """
    INSERT INTO queue_worker AS worker
           (name, task_id, kinds, release, image_digest, hostname, pid)
    VALUES (%(name)s, %(task)s, %(kinds)s, %(release)s, %(image_digest)s, %(hostname)s, %(pid)s)
    ON CONFLICT (name) DO UPDATE
       SET last_seen_at = statement_timestamp(), task_id = excluded.task_id
"""

# The next slot of a host for one request, and the seconds until then; no row when it is too far away (A6).
TAKE_SLOT = """
    INSERT INTO queue_hostbudget AS budget (host, egress, pace_seconds, next_slot_at)
    VALUES (%(host)s, %(egress)s, %(pace)s, statement_timestamp() + make_interval(secs => %(pace)s))
    ON CONFLICT (host, egress) DO UPDATE
       SET next_slot_at = greatest(budget.next_slot_at, statement_timestamp())
                          + make_interval(secs => budget.pace_seconds)
     WHERE budget.next_slot_at <= statement_timestamp() + make_interval(secs => %(limit)s)
    RETURNING extract(epoch FROM next_slot_at - statement_timestamp()) - pace_seconds
"""

# Half as fast from now on, and closed for a while.
REFUSE_HOST = """
    INSERT INTO queue_hostbudget AS budget (host, egress, pace_seconds, next_slot_at, refused)
    VALUES (%(host)s, %(egress)s, 2 * %(pace)s, statement_timestamp() + make_interval(secs => %(seconds)s), 1)
    ON CONFLICT (host, egress) DO UPDATE
       SET pace_seconds = least(2 * budget.pace_seconds, budget.ceiling),
           next_slot_at = greatest(budget.next_slot_at, excluded.next_slot_at),
           refused = budget.refused + 1
"""

# A tenth faster, down to the floor; at the floor no row is written.
ACCEPT_HOST = """
    UPDATE queue_hostbudget
       SET pace_seconds = greatest(0.9 * pace_seconds, floor), accepted = accepted + 1
     WHERE host = %(host)s AND egress = %(egress)s AND pace_seconds > floor
"""
