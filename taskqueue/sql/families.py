"""Parents and children."""

from __future__ import annotations

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
           SET cancel_requested_at = statement_timestamp(), position = NULL,
               status = CASE task.status WHEN 'running' THEN 'running' ELSE 'cancelled' END,
               finished_at = CASE WHEN task.status <> 'running' THEN statement_timestamp() END,
               key_until = CASE WHEN task.status = 'running' OR key_until > statement_timestamp()
                                THEN key_until END
          FROM locked
         WHERE task.id = locked.id
           AND (task.status IN ('pending', 'awaiting_batch', 'waiting')
                OR task.status = 'running' AND task.cancel_requested_at IS NULL)
     RETURNING task.id
    )
    SELECT id, pg_notify('queue_cancel', ''), pg_notify('queue_changed', id::text) FROM changed
"""

# A failed or cancelled task and its failed or cancelled descendants are pending again. They and the task's
# ancestors are locked, parents first: END_PARENTS takes the same locks before it looks at the children, and
# retention the root's before it looks at the family. Index: queue_task_children.
RETRY_FAMILY = """
    WITH RECURSIVE family AS (
        SELECT id, parent_id FROM queue_task WHERE id = %(task)s AND status IN ('failed', 'cancelled')
        UNION ALL
        SELECT child.id, child.parent_id
          FROM queue_task AS child JOIN family ON child.parent_id = family.id
    ), ancestors(id) AS (
        SELECT parent_id FROM queue_task WHERE id = %(task)s
        UNION ALL
        SELECT task.parent_id FROM queue_task AS task JOIN ancestors USING (id)
    ), locked AS MATERIALIZED (
        SELECT task.id
          FROM queue_task AS task
         WHERE task.id IN (SELECT id FROM family UNION SELECT id FROM ancestors)
         ORDER BY task.id
           FOR NO KEY UPDATE
    ), changed AS (
        UPDATE queue_task AS task
           SET status = 'pending', resumes = attempts, not_before = statement_timestamp(),
               position = statement_timestamp() + make_interval(secs => 6 * priority),
               cancel_requested_at = NULL, finished_at = NULL, error = '', note = ''
          FROM locked
         WHERE task.id = locked.id AND task.id IN (SELECT id FROM family)
           AND task.status IN ('failed', 'cancelled')
     RETURNING task.id
    )
    SELECT id, pg_notify('queue', ''), pg_notify('queue_changed', id::text) FROM changed
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
           key_until = CASE WHEN counted.live > 0 OR parent.key_until > statement_timestamp()
                            THEN parent.key_until END
      FROM counted
     WHERE parent.id = counted.id AND parent.status = 'waiting'
       AND (counted.live = 0 OR parent.progress IS DISTINCT FROM counted.progress)
    RETURNING parent.id, parent.status
"""
