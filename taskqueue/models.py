"""Tasks, the workers that run them and the pace of the hosts they ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, Concat, Now
from django.db.models.lookups import LessThan

from taskqueue.errors import HostBusy
from taskqueue.samples import Sample as Sample
from taskqueue.sql import hosts as sql

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser


@dataclass(frozen=True, slots=True)
class Token:
    """One generation of one task in one worker's hands. Every lifecycle write names it (Q5)."""

    task_id: int
    worker: str
    attempt: int


class TaskStatus(models.TextChoices):
    PENDING = "pending", "pending"
    RUNNING = "running", "running"
    AWAITING_BATCH = "awaiting_batch", "awaiting batch"
    WAITING = "waiting", "waiting for children"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


CLAIMABLE = (TaskStatus.PENDING, TaskStatus.AWAITING_BATCH)
UNFINISHED = (*CLAIMABLE, TaskStatus.RUNNING, TaskStatus.WAITING)
ENDED = (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED)


KEY_IS_HELD = Q(dedupe_key__isnull=False) & (Q(finished_at__isnull=True) | Q(key_until__isnull=False))
URGENT = 10  # this priority and better: somebody is waiting for it


class TaskQuerySet(models.QuerySet["Task"]):
    def in_line(self, kinds: Iterable[str]) -> Self:
        """What is due, of these kinds, and asks no host that is closed: the claim starts from here (Q3)."""
        needs = conditions(kinds)
        return self.filter(needs["open_host"], needs["known_kind"], needs["place"])

    def claimable(self, kinds: Iterable[str]) -> Self:
        """What a worker that runs `kinds` may start now: in line, and its lane has a free turn (Q3, Q4)."""
        return self.filter(*conditions(kinds).values())

    def in_claim_order(self) -> Self:
        return self.order_by("position", "id")

    def holding(self, key: str | None) -> Self:
        """The one task that has the key, if any: no other with it is queued meanwhile (Q1). None has none."""
        return self.filter(KEY_IS_HELD, dedupe_key=key)

    def running(self) -> Self:
        return self.filter(status=TaskStatus.RUNNING)

    def unfinished(self) -> Self:
        return self.filter(status__in=UNFINISHED)


