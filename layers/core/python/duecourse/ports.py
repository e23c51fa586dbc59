"""What the use cases need from outside, with the guarantees they rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

# Named only: whoever needs one loads it. A function that starts cold loads no others.
if TYPE_CHECKING:
    from duecourse.domain.adapted_delay import TriesBySeconds
    from duecourse.domain.api_change import ApiChange
    from duecourse.domain.audit import AuditEntry
    from duecourse.domain.breaker_panel import Panel
    from duecourse.domain.budget import Budget
    from duecourse.domain.chat.answered import Answered
    from duecourse.domain.chat.message import Message
    from duecourse.domain.chat.notice import Notice
    from duecourse.domain.chat.operator_change import OperatorChange
    from duecourse.domain.chat.profile import Profile
    from duecourse.domain.dead_letter import DeadLetter
    from duecourse.domain.deployment import Deployment
    from duecourse.domain.dispatch import Dispatch
    from duecourse.domain.error_log import LoggedError
    from duecourse.domain.history import Event
    from duecourse.domain.learning import Pattern, Said, Sighting
    from duecourse.domain.live_connection import Connection, Subscription
    from duecourse.domain.owner import Owner
    from duecourse.domain.quiet_time import QuietTime
    from duecourse.domain.report import FailureReport
    from duecourse.domain.run import Followed, Run
    from duecourse.domain.stats import Counted
    from duecourse.domain.subject import Subject
    from duecourse.domain.tally import Increment, Recovery
    from duecourse.domain.task import Task
    from duecourse.domain.telling import Telling
    from duecourse.domain.tracker import Tracker


T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, aware, in UTC."""

    def sleep_until(self, instant: datetime) -> None:
        """Return at the instant or just after it, at once if it has passed."""


@dataclass(frozen=True)
class Filter:
    """Which tasks a listing shows. An empty field lets everything through.

    `category` is that of the last error. `search` is a part of the description, or the beginning
    of the id or the subject, in whatever case.
    """

    channel: str | None = None
    sender_id: str | None = None
    status: str | None = None
    type: str | None = None
    category: str | None = None
    search: str | None = None

    def matches(self, task: Task) -> bool:
        named = [
            (self.channel, task.channel),
            (self.sender_id, task.sender_id),
            (self.status, task.status),
            (self.type, task.type),
            (self.category, task.last_error_category),
        ]
        fits = all(wanted in (None, found) for wanted, found in named)
        return fits and (self.search is None or _is_about(task, self.search))


def _is_about(task: Task, search: str) -> bool:
    wanted = search.strip().casefold()
    names = (task.id, (task.subject or "").casefold())
    return wanted in task.description.casefold() or any(one.startswith(wanted) for one in names)


@dataclass(frozen=True)
class Page:
    items: Sequence[Task]
    next_cursor: str | None


