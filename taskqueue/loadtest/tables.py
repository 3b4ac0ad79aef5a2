"""What the load test keeps beside the queue's tables, all of it stamped by the database's own clock."""

from __future__ import annotations

# No table has a uniqueness of its own: what happens twice is to be seen, not prevented.
#
# asked: what producers queued, in the transaction that queued it, and how it is to end.
# start: an attempt began; written like a request to the outside world, with no lock and no transaction.
# refusal: an attempt found its claim lost, and ended.
# effect, submission: what a task is for, and an outside identity saved before waiting on it; both written
#   as services write, under `claim.hold()`. An effect is stamped when its transaction commits.
# mended: failed tasks that somebody put right and retried.
# fault: what was done to which worker.
# probe: a lifecycle write by a token that was not current.
# deploy: a supervisor that was told to stop, and how it ended.
# failed_attempt: the attempts that the queue's own history calls failed. over: when at the latest an attempt
#   was over: it had failed, or a later one had begun.
# takeover: how long each lost attempt took to come back: from the last deadly fault of its worker, and from
#   the end of its lease (unknown when the worker has woken since, and left), to the time that the reaper
#   wrote into the task's history; then to the next start.
CREATE = """
    CREATE TABLE loadtest_asked (
        task_id bigint PRIMARY KEY, ending text NOT NULL, key text);
    CREATE TABLE loadtest_start (
        task_id bigint NOT NULL, attempt integer NOT NULL, worker text NOT NULL, pid integer NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE TABLE loadtest_refusal (LIKE loadtest_start INCLUDING DEFAULTS);
    CREATE TABLE loadtest_effect (LIKE loadtest_start INCLUDING DEFAULTS);
    CREATE TABLE loadtest_submission (LIKE loadtest_start INCLUDING DEFAULTS);
    CREATE FUNCTION loadtest_stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE loadtest_effect SET at = clock_timestamp()
         WHERE task_id = NEW.task_id AND attempt = NEW.attempt;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER loadtest_stamp AFTER INSERT ON loadtest_effect
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION loadtest_stamp();
    CREATE TABLE loadtest_mended (task_id bigint NOT NULL);
    CREATE TABLE loadtest_fault (
        sort text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE TABLE loadtest_probe (
        task_id bigint NOT NULL, attempt integer NOT NULL, worker text NOT NULL, verb text NOT NULL,
        has_written boolean NOT NULL);
    CREATE TABLE loadtest_deploy (machine text NOT NULL, code integer);
    CREATE INDEX ON loadtest_start (task_id, attempt);
    CREATE INDEX ON loadtest_effect (task_id);
    CREATE INDEX ON loadtest_submission (task_id);
    CREATE INDEX ON loadtest_mended (task_id);
    CREATE INDEX ON loadtest_fault (worker);
    CREATE VIEW loadtest_failed_attempt AS
        SELECT task.id AS task_id, task.lane, (entry ->> 'attempt')::integer AS attempt,
               (entry ->> 'at')::timestamptz AS at, entry ->> 'worker' AS worker, entry ->> 'error' AS error,
               starts_with(entry ->> 'error', 'the worker was lost') AS is_lost
          FROM queue_task AS task CROSS JOIN jsonb_array_elements(task.errors) AS entry;
    CREATE VIEW loadtest_over AS
        SELECT task_id, attempt, at FROM loadtest_failed_attempt
        UNION ALL
        SELECT earlier.task_id, earlier.attempt, min(later.at)
          FROM loadtest_start AS earlier
          JOIN loadtest_start AS later ON later.task_id = earlier.task_id AND later.attempt > earlier.attempt
         GROUP BY earlier.task_id, earlier.attempt;
    CREATE VIEW loadtest_takeover AS
        SELECT lost.task_id, lost.attempt, lost.worker, fault.sort,
               extract(epoch FROM lost.at - fault.at)::float AS since_fault,
               extract(epoch FROM lost.at - worker.lease_expires_at)::float AS since_lease,
               extract(epoch FROM again.at - lost.at)::float AS until_start
          FROM loadtest_failed_attempt AS lost
          LEFT JOIN queue_worker AS worker ON worker.name = lost.worker
          LEFT JOIN LATERAL (
                   SELECT sort, at FROM loadtest_fault
                    WHERE worker = lost.worker AND at <= lost.at
                    ORDER BY sort IN ('worker', 'machine', 'stop', 'freeze', 'crash') DESC, at DESC
                    LIMIT 1) AS fault ON true
          LEFT JOIN LATERAL (
                   SELECT min(at) AS at FROM loadtest_start
                    WHERE task_id = lost.task_id AND attempt > lost.attempt) AS again ON true
         WHERE lost.is_lost;
"""

ASKED = "INSERT INTO loadtest_asked (task_id, ending, key) VALUES (%s, %s, %s)"

# What one call of enqueue_many has just queued, in the same transaction.
ASKED_TOGETHER = """
    INSERT INTO loadtest_asked (task_id, ending)
    SELECT id, payload ->> 'ending' FROM queue_task WHERE kind = %(kind)s AND payload ->> 'batch' = %(batch)s
"""

STARTED = """
    INSERT INTO loadtest_start (task_id, attempt, worker, pid)
    VALUES (%(task)s, %(attempt)s, %(worker)s, %(pid)s)
"""

REFUSED = """
    INSERT INTO loadtest_refusal (task_id, attempt, worker, pid)
    VALUES (%(task)s, %(attempt)s, %(worker)s, %(pid)s)
"""

# A second run of a handler finds what the first one did. Only the held claim keeps two from looking at once.
EFFECT = """
    INSERT INTO loadtest_effect (task_id, attempt, worker, pid)
    SELECT %(task)s, %(attempt)s, %(worker)s, %(pid)s
     WHERE NOT EXISTS (SELECT FROM loadtest_effect WHERE task_id = %(task)s)
"""

SUBMITTED = """
    INSERT INTO loadtest_submission (task_id, attempt, worker, pid)
    SELECT %(task)s, %(attempt)s, %(worker)s, %(pid)s
     WHERE NOT EXISTS (SELECT FROM loadtest_submission WHERE task_id = %(task)s)
"""

IS_MENDED = "SELECT EXISTS (SELECT FROM loadtest_mended WHERE task_id = %(task)s)"
MEND = "INSERT INTO loadtest_mended (task_id) VALUES (%s)"

CRASHED = "INSERT INTO loadtest_fault (sort, worker) VALUES ('crash', %(worker)s)"
FAULT = "INSERT INTO loadtest_fault (sort, worker) VALUES (%(sort)s, %(worker)s)"

PROBED = """
    INSERT INTO loadtest_probe (task_id, attempt, worker, verb, has_written)
    VALUES (%(task)s, %(attempt)s, %(worker)s, %(verb)s, %(has_written)s)
"""

DEPLOYED = "INSERT INTO loadtest_deploy (machine, code) VALUES (%(machine)s, %(code)s)"
