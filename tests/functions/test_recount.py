"""Every counter equals a recount from the runs, however the stream's batches are cut and repeated.

`make recount` does the same with 10,000 failures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.run_records import to_record
from duecourse.adapters.aws.dynamodb.task_mapper import to_item
from duecourse.app import services, stores
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.run_record import RunRecord
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.lifecycle.track_errors import track_correction, track_error
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.recent_errors import REPEATED_THRESHOLD
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text, truncate_to_millisecond
from duecourse.domain.time.utc_days import last_days, utc_day

from local.runtime.functions import InvocationError
from tests.support.builders.failures import (
    a_failure_report,
    correct_task,
    crash_task,
    fail_task,
)
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import a_task, claim_task
from tests.support.stack_client import StackClient

SHARDS, MAX_BATCH = 3, 100
# A stream keeps its records for a day, so nothing older is ever counted.
SPREAD = timedelta(hours=23)
ERRORS = [
    Failure.create("connect ECONNREFUSED 10.0.0.7:443", code="ECONNREFUSED"),
    Failure.create("Too Many Requests", status=429),
    Failure.create("SyntaxError: invalid syntax (app.py, line 7)"),
    Failure.create("daily budget exceeded", code="budget_exceeded"),
    Failure.create("the printer is on fire"),
]


@dataclass
class Workload:
    """Tasks that fail some times and then succeed or not, as changes of several stream shards."""

    rng: Random
    now: datetime
    records: dict[int, list[dict[str, Any]]] = field(
        default_factory=lambda: {shard: [] for shard in range(SHARDS)}
    )
    subjects: dict[str, Subject] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    failure_count: int = 0
    taken_back: list[Run] = field(default_factory=list)

    def fill(self, failures: int) -> None:
        """Run tasks in the order of their due times until so many have failed."""
        waiting = [self._create(n) for n in range(failures // 2)]
        heapify(waiting)
        while waiting and self.failure_count < failures:
            _, task_id = heappop(waiting)
            task = self._run(self.tasks[task_id])
            self.tasks[task_id] = task
            if task.is_waiting and task.due_at <= self.now:
                heappush(waiting, (task.due_at, task_id))

    def _create(self, n: int) -> tuple[datetime, str]:
        rng = self.rng
        at = truncate_to_millisecond(self.now - rng.random() * SPREAD)
        task = a_task(
            id=f"{n:08x}-0000-4000-8000-{n:012x}",
            type="action",
            policy=rng.choice(["agent", "omega"]),
            subject=f"story-{rng.randrange(40)}" if rng.random() < 0.5 else None,
            payload={"provider": rng.choice(["openai", "anthropic"])},
            due_at=at,
            nominal_at=at,
            created_at=at,
        )
        self.tasks[task.id] = self._write(None, task)
        return task.due_at, task.id

    def _run(self, task: Task) -> Task:
        running = self._claim(task)
        is_failing = self.rng.random() < (0.9 if task.retry_count == 0 else 0.6)
        if self.rng.random() < 0.15:
            return self._crash_and_report(running, is_failing=is_failing)
        if is_failing:
            return self._fail(running)
        return self._write(running, commit(running, "done", at=running.due_at))

    def _claim(self, task: Task) -> Task:
        name = f"run-{task.id[:8]}-{task.version}"
        return self._write(task, claim_task(task, name, at=task.due_at))

    def _fail(self, running: Task) -> Task:
        failed = fail_task(running, self.rng.choice(ERRORS), at=running.due_at)
        subject = self._subject(running) if running.subject else None
        failed, tracked = track_error(failed, subject, None)
        self._keep(tracked)
        self.failure_count += 1
        return self._write(running, failed)

    def _crash_and_report(self, running: Task, *, is_failing: bool) -> Task:
        """Let the worker report after its run was taken for crashed. Its effect is harmless."""
        at = running.due_at
        crashed, tracked = track_error(
            crash_task(running, at=at), self._subject(running) if running.subject else None, None
        )
        self._keep(tracked)
        self._write(running, crashed)
        self.taken_back.append(run_of(crashed))
        self.failure_count += is_failing
        report = a_failure_report(running, self.rng.choice(ERRORS), at=at)
        if not is_failing:
            report = replace(report, effect=Effect.APPLIED, result="done", is_finished=True)
        subject = self._subject(running) if running.subject else None
        corrected, tracked = track_correction(
            correct_task(crashed, report, at=at), subject, None, at=at
        )
        self._keep(tracked)
        return self._write(crashed, corrected)

    def _keep(self, tracked: Subject | None) -> None:
        if tracked is not None:
            self.subjects[tracked.id] = tracked

    def _subject(self, task: Task) -> Subject:
        return self.subjects.get(task.subject or "", Subject(id=task.subject or ""))

    def _write(self, old: Task | None, new: Task) -> Task:
        shard = self.records[int(new.id[:8], 16) % SHARDS]
        images = {"NewImage": new, **({"OldImage": old} if old else {})}
        written_at = new.run.ended_at or new.run.started_at if new.run else new.created_at
        change = {
            "ApproximateCreationDateTime": float(int(written_at.timestamp())),
            "Keys": {"short_id": {"S": new.short_id}, "id": {"S": new.id}},
            **{name: to_image(task) for name, task in images.items()},
        }
        shard.append({"eventName": "MODIFY", "dynamodb": change})
        return new

    def sort(self) -> None:
        """Put the changes of each shard in the order of their writes, and number them."""
        for shard in self.records.values():
            shard.sort(key=lambda record: record["dynamodb"]["ApproximateCreationDateTime"])
            for n, record in enumerate(shard):
                record["dynamodb"]["SequenceNumber"] = str(10**21 + n)


def to_image(task: Task) -> dict[str, Any]:
    return dict(to_item(task, shard_count=4, retention=timedelta(days=30)).serialize())


def is_correction(record: dict[str, Any]) -> bool:
    """Return whether neither the old nor the new task is running, as only in corrections."""
    images = [record["dynamodb"].get(name) for name in ("OldImage", "NewImage")]
    return all(image and image["status"]["S"] != "in_progress" for image in images)


@dataclass
class Deliveries:
    """Delivers the records of a shard in order, in batches of any size, some of them repeatedly."""

    rng: Random
    client: StackClient

    def deliver(self, shard: int, records: list[dict[str, Any]]) -> Iterator[None]:
        position = 0
        while position < len(records):
            if self.rng.random() < 0.2 and position:
                self._repeat(shard, records[:position])
            end = min(len(records), position + self.rng.randint(1, MAX_BATCH))
            position = self._invoke(shard, records, position, end)
            yield

    def _repeat(self, shard: int, delivered: list[dict[str, Any]]) -> None:
        """Deliver again what was delivered before, also out of order.

        A stream that goes back comes to later changes again, so corrections of these runs do, too.
        """
        start = self.rng.randrange(len(delivered))
        batch = delivered[start : start + self.rng.randint(1, MAX_BATCH)]
        corrections = [record for record in delivered[start:] if is_correction(record)]
        if self.rng.random() < 0.5:
            self.rng.shuffle(batch)
        self.client.stack.invoke("journal", self._event(shard, batch))
        self.client.stack.invoke("journal", self._event(shard, corrections))

    def _invoke(self, shard: int, records: list[dict[str, Any]], start: int, end: int) -> int:
        """Return the position to continue at. A crash leaves the batch to be delivered again."""
        if self.rng.random() < 0.15:
            call = self.rng.choice(["dynamodb.PutItem", "dynamodb.BatchWriteItem"])
            when = self.rng.choice(["before", "after"])
            self.client.add_fault(function="journal", call=call, when=when, kind="crash")
        if self.rng.random() < 0.1:
            services.reset()  # another container, which has no page in memory
        with suppress(InvocationError):
            event = self._event(shard, records[start:end])
            failed = self.client.stack.invoke("journal", event)["batchItemFailures"]
            start = end if not failed else start
        self.client.call("DELETE", "/_local/faults")
        return start

    def _event(self, shard: int, records: list[dict[str, Any]]) -> dict[str, Any]:
        return {"Records": records, "shardId": f"shardId-{shard}", "state": {}}


@pytest.mark.fault_may_miss
@pytest.mark.parametrize("failures", [500])
def test_every_counter_equals_a_recount_from_the_runs(client: StackClient, failures: int) -> None:
    recount(client, failures, seed=1)


def recount(client: StackClient, failures: int, *, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    workload = Workload(rng, client.stack.clock.now())
    workload.fill(failures)
    workload.sort()
    for subject in workload.subjects.values():
        stores.subjects().save(replace(subject, version=1))
    deliveries = Deliveries(rng, client)
    pending = [deliveries.deliver(shard, records) for shard, records in workload.records.items()]
    while pending:
        shard = rng.choice(pending)
        if next(shard, pending) is pending:
            pending.remove(shard)
    check_all(client, workload)


def check_all(client: StackClient, workload: Workload) -> None:
    stored = JournalItem.scan(JournalItem.entry.startswith("r#"))
    failed = [record for record in map(to_record, stored) if record.run.is_failure]
    assert len(failed) == workload.failure_count
    tasks = list(workload.tasks.values())
    stats = client.call("GET", "/stats?days=30").body
    check_categories(stats, failed, workload.taken_back)
    check_recoveries(stats, tasks, failed)
    check_providers(stats, tasks, failed)
    check_repeated(stats, failed, now_day=utc_day(workload.now))
    check_patterns(client, failed, tasks)
    check_subjects(client, failed)
    check_listings(client, failed)


def check_listings(client: StackClient, failed: list[RunRecord]) -> None:
    for category in {record.run.error_category for record in failed}:
        listed, cursor = [], ""
        while cursor is not None:
            path = f"/errors?category={category}&limit=200{cursor and f'&cursor={cursor}'}"
            page = client.call("GET", path).body
            listed += [one["id"] for one in page["items"]]
            cursor = page["next_cursor"]
        expected = [one.run.id for one in failed if one.run.error_category == category]
        assert sorted(listed) == sorted(expected)


def check_categories(stats: dict[str, Any], failed: list[RunRecord], taken_back: list[Run]) -> None:
    """Only when a category was seen first and last keeps what was taken back."""
    counted = Counter(record.run.error_category for record in failed)
    assert {row["category"]: row["count"] for row in stats["errors_by_category"]} == counted
    by_day = Counter((utc_day(ended_at(one.run)), one.run.error_category) for one in failed)
    assert {(row["day"], row["category"]): row["count"] for row in stats["errors_by_day"]} == by_day
    for row in stats["errors_by_category"]:
        runs = [*(one.run for one in failed), *taken_back]
        moments = [to_text(ended_at(run)) for run in runs if run.category == row["category"]]
        assert (row["first_seen"], row["last_seen"]) == (min(moments), max(moments))
    patterns = Counter(
        (record.run.error_category, record.run.diagnosis.pattern)
        for record in failed
        if record.run.diagnosis
    )
    assert {(r["category"], r["pattern"]): r["count"] for r in stats["common_patterns"]} == patterns


def check_recoveries(stats: dict[str, Any], tasks: list[Task], failed: list[RunRecord]) -> None:
    first = {one.task_id: one.run for one in failed if one.run.attempt == 1}
    succeeded = [task for task in tasks if is_committed(task)]
    recovered = [task for task in succeeded if task.id in first]
    by_category = Counter(first[task.id].error_category for task in recovered)
    failures = Counter(run.error_category for run in first.values())
    assert {r["category"]: (r["failures"], r["recovered"]) for r in stats["recovery_rate"]} == {
        category: (count, by_category[category]) for category, count in failures.items()
    }
    retries = Counter(str(task.retry_count) for task in recovered)
    assert stats["retries_to_success"]["histogram"] == retries
    assert stats["lateness"]["count"] == len(succeeded)


def check_providers(stats: dict[str, Any], tasks: list[Task], failed: list[RunRecord]) -> None:
    failures = Counter(record.provider for record in failed)
    succeeded = [task for task in tasks if is_committed(task)]
    successes = Counter(task.provider for task in succeeded)
    retried = Counter(task.provider for task in succeeded if run_of(task).attempt > 1)
    assert {
        row["provider"]: (row["runs"], row["failures"], row["recovered"])
        for row in stats["by_provider"]
    } == {
        name: (failures[name] + successes[name], failures[name], retried[name])
        for name in failures | successes
    }
    blocked = defaultdict(set)
    for one in failed:
        if one.run.category == "budget_exceeded":
            blocked[utc_day(ended_at(one.run))].add(one.subject or one.task_id)
    assert {row["day"]: row["unique_blocked"] for row in stats["budget_timeline"]} == {
        day: len(names) for day, names in blocked.items()
    }


def check_repeated(stats: dict[str, Any], failed: list[RunRecord], *, now_day: str) -> None:
    since = last_days(now_day, 30)[-1]
    recent = [one for one in failed if utc_day(ended_at(one.run)) >= since]
    totals = Counter(one.subject or one.task_id for one in recent)
    repeated = Counter({name: n for name, n in totals.items() if n >= REPEATED_THRESHOLD})
    listed = {r["subject"] or r["task_id"]: r["total_errors"] for r in stats["repeated_failures"]}
    assert len(listed) == min(20, len(repeated))
    assert listed.items() <= repeated.items()
    assert min(listed.values()) >= sorted(repeated.values(), reverse=True)[len(listed) - 1]


def check_patterns(client: StackClient, failed: list[RunRecord], tasks: list[Task]) -> None:
    seen, tried, worked = Counter[Any](), Counter[Any](), Counter[Any]()
    policy_of = {task.id: task.policy for task in tasks}
    for one in failed:
        if one.run.diagnosis and one.run.diagnosis.fingerprint:
            seen[one.policy, one.run.diagnosis.fingerprint] += 1
    runs = [(one.policy, one.run) for one in failed]
    runs += [(policy_of[task.id], task.run) for task in tasks if task.run and is_committed(task)]
    for policy, run in runs:
        is_tried = run.status is RunStatus.COMMITTED or (run.diagnosis and run.diagnosis.counted)
        if run.previous_failure and run.previous_failure.fingerprint and is_tried:
            tried[policy, run.previous_failure.fingerprint] += 1
            worked[policy, run.previous_failure.fingerprint] += run.status is RunStatus.COMMITTED
    assert {
        (row["policy"], row["fingerprint"]): (row["count"], row["tried"], row["worked"])
        for row in client.items("/patterns?limit=200")
    } == {key: (count, tried[key], worked[key]) for key, count in seen.items()}


def check_subjects(client: StackClient, failed: list[RunRecord]) -> None:
    by_subject = Counter(record.subject for record in failed if record.subject)
    for subject, count in by_subject.items():
        reply = client.call("GET", f"/errors?subject={subject}&limit=200").body
        listed = [one["id"] for one in reply["items"]]
        assert len(set(listed)) == len(listed) == min(200, count)


def is_committed(task: Task) -> bool:
    return task.run is not None and task.run.status is RunStatus.COMMITTED


def ended_at(run: Run) -> Any:
    return run.ended_at or run.started_at
