"""What an outsider can see after a simulation."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.journal.stats import MAX_DAYS
from duecourse.domain.time.instant import to_text

from local.simulate.actor import Actor, Answer, Created, LimitSet
from local.simulate.budget_ledger import BudgetLedger
from local.simulate.dead_letter_log import DeadLetterLog
from local.simulate.derived_records import DerivedRecords
from local.simulate.faults import Struck
from local.simulate.listener import Listener
from local.simulate.quiet_log import QuietLog
from local.simulate.receiver import Received
from local.simulate.task_records import Json, TaskRecord, read_record
from local.simulate.world import SimulatedStack

_THOROUGH_EVERY = 4
EMIT_SUFFIX = ":emit"  # of the key with which an enrichment tells its answer
_NEVER_REPEATING = frozenset(
    {"cut-batch", "delayed-batch", "late-message", "reordered-message"}
    | {"answers-late", "cold-start", "concurrency-limit", "old-code", "clock-skew", "index-lag"}
)


@dataclass(frozen=True)
class Effect:
    """Something that reached the outside: a message, an accepted webhook, or other work."""

    key: str
    at: str


@dataclass
class Observed:
    """`checked` counts the checks by invariant. `changes` are those of the tasks' stream.

    `max_skew`: between any two clocks, one of which is right. `worker_limit`: how long it may run.
    `newer_ids`: of tasks that could not be read for a time.
    """

    created: Mapping[int, Created]
    records: Mapping[str, TaskRecord]
    deleted: frozenset[str]
    forgotten: frozenset[str]
    muted: frozenset[str]
    cancelled: Mapping[str, datetime]
    effects: Mapping[str, Sequence[Effect]]
    sent: Sequence[Any]
    received: Sequence[Received]
    message_counts: Mapping[str, int]
    said_texts: Sequence[str]
    answers: Sequence[Answer]
    log_lines: Sequence[str]
    derived: DerivedRecords
    dead_letters: Sequence[DeadLetter]
    changes: Sequence[StreamChange]
    left_messages: Mapping[str, int]
    struck: Sequence[Struck]
    failed_functions: frozenset[str]
    faults_ended_at: datetime
    max_skew: timedelta
    worker_limit: timedelta
    newer_ids: frozenset[str]
    starts_at: datetime
    now: str
    ledger: BudgetLedger
    limits_set: Sequence[LimitSet]
    failed_invocations: frozenset[int | None]
    refused_notifications: Mapping[tuple[str, str], bool]
    dead_letter_log: DeadLetterLog
    quiet_log: QuietLog
    stored_texts: Mapping[str, Sequence[str]]
    elapsed: timedelta = timedelta(0)
    emitted: frozenset[str] = frozenset()
    listeners: Sequence[Listener] = ()
    checked: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, stack: SimulatedStack, actor: Actor) -> Observed:
        found, missing = _read_tasks(stack, actor)
        return cls(
            created=dict(actor.created),
            records=found,
            deleted=missing & (actor.deleted | actor.possibly_deleted | _list_forgotten(actor)),
            forgotten=frozenset(actor.forgotten),
            muted=frozenset(actor.muted),
            cancelled=dict(actor.cancelled),
            effects=_read_effects(stack),
            sent=list(stack.outbox.sent),
            received=stack.outside.receiver.received,
            message_counts=dict(actor.message_counts),
            said_texts=list(actor.said_texts),
            answers=actor.answers,
            log_lines=stack.log_lines,
            derived=_read_derived(stack, found),
            dead_letters=list(stores.dead_letters().list_letters()),
            changes=stack.step_checks.changes,
            left_messages=_count_messages(stack),
            struck=stack.faults.struck,
            failed_functions=frozenset(stack.faults.failed_functions),
            faults_ended_at=stack.faults_ended_at,
            max_skew=stack.functions.max_skew,
            worker_limit=stack.functions.time_limit("worker"),
            newer_ids=frozenset(stack.item_versions.newer),
            starts_at=stack.starts_at,
            now=to_text(stack.clock.now()),
            ledger=stack.step_checks.budgets,
            limits_set=list(actor.limits_set),
            failed_invocations=frozenset(stack.faults.failed_invocations),
            refused_notifications=stack.refused_notifications.outcomes,
            dead_letter_log=stack.dead_letter_log,
            quiet_log=stack.step_checks.quiet_log,
            stored_texts=_read_texts(stack) if actor.forgotten else {},
            checked=Counter(stack.step_checks.checked),
            elapsed=stack.elapsed(),
            emitted=_read_emitted(stack),
            listeners=actor.listeners,
        )

    @property
    def is_uncountable(self) -> bool:
        """Return whether the runs that are left cannot be what was counted.

        Some are gone while their counts stay, or are too old; or the journal could not read one.
        """
        is_other = bool(self.deleted or self.forgotten or self.newer_ids)
        return is_other or self.elapsed.days >= MAX_DAYS

    @property
    def stats(self) -> Json:
        return self.derived.stats

    def name_of(self, task_id: str | None) -> str:
        record = self.records.get(task_id or "")
        return record.name if record else (task_id or "")[:8]

    def was_repeated_by_fault(self, *places: str) -> bool:
        """Return whether a fault that can repeat something struck at one of these places.

        They are functions and sources.
        """
        is_struck = any(
            one.point.startswith(places) and one.name not in _NEVER_REPEATING for one in self.struck
        )
        return is_struck or bool(self.failed_functions & set(places))


def _read_derived(stack: SimulatedStack, records: Mapping[str, TaskRecord]) -> DerivedRecords:
    subjects = stack.backend.aws.dynamodb.table("SubjectsTable").items.values()
    subject_ids = [item["id"]["S"] for item in subjects]
    return DerivedRecords.read(
        records.values(),
        subject_ids,
        first_day=stack.starts_at,
        is_thorough=stack.seed % _THOROUGH_EVERY == 0,
    )


def _read_tasks(
    stack: SimulatedStack, actor: Actor
) -> tuple[dict[str, TaskRecord], frozenset[str]]:
    """Return the tasks that exist, and the ids of accepted ones that do not."""
    stored = stack.backend.aws.dynamodb.table("TasksTable").items.values()
    names = {item["id"]["S"]: item["id"]["S"][:8] for item in stored}
    names |= {one.id: str(one.number) for one in actor.created.values()}
    read = {task_id: read_record(task_id, name) for task_id, name in names.items()}
    found = {task_id: record for task_id, record in read.items() if record is not None}
    return found, frozenset(read.keys() - found.keys())


def _list_forgotten(actor: Actor) -> set[str]:
    return {one.id for one in actor.created.values() if one.sender in actor.forgotten}


def _read_effects(stack: SimulatedStack) -> dict[str, list[Effect]]:
    effects: defaultdict[str, list[Effect]] = defaultdict(list)
    for sent in stack.outbox.sent:
        effects[sent.key].append(Effect(sent.key, sent.at))
    for received in stack.outside.receiver.received:
        if received.is_accepted and not received.is_repeat:
            effects[received.key].append(Effect(received.key, to_text(received.at)))
    for performed in stack.outside.work.performed:
        effects[performed.key].append(Effect(performed.key, to_text(performed.at)))
    return dict(effects)


def _read_emitted(stack: SimulatedStack) -> frozenset[str]:
    """Return the keys of the runs whose results were told to others."""
    emitted = (sent.key for sent in stack.outbox.sent if sent.key.endswith(EMIT_SUFFIX))
    return frozenset(
        [*stack.outside.work.emitted, *(key.removesuffix(EMIT_SUFFIX) for key in emitted)]
    )


def _read_texts(stack: SimulatedStack) -> dict[str, list[str]]:
    """Return all stored items of each table as text."""
    return {
        name: [json.dumps(item, default=str) for item in table.items.values()]
        for name, table in stack.backend.aws.dynamodb.tables.items()
    }


def _count_messages(stack: SimulatedStack) -> dict[str, int]:
    """Return how many messages each queue holds that could have been delivered."""
    now = stack.clock.now().timestamp()
    return {
        queue.name: sum(one.available_at <= now for one in queue.messages)
        for queue in stack.backend.aws.sqs.queues.values()
    }


def changes_of_tasks(observed: Observed) -> Iterator[tuple[Any, Any]]:
    """Yield the old and the new version of every change that has both."""
    for change in observed.changes:
        if change.old is not None and change.new is not None:
            yield change.old, change.new