class TaskStore(Protocol):
    def create(self, task: Task) -> Task:
        """Keep a new task, once: it is returned itself, or the one that has its id already."""

    def get(self, task_id: str) -> Task:
        """The task as last written, never an older state. Raises UnknownTaskError."""

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        """The tasks whose id begins so (at least eight characters): few, as last written.

        Where an owner is named, another's task is not even read out: whoever guesses its id learns
        nothing, and waits no longer either.
        """

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        ended: Run | None = None,
        made: Task | None = None,
    ) -> None:
        """Replace exactly `before`, and with it the subject's version before, or neither. `ended`
        is kept by the same write as the run that `after` has a new one in place of. `made` is a
        task that the same write makes; one that has its id already is left as it is.

        Raises StaleTaskError for all callers but one. A write whose answer was lost is recognised
        as one's own and does not raise.
        """

    def due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        """Open tasks with start <= due_at < end, soonest first. May lag behind the writes."""

    def awaiting_fix(self) -> Iterator[str]:
        """The ids of tasks that wait for mended code. May lag behind the writes."""

    def blocked(self, limit: int) -> Sequence[Task]:
        """Blocked tasks, those that have waited longest first: nearly so where there are more than
        the limit. May lag; none that has moved on is told."""

    def blocked_before(self, instant: datetime) -> Iterator[str]:
        """The ids of blocked tasks that may time out: all that were blocked up to that instant, and
        maybe others. May lag behind the writes."""

    def open_of(self, owner: Owner) -> Sequence[Task]:
        """Their open tasks, soonest first."""

    def page(self, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        """Newest first. No task that exists throughout the walk is skipped or repeated."""

    def soonest(self, limit: int) -> Sequence[Task]:
        """What runs, and what comes by itself at its time, soonest first. May lag; none that has
        moved on is told. Of at most 100, it costs the same however many there are."""

    def retries(self, limit: int) -> Sequence[Task]:
        """Tasks that wait for a retry, soonest first. May lag; none that has moved on is told."""

    def to_verify(self, limit: int) -> Sequence[Task]:
        """Work that waits for a person's verdict, what runs out first before the rest. May lag;
        none that has moved on is told."""

    def latest_retries(self, limit: int) -> Sequence[datetime]:
        """When the last of the retries come that wait in the lane "soon", latest first. May lag."""


class WorkQueue(Protocol):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        """Hand over each at its due time or within a second before it; says how many.

        At least once: after an error some may have been sent, and sending again is harmless.
        """


class FailureQueue(Protocol):
    def send(self, report: FailureReport) -> None:
        """Hand over the report, at least once, or raise."""


class Notices(Protocol):
    def send(self, notice: Notice) -> None:
        """Hand over what a person is to be told, at least once, or raise."""

    def hide(self, handle: str, *, until: datetime, now: datetime) -> None:
        """Hand what was taken over again at that time, or some hours before it, or raise."""


class Inbox(Protocol):
    def put(self, message: Message) -> None:
        """Keep what somebody said until it is answered, at least once, or raise. Of one sender, one
        message is answered after the other, in the order they came; a repeat within five minutes is
        dropped."""


class Answers(Protocol):
    """What was answered to whom, kept for some days: a message may be delivered again."""

    def get(self, message: Message) -> Answered | None:
        """As last written, never an older state."""

    def keep(self, message: Message, answered: Answered) -> None: ...


class Profiles(Protocol):
    def get(self, owner: Owner) -> Profile:
        """As last written; of somebody never seen, one that says nothing."""

    def save(self, profile: Profile) -> None: ...


class QuietHours(Protocol):
    """Who is not to be disturbed, and when. What is set is in force everywhere a minute later."""

    def of(self, owner: Owner) -> QuietTime | None:
        """As it was at most a minute ago: to be asked for every reminder, it must cost nothing."""

    def latest(self, owner: Owner) -> QuietTime | None:
        """As last written, never an older state."""

    def set(self, owner: Owner, quiet: QuietTime | None) -> None:
        """Of all who set theirs at the same time, nobody's is lost."""


class Subjects(Protocol):
    def get(self, subject_id: str) -> Subject:
        """As last written, never an older state; one never seen is a fresh one."""

    def save(self, subject: Subject) -> None:
        """Replace the version before it. Raises StaleSubjectError for all callers but one."""


class Pause(Protocol):
    def __call__(self, tries: int, /) -> None:
        """Let the others finish before the next try, a little longer each time."""


class FanOut(Protocol):
    def __call__(self, work: Callable[[int], T], shards: Sequence[int]) -> Iterable[T]:
        """Do the work for every shard, as far as can be at once. The first error is raised."""


class Cursors(Protocol):
    def load(self) -> Mapping[int, datetime]:
        """Per shard, the instant up to which all was dispatched."""

    def save(self, cursors: Mapping[int, datetime]) -> None: ...


class Deployments(Protocol):
    def load(self) -> Deployment | None:
        """The last one seen; None before the first."""

    def save(self, deployment: Deployment) -> None: ...


@dataclass(frozen=True)
class AuditPage:
    """The entries as JSON; `next_cursor` is where the next page begins, None after the last."""

    items: Sequence[Mapping[str, Any]]
    next_cursor: str | None


class AuditLog(Protocol):
    def note(self, change: ApiChange | OperatorChange) -> None:
        """Keep who changed what over HTTP, or in the operators' chat; again changes nothing."""


class Journal(AuditLog, Protocol):
    def write(
        self,
        task: Task,
        events: Sequence[Event],
        run: Run | None,
        execution: AuditEntry | None = None,
    ) -> None:
        """Keep what one version of a task brought; writing it again changes nothing."""

    def history(self, task_id: str) -> Sequence[Event]:
        """The latest few hundred, oldest first."""

    def runs(self, task_id: str) -> Sequence[Run]:
        """Ended runs, the latest few hundred, oldest first."""

    def audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        """What was done for people and changed over HTTP, by the UTC day that it began on, oldest
        first, from just after that entry on.

        Raises ValueError for an `after` that no page named.
        """


@dataclass(frozen=True)
class ErrorPage:
    items: Sequence[LoggedError]
    next_cursor: str | None


class ErrorLog(Protocol):
    def keep(self, error: LoggedError, run: Run) -> bool:
        """Log the failure and count it: all of it or nothing, and once. False: it was before.

        Raises where others write to the same counters all the time; then nothing was written.
        """

    def recovered(self, recovery: Recovery) -> bool:
        """Count that a retry succeeded, with the guarantees of `keep`. What an occurrence failed
        of first must have been kept before."""

    def of_task(self, task_id: str) -> Sequence[LoggedError]:
        """The latest few hundred, oldest first."""

    def of_subject(
        self, subject: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Newest first; a walk skips and repeats nothing. Raises ValueError for a bad cursor."""

    def of_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Likewise, of the last 30 days."""


class Patterns(Protocol):
    """What failures have taught, by the policy and the fingerprint of a failure. What nobody said
    is forgotten after a while."""

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> Pattern | None:
        """One cheap read. May lag behind the writes."""

    def newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[Pattern]:
        """Most recently seen first: one read, however many there are. May lag."""

    def seen(self, sighting: Sighting) -> None:
        """Count it. What is seen again counts again."""

    def taught(self, sighting: Sighting, said: Said) -> None:
        """Keep what a person said of it; to keep it again changes nothing."""

    def forget(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        """From now on, nobody said anything of it. False: nobody had."""

    def tried(self, policy: str, follows: Followed, *, worked: bool, at: datetime) -> None:
        """Count a retry for what it followed: the failure, and the delay after it."""

    def tries(self, policy: str, category: str, *, now: datetime) -> TriesBySeconds:
        """Of this month and the one before, by the seconds waited. May lag."""

    def all_tries(self, policy: str, *, now: datetime) -> Mapping[str, TriesBySeconds]:
        """Likewise, by category: one read."""


class Stats(Protocol):
    def add(self, increments: Iterable[Increment]) -> None:
        """One write for each counter. What is added again counts again."""

    def counters(self, days: Sequence[str]) -> Sequence[Counted]:
        """One read a day. May lag behind the writes."""

    def given_up(self, limit: int) -> Sequence[Subject]:
        """Subjects in permanent failure, most failures first: one read."""

    def repeated(self, *, since: datetime) -> Sequence[Tracker]:
        """What failed at least four times since, of late first and not endlessly: one read."""


class Connections(Protocol):
    """Who listens to live events."""

    def add(self, connection: Connection) -> None: ...

    def change(self, connection_id: str, subscription: Subscription) -> bool:
        """From now on it hears that. False: it is not known, or no more."""

    def remove(self, connection_id: str) -> None:
        """One that is not known is removed already."""

    def all(self) -> Sequence[Connection]:
        """At most a second old, but for what was changed here; also those that have expired."""


class DeadLetters(Protocol):
    def keep(self, letter: DeadLetter) -> None:
        """Keep what no task could be found for; keeping it again changes nothing."""

    def kept(self, after: str = "") -> Iterator[DeadLetter]:
        """Oldest first, from just behind that place on, read as far as one asks."""

    def drop(self, letter: DeadLetter) -> None: ...


class MailRoom(Protocol):
    def send_back(self, letter: DeadLetter) -> None:
        """Put it on the queue it died on, or raise."""


class Breakers(Protocol):
    def load(self) -> Panel:
        """All breakers as last written, never an older state."""

    def save(self, before: Panel, after: Panel, event: Event | None) -> None:
        """Replace exactly `before` and journal the event, or neither.

        Raises StaleBreakersError for all callers but one. A write whose answer was lost is
        recognised as one's own and does not raise.
        """


class Budgets(Protocol):
    """Money per UTC day, in micro-dollars. However many reserve at once, the cap holds."""

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        """Hold the most that one call may cost. Raises BudgetExceededError: do not make the call.

        An id stands for one call. Reserved again while it is held, nothing more is held and the
        answer is the first one; once settled, it is a new call. What is never settled, because
        the worker died, stays held for its day: it may have been spent.
        """

    def settle(self, name: str, reservation_id: str, actual: int, *, now: datetime) -> None:
        """Replace what is held by what it cost, once. `now` is that of the reservation.

        A cost above what was held is recorded as it is: nothing more is let through then.
        """

    def today(self, name: str, *, now: datetime) -> Budget:
        """As last written; a budget that was never used has its limit and nothing spent."""

    def used_on(self, now: datetime) -> Sequence[Budget]:
        """Those used on that day or set for it, by name, as last written: at most 200 of them."""

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        """Once it returns, the limit holds for today and all days after. Of two, the last wins."""


class AlertMemory(Protocol):
    """When which alert was told, as far as it matters still."""

    def recall(self, topic: str) -> Telling | None:
        """As last written, never an older state."""

    def note(self, topic: str, before: Telling | None, after: Telling) -> bool:
        """Replace exactly `before`. False for all callers but one; nothing was written then.

        A write whose answer was lost is recognised as one's own.
        """
