"""Claims: taken, kept and proven."""

from __future__ import annotations

# The work that is done is recorded and other work is handed out, in one statement: one commit a task (Q3).
#
# `{in_urgent}`, `{in_lane}` and `{in_open}` are Task.objects.in_line in claim order, for the rows meant.
# SKIP LOCKED steps over rows that another worker is choosing. MATERIALIZED keeps the LIMIT out of the join,
# where it could run more than once. Indexes: queue_task_urgent, queue_task_lanes, queue_task_open_line.
#
# `account = task.account` changes nothing. Where no column is named that `lane` is generated from, PostgreSQL
# 18 reads its expression from the catalog again for every row (ExecInitGenerated), a third of the time.

# finished: what this worker ended since the last step. Every row is guarded by worker and generation (Q5).
#   What names a worker runs (queue_task_running_is_held); asked for the status too, the planner would read
#   queue_task_in_hand with all the dead entries that an old snapshot keeps there. Done wins over a cancel
#   that came too late. Keys of a schedule's cycle stay until the cycle is over.
_RECORD = """
finished AS (
    UPDATE queue_task AS task
       SET status = 'done', worker = '', error = '', note = coalesce(ended.note, ''), result = ended.result,
           account = task.account, progress = coalesce(ended.progress, task.progress),
           progress_at = CASE WHEN ended.progress IS NULL THEN task.progress_at
                              ELSE statement_timestamp() END,
           finished_at = statement_timestamp(),
           key_until = CASE WHEN key_until > statement_timestamp() THEN key_until END
      FROM unnest(%(ids)s::bigint[], %(attempts)s::int[], %(notes)s::text[], %(results)s::jsonb[],
                  %(progresses)s::jsonb[]) AS ended(id, attempt, note, result, progress)
     WHERE task.id = ended.id AND task.worker = %(worker)s AND task.attempts = ended.attempt
 RETURNING task.id, task.lane
), alive AS MATERIALIZED (
    SELECT FROM queue_worker
     WHERE name = %(worker)s AND lost_at IS NULL AND lease_expires_at > statement_timestamp()
)"""

# Tasks without a lane. The first of each kind is looked up, so that kinds which this release does not know
# cost nothing; `mark` is where this worker's last claim of the kind was, because an old snapshot, held by
# whoever, keeps the dead index entries before it from being removed. Lanes and the urgent have marks too.
_OPEN = """
open AS MATERIALIZED (
    SELECT 'open' AS line, task.id, '' AS lane, NULL::smallint AS number, false AS is_mine, task.position
      FROM (SELECT known.kind, known.mark, known.mark_id
              FROM unnest(%(kinds)s::text[], %(marks)s::timestamptz[], %(mark_ids)s::bigint[])
                   AS known(kind, mark, mark_id)
             CROSS JOIN LATERAL (
                       SELECT position, id FROM queue_task
                        WHERE kind = known.kind AND lane = '' AND position IS NOT NULL
                          AND (position, id) >= (known.mark, known.mark_id)
                          AND priority >= %(least)s
                        ORDER BY position, id LIMIT 1) AS head
             ORDER BY head.position, head.id) AS line
     CROSS JOIN LATERAL ({in_open} FOR NO KEY UPDATE SKIP LOCKED) AS task(id, position)
     LIMIT %(most)s
)"""

# An array, for a join would be planned when no turn was ever taken: by reading all of them, for each task.
# Of the places, for turns have many dead versions while a snapshot is held. Who changes one of these
# meanwhile has taken it away.
_FINISHED_TURNS = """ARRAY(
               SELECT held.ctid
                 FROM finished
                CROSS JOIN LATERAL (
                          SELECT ctid FROM queue_turn
                           WHERE lane = finished.lane AND task_id = finished.id OFFSET 0) AS held
                WHERE finished.lane <> '')"""

_CLAIM = """
claimed AS (
    UPDATE queue_task AS task
       SET status = 'running', position = NULL, worker = %(worker)s, account = task.account,
           attempts = task.attempts + 1, max_attempts = {max_attempts}, release = {release},
           started_at = statement_timestamp()
      FROM chosen
     WHERE task.id = chosen.id"""

_ANSWER = """
 RETURNING task.id, task.kind, task.subject, task.payload, task.parent_id, task.account, task.lane,
           task.attempts, task.cancel_requested_at, task.progress, task.priority, chosen.position::text,
           chosen.line
)
SELECT claimed.*, NULL::bigint AS finished FROM claimed
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, walked.lanes,
       (SELECT count(*) FROM chosen)::integer, NULL, NULL, NULL, NULL, NULL, (SELECT count(*) FROM finished)
  FROM walked"""

