"""The queries of the invariants. `id` is a task's, unless the words say otherwise.

A statement's rows carry the time at which it began, and it may act on what committed while it was on its way:
times of two sessions are compared with a quarter of a second of slack.
"""

from __future__ import annotations

# What the checks looked at.

ASKED = "SELECT count(*) FROM loadtest_asked"
TASKS = "SELECT count(*) FROM queue_task"
DONE = "SELECT count(*) FROM queue_task WHERE status = 'done'"
EFFECTS = "SELECT count(*) FROM loadtest_effect"
SUBMISSIONS = "SELECT count(*) FROM loadtest_submission"
STARTS = "SELECT count(*) FROM loadtest_start"
PROBES = "SELECT count(*) FROM loadtest_probe"
TOLD = "SELECT count(*) FROM queue_task WHERE status = 'done' AND kind <> 'load.split'"
TURNS = "SELECT count(*) FROM queue_turn"
TURNS_TAKEN = "SELECT count(*) FROM loadtest_start JOIN queue_task AS task ON id = task_id WHERE lane <> ''"
FAILED_BY_RETRIES = """
    SELECT count(*) FROM queue_task WHERE kind IN ('load.hopeless', 'load.poison') AND status = 'failed'
"""
PARENTS = "SELECT count(DISTINCT parent_id) FROM queue_task WHERE parent_id IS NOT NULL"
PARENTS_SPLIT = """
    SELECT count(*) FROM queue_task AS task
     WHERE kind = 'load.split' AND EXISTS (SELECT FROM loadtest_effect WHERE task_id = task.id)
"""
KEYED = "SELECT count(*) FROM loadtest_asked WHERE key IS NOT NULL"
ASKED_WITH_KEYS = KEYED
CYCLES = "SELECT count(*) FROM queue_task WHERE kind = %(cycle)s"
LOST_ATTEMPTS = "SELECT count(*) FROM loadtest_failed_attempt WHERE is_lost"
DEPLOYS = "SELECT count(*) FROM loadtest_deploy"
WORKERS = "SELECT count(DISTINCT worker) FROM loadtest_start"

# What broke them.

LOST = """
    SELECT asked.task_id,
           CASE WHEN task.id IS NULL THEN 'its row is gone'
                ELSE task.status || ' instead of ' || asked.ending || ': ' || task.error END
      FROM loadtest_asked AS asked LEFT JOIN queue_task AS task ON task.id = asked.task_id
     WHERE task.status IS NULL OR task.status <> ALL (string_to_array(asked.ending, ' or '))
     ORDER BY 1
"""

# Tasks of the schedule are queued until the last ticker goes; the last ones may wait.
UNENDED = """
    SELECT id, kind || ' is ' || status FROM queue_task
     WHERE finished_at IS NULL AND (kind <> %(cycle)s OR status = 'running')
     ORDER BY 1
"""

EFFECTS_TWICE = """
    SELECT task_id, 'effects of attempts ' || string_agg(attempt::text, ', ' ORDER BY at)
      FROM loadtest_effect GROUP BY task_id HAVING count(*) > 1 ORDER BY 1
"""

EFFECTS_MISSING = """
    SELECT id, kind FROM queue_task AS task
     WHERE status = 'done' AND NOT EXISTS (SELECT FROM loadtest_effect WHERE task_id = task.id)
     ORDER BY 1
"""

SUBMITTED_TWICE = """
    SELECT task_id, 'submitted by attempts ' || string_agg(attempt::text, ', ' ORDER BY at)
      FROM loadtest_submission GROUP BY task_id HAVING count(*) > 1 ORDER BY 1
"""

# Effects are stamped as they commit. The slack is for a COMMIT that a process had sent before it was killed.
STALE_EFFECTS = """
    SELECT written.task_id, 'attempt ' || written.attempt || ' wrote ' || written.at - passed.at || ' after'
      FROM (SELECT task_id, attempt, at FROM loadtest_effect
            UNION ALL SELECT task_id, attempt, at FROM loadtest_submission) AS written
      JOIN loadtest_over AS passed USING (task_id, attempt)
     WHERE passed.at < written.at - interval '0.25 seconds'
     ORDER BY 1
"""

STALE_ROWS = """
    SELECT id, 'attempt ' || attempts || ' shows ' || coalesce(result::text, 'nothing') || ', ' || note
      FROM queue_task
     WHERE status = 'done' AND kind <> 'load.split'
       AND ((result ->> 'attempt')::integer IS DISTINCT FROM attempts OR note <> 'attempt ' || attempts)
     ORDER BY 1
"""

