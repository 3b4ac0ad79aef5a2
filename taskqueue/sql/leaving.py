"""How an attempt ends otherwise than done."""

from __future__ import annotations

# The turns of what has just left, free for others.
_FREE_TURNS = """freed AS (
        UPDATE queue_turn AS turn SET task_id = NULL
          FROM left_ WHERE turn.lane = left_.lane AND turn.task_id = left_.id
    )"""

# The claim ends as `status`, or as cancelled when somebody asked for that meanwhile: only work that is done
# wins over a request to cancel. An attempt given back spends no retry. No row: the claim is lost. Keys of a
# schedule's cycle stay until the cycle is over, others end with the task. Index: the primary key.
LEAVE = f"""
    WITH held AS MATERIALIZED (
        SELECT id, CASE WHEN cancel_requested_at IS NULL OR %(status)s = 'done'
                        THEN %(status)s ELSE 'cancelled' END AS next,
               coalesce(%(until)s::timestamptz,
                        statement_timestamp() + make_interval(secs => %(wait)s::float), not_before) AS due
          FROM queue_task
         WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
           FOR NO KEY UPDATE
    ), left_ AS (
        UPDATE queue_task AS task
           SET status = held.next, worker = '', note = %(note)s, result = %(result)s::jsonb,
               error = CASE WHEN held.next = 'done' THEN '' ELSE error END,
               resumes = resumes + %(given_back)s,
               not_before = held.due,
               position = CASE WHEN held.next IN ('pending', 'awaiting_batch')
                                    AND held.due <= statement_timestamp()
                               THEN held.due + make_interval(secs => 6 * priority) END,
               finished_at = CASE WHEN held.next IN ('done', 'cancelled') THEN statement_timestamp() END,
               key_until = CASE WHEN held.next NOT IN ('done', 'cancelled')
                                     OR key_until > statement_timestamp() THEN key_until END
          FROM held
         WHERE task.id = held.id
     RETURNING task.id, task.lane, task.status, task.position
    ), {_FREE_TURNS}
    SELECT status, CASE WHEN position IS NOT NULL THEN pg_notify('queue', '') END FROM left_
"""

# What becomes of a failed attempt (Q8), whoever reports it: pending again after an exponential wait with
# full jitter while retries are left, else failed. The payload stays, and with it whatever was bought.
# `{{failed}}` is one of the selections below. What waits has no position: PROMOTE gives it one.
FAIL_ATTEMPTS = f"""
    WITH failed AS MATERIALIZED ({{failed}}),
    left_ AS (
        UPDATE queue_task AS task
           SET status = failed.next, worker = '', error = failed.error,
               errors = errors || jsonb_build_array(jsonb_build_object(
                   'attempt', attempts, 'at', statement_timestamp(), 'worker', worker,
                   'error', failed.error || failed.detail)),
               not_before = CASE
                   WHEN failed.next <> 'pending' THEN not_before
                   ELSE statement_timestamp() + make_interval(secs => coalesce(
                            failed.wait,
                            random() * least(3600, 10 * 2 ^ least(attempts - resumes - 1, 12)))) END,
               finished_at = CASE WHEN failed.next <> 'pending' THEN statement_timestamp() END,
               key_until = CASE WHEN failed.next = 'pending' OR key_until > statement_timestamp()
                                THEN key_until END
          FROM failed
         WHERE task.id = failed.id
     RETURNING task.id, task.lane, task.status
    ), {_FREE_TURNS}
    SELECT id, status FROM left_
"""

# One attempt, reported by its own worker. FOR UPDATE waits for a transaction that holds the claim: a COMMIT
# that was sent before the connection broke may still be on its way, and must not arrive after the claim's
# end. No row: the claim is lost. Index: the primary key.
OWN_ATTEMPT = """
        SELECT id, %(error)s AS error, %(detail)s AS detail, %(wait)s::float AS wait,
               CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
                    WHEN %(may_retry)s AND attempts - resumes < max_attempts THEN 'pending'
                    ELSE 'failed' END AS next
          FROM queue_task
         WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
           FOR UPDATE
"""

# Whatever this worker's sessions have open: one of them holds the claim of an attempt that has failed. The
# server's side of a broken connection may live for hours, and so may a thread that the handler started; a
# COMMIT that is still on its way comes too late.
CUT_LEFT_OPEN = """
    SELECT pg_terminate_backend(pid, 1000)
      FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user
       AND application_name = %(session)s AND xact_start IS NOT NULL
"""