# urgent: what somebody is waiting for goes first, whoever's it is, but after eight such claims in a row
#   others get one (`least`). Sixteen are looked at: one account's flood hides no other account.
# walk: the lanes with something in line, by their names, from `start` on, one index probe each (a loose
#   index scan): a lane that is busy costs that probe, however much waits in it. Only where `walks`; else
#   the worker says which lanes the last walk met, and up to where it has claimed from each.
# known: the one or the other, those first whose turn comes after `cursor`'s. So every account gets a turn
#   before one gets its second from this worker (Q4).
# lanes: of each lane with a free turn the first task. Both are locked: a lane whose turn another worker is
#   taking is stepped over. `number` of a turn that has no row yet is the next one. EXISTS IS NOT TRUE stays a
#   condition; NOT EXISTS would become a join, made after the tasks of a closed host were looked at.
# chosen: lanes and open take turns at being first. LIMIT stops the scans as soon as there is enough.
# taken, freed: the turns, also those of what was recorded here: they are passed on, if not to others of their
#   lanes then to nobody. One row is not written twice in a statement, so each of the two has its own.
#
# The last row says how many were recorded and chosen, and in the place of a lane those of the walk.
STEP = f"""
WITH RECURSIVE {_RECORD}, urgent AS MATERIALIZED (
    SELECT 'urgent' AS line, first.id, first.lane, turn.number, turn.is_mine, task.position
      FROM (SELECT head.id, head.lane
              FROM unnest(%(kinds)s::text[]) AS known(kind)
             CROSS JOIN LATERAL ({{in_urgent}}) AS head(id, lane, position)
             ORDER BY head.position, head.id LIMIT {{looked_at}}) AS first
      LEFT JOIN LATERAL {{urgent_turn}} AS turn ON first.lane <> ''
     CROSS JOIN LATERAL (
               SELECT position FROM queue_task
                WHERE id = first.id AND position IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED) AS task
     WHERE %(look_for_urgent)s AND (first.lane = '' OR turn.number IS NOT NULL)
     LIMIT %(most)s
), walk(lane, number) AS (
    (SELECT lane, 1 FROM queue_task
      WHERE %(walks)s AND position IS NOT NULL AND lane <> '' AND lane > %(start)s ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT task.lane FROM queue_task AS task
             WHERE task.position IS NOT NULL AND task.lane <> '' AND task.lane > walk.lane
             ORDER BY task.lane LIMIT 1), walk.number + 1
      FROM walk WHERE walk.lane IS NOT NULL AND walk.number < %(probes)s
), known(lane, mark, mark_id) AS MATERIALIZED (
    SELECT * FROM unnest(%(lanes)s::text[], %(lane_marks)s::timestamptz[], %(lane_mark_ids)s::bigint[])
    UNION ALL
    (SELECT lane, '-infinity', 0 FROM walk
      WHERE lane IS NOT NULL ORDER BY lane COLLATE "C" <= %(cursor)s, lane COLLATE "C")
), lanes AS MATERIALIZED (
    SELECT 'lanes' AS line, task.id, task.lane, turn.number, turn.is_mine, task.position
      FROM known
     CROSS JOIN LATERAL {{lane_turn}} AS turn
     CROSS JOIN LATERAL ({{in_lane}} FOR NO KEY UPDATE SKIP LOCKED) AS task(id, lane, position)
     WHERE EXISTS ({{closed}}) IS NOT TRUE
     LIMIT %(most)s
), {_OPEN}, chosen AS MATERIALIZED (
    SELECT * FROM (
        SELECT * FROM urgent
        UNION ALL SELECT * FROM lanes WHERE %(lanes_first)s
        UNION ALL SELECT * FROM open
        UNION ALL SELECT * FROM lanes WHERE NOT %(lanes_first)s) AS line
     WHERE EXISTS (SELECT FROM alive)
     LIMIT %(most)s
), taken AS (
    INSERT INTO queue_turn AS turn (lane, number, task_id, taken_at)
    SELECT lane, number, id, statement_timestamp() FROM chosen
     WHERE number IS NOT NULL AND NOT is_mine ORDER BY lane
    ON CONFLICT (lane, number) DO UPDATE SET task_id = excluded.task_id, taken_at = excluded.taken_at
          WHERE turn.task_id IS NULL
 RETURNING task_id
), freed AS (
    UPDATE queue_turn AS turn
       SET taken_at = statement_timestamp(),
           task_id = (SELECT id FROM chosen
                       WHERE (SELECT bool_or(is_mine) FROM chosen)
                         AND is_mine AND chosen.lane = turn.lane AND chosen.number = turn.number)
     WHERE ctid = ANY({_FINISHED_TURNS})
 RETURNING task_id
), walked(lanes) AS (
    SELECT json_agg(lane ORDER BY number)::text FROM walk WHERE lane IS NOT NULL
), {_CLAIM} AND (chosen.number IS NULL
                           OR task.id IN (SELECT task_id FROM taken UNION ALL SELECT task_id FROM freed))
{_ANSWER}
"""