STALE_WRITES = """
    SELECT task_id, verb || ' as attempt ' || attempt || ' of ' || worker
      FROM loadtest_probe WHERE has_written ORDER BY 1
"""

GENERATION_TWICE = """
    SELECT task_id, 'attempt ' || attempt || ' by ' || string_agg(worker, ', ' ORDER BY at)
      FROM loadtest_start GROUP BY task_id, attempt HAVING count(*) > 1 ORDER BY 1
"""

# The slack is for an INSERT that a process had sent before it was killed.
STARTED_LATE = """
    SELECT start.task_id, 'attempt ' || start.attempt || ' began ' || start.at - passed.at || ' after'
      FROM loadtest_start AS start JOIN loadtest_over AS passed USING (task_id, attempt)
     WHERE passed.at < start.at - interval '0.25 seconds'
     ORDER BY 1
"""

# From an attempt's first sign of life to its last that is known: its effect, its submission, or its failure,
# which for a dead worker is when it was given back. Both ends are within the claim, so that what overlaps
# here did overlap. Of an attempt given back in good order only the beginning is known.
TOO_MANY = """
    WITH spell AS (
        SELECT start.task_id, task.lane, start.at AS began,
               coalesce((SELECT min(at) FROM loadtest_effect AS effect
                          WHERE effect.task_id = start.task_id AND effect.attempt = start.attempt),
                        (SELECT min(at) FROM loadtest_submission AS submission
                          WHERE submission.task_id = start.task_id AND submission.attempt = start.attempt),
                        failed.at, start.at) AS ended
          FROM loadtest_start AS start
          JOIN queue_task AS task ON task.id = start.task_id AND task.lane <> ''
          LEFT JOIN loadtest_failed_attempt AS failed
            ON failed.task_id = start.task_id AND failed.attempt = start.attempt
    ), change AS (
        SELECT task_id, lane, began AS at, 1 AS step FROM spell WHERE ended >= began
        UNION ALL
        SELECT task_id, lane, ended, -1 FROM spell WHERE ended >= began
    ), running AS (
        SELECT task_id, lane, at, step,
               sum(step) OVER (PARTITION BY lane ORDER BY at, step DESC ROWS UNBOUNDED PRECEDING) AS number
          FROM change
    )
    SELECT task_id, number || ' at once in ' || lane || ' at ' || at
      FROM running
     WHERE step > 0
       AND number > CASE WHEN starts_with(lane, 'account:') THEN %(account_turns)s ELSE %(host_turns)s END
     ORDER BY at
"""

TURNS_LEFT = """
    SELECT task_id, 'turn ' || number || ' of ' || lane FROM queue_turn WHERE task_id IS NOT NULL ORDER BY 1
"""

RETRIES_OVER = """
    SELECT id, attempts - resumes || ' of ' || max_attempts FROM queue_task
     WHERE attempts - resumes > max_attempts ORDER BY 1
"""

# The last attempt of a task that is done spends one. Splitting gives its own back, a person's retry all.
MISCOUNTED = """
    SELECT id, kind || ': ' || attempts || ' attempts, ' || resumes || ' given back, '
               || jsonb_array_length(errors) || ' failed'
      FROM queue_task
     WHERE status = 'done' AND kind NOT IN ('load.split', 'load.mended')
       AND attempts - resumes <> 1 + jsonb_array_length(errors)
     ORDER BY 1
"""

FAILED_EARLY = """
    SELECT id, kind || ' failed after ' || attempts - resumes || ' of ' || max_attempts FROM queue_task
     WHERE kind IN ('load.hopeless', 'load.poison') AND status = 'failed'
       AND (attempts - resumes <> max_attempts
            OR (SELECT count(*) FROM loadtest_failed_attempt AS failed
                 WHERE failed.task_id = queue_task.id) <> max_attempts)
     ORDER BY 1
"""

PARENTS_EARLY = """
    SELECT parent.id, 'ended ' || max(child.finished_at) - parent.finished_at || ' before its last child'
      FROM queue_task AS parent JOIN queue_task AS child ON child.parent_id = parent.id
     WHERE parent.status IN ('done', 'failed')
     GROUP BY parent.id
    HAVING bool_or(child.finished_at IS NULL)
        OR max(child.finished_at) > parent.finished_at + interval '0.25 seconds'
     ORDER BY 1
"""

