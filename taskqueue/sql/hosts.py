"""The pace of hosts."""

from __future__ import annotations

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