# The same for a worker that has seen no lane and nobody who waits: a third of what STEP costs the server is
# to get its many parts ready.
OPEN_STEP = f"""
WITH {_RECORD}, freed AS (
    UPDATE queue_turn SET task_id = NULL WHERE ctid = ANY({_FINISHED_TURNS})
), {_OPEN}, chosen AS MATERIALIZED (
    SELECT * FROM open WHERE EXISTS (SELECT FROM alive)
), walked(lanes) AS (
    SELECT NULL::text
), {_CLAIM}
{_ANSWER}
"""

# A free turn of the lane, or the number of one that can still be made; no row when all are taken. Those of
# what has ended are free for the statement that records it: if it can, which `freed` tells.
FREE_TURN = """(
          SELECT number, is_mine FROM (
              SELECT number, task_id IS NOT NULL AS is_mine FROM (
                  SELECT number, task_id FROM queue_turn
                   WHERE lane = {lane} AND number <= {turns}
                     AND (task_id IS NULL OR task_id = ANY(%(ids)s::bigint[]))
                   ORDER BY number LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS made
              UNION ALL
              SELECT number::smallint, false FROM generate_series(1, {turns}) AS number
               WHERE NOT EXISTS (SELECT FROM queue_turn AS made
                                  WHERE made.lane = {lane} AND made.number = number.number)) AS free
           LIMIT 1)"""

TURNS = "CASE WHEN left({lane}, 8) = 'account:' THEN {account} ELSE {host} END"

# The worker is there. Its lease covers whatever it has in hand.
REGISTER = """
    INSERT INTO queue_worker (name, lease_expires_at, kinds, release, image_digest, hostname, pid)
    VALUES (%(worker)s, statement_timestamp() + make_interval(secs => %(lease)s), %(kinds)s, %(release)s,
            %(image_digest)s, %(hostname)s, %(pid)s)
    ON CONFLICT (name) DO NOTHING
"""

# The worker left in good order: no row of it remains.
FORGET = "DELETE FROM queue_worker WHERE name = %(worker)s"

# The lease of a worker whose process has ended is over.
BURY = """
    UPDATE queue_worker SET lease_expires_at = statement_timestamp()
     WHERE name LIKE %(name)s AND lost_at IS NULL AND lease_expires_at > statement_timestamp()
"""

# Extend a lease that has not ended, and only that: a worker declared lost stays lost (Q6). No row: it is.
# Returns what the worker runs, as it should know, with what is to be cancelled. Index: queue_task_in_hand.
BEAT = """
    WITH alive AS (
        UPDATE queue_worker
           SET lease_expires_at = statement_timestamp() + make_interval(secs => %(lease)s),
               last_seen_at = statement_timestamp(), memory_bytes = %(memory)s
         WHERE name = %(worker)s AND lost_at IS NULL AND lease_expires_at > statement_timestamp()
     RETURNING name
    )
    SELECT task.id, task.attempts, task.cancel_requested_at IS NOT NULL
      FROM alive LEFT JOIN queue_task AS task ON task.worker = alive.name AND task.status = 'running'
"""

# How far the work is. The time moves only when the value does (Q7). No row: the claim is lost.
SAVE_PROGRESS = """
    UPDATE queue_task
       SET progress = %(progress)s::jsonb,
           progress_at = CASE WHEN progress IS DISTINCT FROM %(progress)s::jsonb
                              THEN statement_timestamp() ELSE progress_at END
     WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
"""

# Keep the claim while this transaction lasts. FOR KEY SHARE lets progress and a cancel pass, and makes the
# reaper's FOR UPDATE SKIP LOCKED step over the row. No row: the claim is lost. Index: the primary key.
HOLD_CLAIM = """
    SELECT id
      FROM queue_task
     WHERE id = %(task)s AND worker = %(worker)s AND attempts = %(attempt)s AND status = 'running'
       FOR KEY SHARE
"""