class Task(models.Model):
    """A piece of work, from enqueueing until some time after its end. Only the services write it."""

    Status = TaskStatus

    kind = models.CharField(max_length=100, help_text="app.verb; names the handler.")
    subject = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        help_text="What it is about, as pages look it up: source:12.",
    )
    payload = models.JSONField(blank=True, db_default=Value({}, models.JSONField()))
    dedupe_key = models.CharField(  # noqa: DJ001 - NULL, unlike "", is not equal to itself: any number have no key
        max_length=400, null=True, blank=True
    )
    key_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when the key is kept even if the task has ended."
    )
    parent = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="children", db_index=False
    )
    account = models.CharField(
        max_length=200, blank=True, db_default="", help_text="Whose work it is, if anyone's."
    )
    host = models.CharField(
        max_length=253, blank=True, db_default="", help_text="Whose pace it keeps to, if any."
    )
    priority = models.SmallIntegerField(db_default=50, help_text="Lower goes first.")

    status = models.CharField(
        max_length=20, choices=TaskStatus.choices, db_default=TaskStatus.PENDING, editable=False
    )
    not_before = models.DateTimeField(db_default=Now())
    attempts = models.IntegerField(
        db_default=0, help_text="Claims so far. Names the current one, so it never goes down."
    )
    position = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Its place among those that may start: when it was due, plus its priority. Or it may not.",
    )
    lane = models.GeneratedField(
        # The account's own tasks take turns, else the host's. Bytes compare faster than a language's words.
        expression=Case(
            When(account__gt="", then=Concat(Value("account:"), F("account"))),
            When(host__gt="", then=Concat(Value("host:"), F("host"))),
            default=Value(""),
        ),
        output_field=models.TextField(db_collation="C"),
        db_persist=True,
        help_text="With whom it takes turns, if with anyone.",
    )
    max_attempts = models.IntegerField(db_default=5)
    resumes = models.IntegerField(db_default=0, help_text="Attempts given back: they spend no retry.")
    worker = models.CharField(max_length=200, blank=True, db_default="", help_text="Who runs it now.")
    progress = models.JSONField(null=True, blank=True, help_text='{"done", "total" or null, "note"}')
    progress_at = models.DateTimeField(
        null=True, blank=True, help_text="When the progress last changed: alive is not advancing."
    )
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True, db_default="", help_text="Why the last attempt failed.")
    note = models.TextField(blank=True, db_default="", help_text="What the last attempt said on leaving.")
    result = models.JSONField(null=True, blank=True, help_text="What the work returned, if it says so.")
    errors = models.JSONField(
        blank=True,
        db_default=Value([], models.JSONField()),
        help_text="Every failed attempt: attempt, at, error, worker.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True, help_text="When the last attempt began.")
    finished_at = models.DateTimeField(null=True, blank=True)
    release = models.CharField(max_length=100, blank=True, db_default="", help_text="That last ran it.")

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dedupe_key"], condition=KEY_IS_HELD, name="queue_task_key_once"),
            models.CheckConstraint(
                condition=Q(status=TaskStatus.RUNNING) & ~Q(worker="")
                | ~Q(status=TaskStatus.RUNNING) & Q(worker=""),
                name="queue_task_running_is_held",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ENDED, finished_at__isnull=False)
                | Q(status__in=UNFINISHED, finished_at__isnull=True),
                name="queue_task_ended_is_dated",
            ),
            models.CheckConstraint(
                condition=Q(position__isnull=True) | Q(status__in=CLAIMABLE), name="queue_task_in_line_waits"
            ),
            models.CheckConstraint(
                condition=Q(resumes__gte=0, attempts__gte=F("resumes")), name="queue_task_resumes_of_attempts"
            ),
            models.CheckConstraint(
                condition=Q(key_until__isnull=True) | Q(dedupe_key__isnull=False),
                name="queue_task_key_until_of_key",
            ),
        ]
        indexes = [
            models.Index(
                fields=["kind", "position", "id"],
                condition=Q(position__isnull=False, lane=""),
                name="queue_task_open_line",
            ),
            models.Index(
                fields=["lane", "position", "id"],
                condition=Q(position__isnull=False) & ~Q(lane=""),
                name="queue_task_lanes",
            ),
            models.Index(
                fields=["kind", "position", "id"],
                condition=Q(position__isnull=False, priority__lte=URGENT),
                name="queue_task_urgent",
            ),
            models.Index(
                fields=["not_before"],
                condition=Q(position__isnull=True, status__in=CLAIMABLE),
                name="queue_task_not_due",
            ),
            models.Index(fields=["id"], condition=Q(status=TaskStatus.RUNNING), name="queue_task_in_hand"),
            models.Index(
                fields=["subject", "kind"],
                condition=Q(status__in=UNFINISHED) & ~Q(subject=""),
                name="queue_task_in_flight",
            ),
            models.Index(fields=["finished_at"], condition=Q(status=TaskStatus.FAILED), name="queue_failed"),
            models.Index(fields=["parent"], condition=Q(parent__isnull=False), name="queue_task_children"),
            models.Index(fields=["id"], condition=Q(status=TaskStatus.WAITING), name="queue_task_waiting"),
            models.Index(
                fields=["key_until"], condition=Q(key_until__isnull=False), name="queue_task_kept_keys"
            ),
            models.Index(
                fields=["finished_at"],
                condition=Q(finished_at__isnull=False, parent__isnull=True),
                name="queue_task_finished_roots",
            ),
        ]

    def __str__(self) -> str:
        about = f" of {self.subject}" if self.subject else ""
        return f"task {self.pk}: {self.kind}{about}"

    @property
    def token(self) -> Token:
        return Token(self.pk, self.worker, self.attempts)

    @property
    def retries_spent(self) -> int:
        return self.attempts - self.resumes

    @property
    def is_cancelling(self) -> bool:
        """Asked to stop, not yet stopped (Q10)."""
        return self.status == TaskStatus.RUNNING and self.cancel_requested_at is not None

    def state(self) -> str:
        """The status as a person reads it."""
        return "cancelling" if self.is_cancelling else str(self.get_status_display())


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> Self:
        return self.filter(lost_at__isnull=True, lease_expires_at__gt=Now())


class Worker(models.Model):
    """One start of one worker process. It removes its row on leaving: a stale row is a worker that died.

    Its lease covers everything it has in hand (Q5): one row is written per heartbeat, however many tasks.
    """

    name = models.CharField(max_length=200, unique=True, help_text="The incarnation: no restart repeats it.")
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    last_seen_at = models.DateTimeField(db_default=Now())
    lease_expires_at = models.DateTimeField(db_default=Now(), help_text="Until then its tasks are its own.")
    lost_at = models.DateTimeField(null=True, blank=True, help_text="When its lease was found to be over.")
    kinds = ArrayField(
        models.CharField(max_length=100), blank=True, db_default=Value([], ArrayField(models.CharField()))
    )
    memory_bytes = models.BigIntegerField(null=True, blank=True, help_text="Resident, at the last heartbeat.")
    release = models.CharField(max_length=100, blank=True, db_default="")
    image_digest = models.CharField(max_length=200, blank=True, db_default="")
    hostname = models.CharField(max_length=253, blank=True, db_default="")
    pid = models.IntegerField(db_default=0)

    objects = WorkerQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class Turn(models.Model):
    """A turn of a lane, free or taken by the task that runs in it (Q4). Rows, because a counter miscounts.

    The claim that first needs a turn makes its row; retention removes those that nobody took for a day.
    """

    lane = models.TextField(db_collation="C", help_text="As the task's: account:… or host:…")
    number = models.SmallIntegerField()
    # The reaper and retention, not a foreign key, see to it that no ended task keeps a turn.
    task_id = models.BigIntegerField(null=True, blank=True)
    taken_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lane", "number"], name="queue_turn_once")]

    def __str__(self) -> str:
        return f"turn {self.number} of {self.lane}"