# What the parent's payload says, against its children's: none missing, none more, none twice.
CHILDREN_WRONG = """
    WITH wanted AS (
        SELECT task.id, kind.key AS kind, part.value AS payload
          FROM queue_task AS task
         CROSS JOIN jsonb_each(task.payload -> 'parts') AS kind
         CROSS JOIN jsonb_array_elements(kind.value) AS part
         WHERE task.kind = 'load.split' AND EXISTS (SELECT FROM loadtest_effect WHERE task_id = task.id)
    ), found AS (
        SELECT parent_id AS id, kind, payload, count(*) AS number
          FROM queue_task WHERE parent_id IS NOT NULL GROUP BY parent_id, kind, payload
    )
    SELECT id, kind || ' ' || payload || ' is there ' || coalesce(number, 0) || ' times'
      FROM wanted FULL JOIN found USING (id, kind, payload)
     WHERE number IS DISTINCT FROM 1 OR wanted.id IS NULL
     ORDER BY 1
"""

# The sum is told from the weights that were asked for, not from the children's own progress.
SUMS_WRONG = """
    WITH family AS (
        SELECT parent.id, parent.status, parent.progress, parent.error,
               sum((child.payload ->> 'weight')::integer) FILTER (WHERE child.status = 'done') AS weight,
               count(*) FILTER (WHERE child.status = 'failed') AS failed
          FROM queue_task AS parent JOIN queue_task AS child ON child.parent_id = parent.id
         WHERE parent.status IN ('done', 'failed')
         GROUP BY parent.id
    )
    SELECT id, status || ' with ' || failed || ' failed, shows ' || coalesce(progress::text, 'nothing')
               || ' instead of ' || coalesce(weight, 0) || ', ' || error
      FROM family
     WHERE (status = 'failed') <> (failed > 0)
        OR (progress ->> 'done')::integer IS DISTINCT FROM coalesce(weight, 0)
     ORDER BY 1
"""

KEYS_KEPT = """
    SELECT id, dedupe_key FROM queue_task
     WHERE finished_at IS NOT NULL AND key_until < clock_timestamp() - make_interval(secs => 2 * %(tick)s)
     ORDER BY 1
"""

KEYS_SHARED = """
    WITH holding AS (
        SELECT task.id, asked.key, task.created_at,
               lag(task.id) OVER line AS earlier, lag(task.finished_at) OVER line AS earlier_ended
          FROM loadtest_asked AS asked JOIN queue_task AS task ON task.id = asked.task_id
         WHERE asked.key IS NOT NULL
        WINDOW line AS (PARTITION BY asked.key ORDER BY task.created_at, task.id)
    )
    SELECT id, key || ' while task ' || earlier || ' had it'
      FROM holding
     WHERE earlier IS NOT NULL
       AND (earlier_ended IS NULL OR earlier_ended > created_at + interval '0.25 seconds')
     ORDER BY 1
"""

# The cycle is numbered as ENQUEUE_DUE numbers it: shifted by a number drawn from the schedule's name.
CYCLES_TWICE = """
    SELECT min(id), count(*) || ' in cycle ' || cycle
      FROM (SELECT id, floor((extract(epoch FROM created_at)
                              + mod(('x' || left(md5(kind || ':' || subject), 8))::bit(32)::bigint,
                                    %(cycle_seconds)s)) / %(cycle_seconds)s) AS cycle
              FROM queue_task WHERE kind = %(cycle)s) AS numbered
     GROUP BY cycle HAVING count(*) > 1 ORDER BY 1
"""

GHOSTS = "SELECT id, kind FROM queue_task WHERE kind = 'load.ghost' ORDER BY 1"

TAKEN_OVER_LATE = """
    SELECT task_id, 'attempt ' || attempt || ' of ' || worker || ' came back'
               || coalesce(' ' || round(since_lease::numeric, 2) || ' s after its lease', '')
               || coalesce(' ' || round(since_fault::numeric, 2) || ' s after the fault: ' || sort, '')
      FROM loadtest_takeover
     WHERE since_lease > %(tick)s OR since_fault > %(lease)s + %(tick)s
     ORDER BY 1
"""

DEPLOYS_BROKEN = """
    SELECT NULL, machine || ' ended with ' || coalesce(code::text, 'nothing, in its time')
      FROM loadtest_deploy WHERE code IS DISTINCT FROM 0
    UNION ALL
    SELECT task_id, 'attempt ' || attempt || ' of ' || worker || ' was lost by a ' || sort
      FROM loadtest_takeover WHERE sort IN ('deploy', 'supervisor')
"""

WORKERS_LEFT = """
    SELECT id, name || ' (a worker, not a task)' FROM queue_worker AS worker
     WHERE lost_at IS NULL
       AND NOT EXISTS (SELECT FROM loadtest_fault
                        WHERE loadtest_fault.worker = worker.name
                          AND sort IN ('worker', 'machine', 'stop', 'freeze', 'crash'))
     ORDER BY 1
"""
