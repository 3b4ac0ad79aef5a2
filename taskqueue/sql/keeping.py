"""What is kept, and for how long."""

from __future__ import annotations

# Keys of cycles that are over. Index: queue_task_kept_keys.
FREE_KEYS = """
    UPDATE queue_task
       SET key_until = NULL
     WHERE id = ANY(ARRAY(
               SELECT id
                 FROM queue_task
                WHERE key_until <= statement_timestamp() AND finished_at IS NOT NULL
                LIMIT %(most)s
                  FOR UPDATE SKIP LOCKED))
"""

# Families are held by their roots, oldest first, those after the last one held: nobody can retry a member
# meanwhile, and a retry that committed before is seen by the next statement.
# Index: queue_task_finished_roots.
HOLD_OLD_ROOTS = """
    SELECT finished_at, id
      FROM queue_task
     WHERE parent_id IS NULL AND key_until IS NULL
       AND finished_at < statement_timestamp() - make_interval(days => %(days)s)
       AND finished_at >= %(since)s AND (finished_at, id) > (%(since)s, %(last)s)
     ORDER BY finished_at, id
     LIMIT %(most)s
       FOR UPDATE SKIP LOCKED
"""

# Whole families whose last member ended before the retention: a relative that is unfinished, or whose key is
# still kept, keeps all of them. Foreign keys are checked at the end of the statement.
# Index: queue_task_children.
PRUNE = """
    WITH RECURSIVE family AS (
        SELECT id AS root_id, id FROM unnest(%(roots)s::bigint[]) AS root(id)
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

# Turns that nobody took for a day. Index: queue_turn_once serves the claims, this reads the small table.
PRUNE_TURNS = """
    DELETE FROM queue_turn
     WHERE ctid = ANY(ARRAY(
               SELECT ctid FROM queue_turn
                WHERE task_id IS NULL AND taken_at < statement_timestamp() - interval '1 day'
                LIMIT %(most)s
                  FOR UPDATE SKIP LOCKED))
"""