def account_of(person: AbstractBaseUser) -> str:
    """The account that the person's own tasks name."""
    return str(person.pk)


def conditions(kinds: Iterable[str]) -> dict[str, Q]:
    """The claim's predicate, part by part (Q3, Q4). `services.waiting` says which part does not hold."""
    closed = HostBudget.objects.closed().filter(host=OuterRef("host"))
    turns = Turn.objects.filter(lane=OuterRef("lane"), task_id__isnull=False, number__lte=turns_of_lane())
    taken = turns.order_by().values("lane").annotate(count=models.Count("*")).values("count")
    is_free = LessThan(Coalesce(models.Subquery(taken), 0), turns_of_lane())
    return {
        "open_host": Q(host="") | Q(~Exists(closed)),
        "known_kind": Q(kind__in=list(kinds)),
        "place": Q(position__isnull=False),
        "free_turn": Q(lane="") | Q(is_free),
    }


def turns_of_lane() -> Case:
    """How many tasks of the row's lane may run at once."""
    return Case(
        When(lane__startswith="account:", then=Value(settings.QUEUE_ACCOUNT_TURNS)),
        default=Value(settings.QUEUE_HOST_TURNS),
    )


class HostBudgetQuerySet(models.QuerySet["HostBudget"]):
    def closed(self) -> Self:
        """Hosts of this egress whose next slot is farther off than a request waits: `take` refuses them."""
        horizon = Now() + timedelta(seconds=HostBudget.LONGEST_WAIT_SECONDS)
        return self.filter(egress=settings.FETCH_EGRESS, next_slot_at__gt=horizon)

    def take(self, host: str) -> float:
        """Reserve the host's next slot for one request; returns the seconds to wait for it (A6).

        Raises HostBusy, having taken nothing, when the slot is more than LONGEST_WAIT_SECONDS away.
        """
        limits = {"pace": HostBudget.FIRST_PACE_SECONDS, "limit": HostBudget.LONGEST_WAIT_SECONDS}
        with connection.cursor() as cursor:
            cursor.execute(sql.TAKE_SLOT, {**_address(host), **limits})
            if taken := cursor.fetchone():
                return max(0.0, float(taken[0]))
        raise HostBusy(host, self.get(**_address(host)).next_slot_at)

    def refuse(self, host: str, retry_after: float | None = None) -> None:
        """The host said no: its pace doubles up to the ceiling and it is closed for `retry_after` seconds.

        Never for less than half a minute, whatever it says, nor for more than a day.
        """
        seconds = min(max(retry_after or 0.0, 30.0), 86_400.0)
        values = {**_address(host), "pace": HostBudget.FIRST_PACE_SECONDS, "seconds": seconds}
        with connection.cursor() as cursor:
            cursor.execute(sql.REFUSE_HOST, values)

    def accept(self, host: str) -> None:
        """The host answered: its pace eases by a tenth towards the floor. Writes nothing once it is there."""
        with connection.cursor() as cursor:
            cursor.execute(sql.ACCEPT_HOST, _address(host))


class HostBudget(models.Model):
    """The pace at which this fleet asks one host from one address, shared by every process (A6)."""

    FIRST_PACE_SECONDS = 1.0
    LONGEST_WAIT_SECONDS = 10  # a worker stands idle while it waits: beyond this it does something else

    host = models.CharField(max_length=253)
    egress = models.CharField(max_length=100, help_text="The address the requests leave from.")
    pace_seconds = models.FloatField(
        db_default=FIRST_PACE_SECONDS, help_text="Between two requests; learned."
    )
    floor = models.FloatField(db_default=0.25, help_text="The pace never gets shorter (seconds).")
    ceiling = models.FloatField(db_default=60.0, help_text="Nor longer (seconds).")
    next_slot_at = models.DateTimeField(db_default=Now())
    accepted = models.BigIntegerField(db_default=0, help_text="Answers that eased the pace.")
    refused = models.BigIntegerField(db_default=0, help_text="Answers that told us to slow down.")

    objects = HostBudgetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "egress"], name="queue_hostbudget_once"),
            models.CheckConstraint(
                condition=Q(floor__gt=0, pace_seconds__gte=F("floor"), ceiling__gte=F("pace_seconds")),
                name="queue_hostbudget_pace_in_bounds",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host} from {self.egress}"


def _address(host: str) -> dict[str, Any]:
    return {"host": host, "egress": settings.FETCH_EGRESS}