# Workers whose lease is over are lost, for good: a heartbeat that was under way finds `lost_at`. Found by
# any worker; one that is beating just now is stepped over. Returned with those that were lost before and
# still have something in hand: who found them may have died before it cut their sessions.
LOSE_WORKERS = """
    WITH found AS (
        UPDATE queue_worker
           SET lost_at = statement_timestamp()
         WHERE id = ANY(ARRAY(
                   SELECT id FROM queue_worker
                    WHERE lost_at IS NULL AND lease_expires_at <= statement_timestamp()
                      FOR UPDATE SKIP LOCKED))
     RETURNING name
    )
    SELECT name FROM found
    UNION
    SELECT task.worker
      FROM queue_task AS task JOIN queue_worker AS known ON known.name = task.worker
     WHERE task.status = 'running' AND known.lost_at IS NOT NULL
"""

# The sessions of lost workers end, and with them the transactions in which a frozen one holds its claim. A
# second (the argument is in milliseconds) is enough for that, so that the claim can be taken back at once.
CUT_SESSIONS = """
    SELECT pg_terminate_backend(pid, 1000)
      FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user
       AND application_name = ANY(%(sessions)s::text[])
"""

# The claims of workers that were lost or that nobody knows (Q9), whatever kinds this worker runs. One that
# is held or being written just now is stepped over. Joined by generation: of a row that has changed since the
# first look, NOT EXISTS would be asked again without looking at the workers again, and hold for any worker.
# Index: queue_task_in_hand.
LOST_ATTEMPTS = """
        WITH orphan AS MATERIALIZED (
            SELECT id, worker, attempts
              FROM queue_task AS task
             WHERE status = 'running'
               AND NOT EXISTS (SELECT FROM queue_worker WHERE name = task.worker AND lost_at IS NULL)
        )
        SELECT task.id, 'the worker was lost: its lease ended without an answer' AS error, '' AS detail,
               NULL::float AS wait,
               CASE WHEN task.cancel_requested_at IS NOT NULL THEN 'cancelled'
                    WHEN task.attempts - task.resumes < task.max_attempts THEN 'pending'
                    ELSE 'failed' END AS next
          FROM orphan JOIN queue_task AS task USING (id, worker, attempts)
         WHERE task.status = 'running'
           FOR UPDATE OF task SKIP LOCKED
"""

# What runs in this worker's name and is not in its hands: the answer to the claim never arrived. Cancelled
# if somebody asked for that meanwhile.
GIVE_BACK_UNKNOWN = f"""
    WITH unknown AS MATERIALIZED (
        SELECT id, CASE WHEN cancel_requested_at IS NULL THEN 'pending' ELSE 'cancelled' END AS next
          FROM queue_task
         WHERE worker = %(worker)s AND status = 'running' AND id <> ALL(%(in_hand)s::bigint[])
           FOR NO KEY UPDATE
    ), left_ AS (
        UPDATE queue_task AS task
           SET status = unknown.next, worker = '', resumes = resumes + 1,
               note = CASE WHEN unknown.next = 'pending'
                           THEN 'given back: the worker never heard that it had it' ELSE '' END,
               position = CASE WHEN unknown.next = 'pending'
                               THEN not_before + make_interval(secs => 6 * priority) END,
               finished_at = CASE WHEN unknown.next = 'cancelled' THEN statement_timestamp() END,
               key_until = CASE WHEN unknown.next = 'pending' OR key_until > statement_timestamp()
                                THEN key_until END
          FROM unknown
         WHERE task.id = unknown.id
     RETURNING task.id, task.lane, task.status
    ), {_FREE_TURNS}
    SELECT id, status, pg_notify('queue', '') FROM left_
"""

# Turns whose task does not run: of a row that was deleted or changed by hand. Joined by task: one that was
# freed and taken meanwhile is the other task's.
FREE_TURNS = """
    WITH stale AS MATERIALIZED (
        SELECT id, task_id
          FROM queue_turn AS turn
         WHERE task_id IS NOT NULL
           AND NOT EXISTS (SELECT FROM queue_task WHERE id = turn.task_id AND status = 'running')
    )
    UPDATE queue_turn AS turn
       SET task_id = NULL
      FROM stale
     WHERE turn.id = stale.id AND turn.task_id = stale.task_id
"""
