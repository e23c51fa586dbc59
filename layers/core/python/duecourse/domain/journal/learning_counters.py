"""Counters for learning: how often a failure pattern was seen, and which retries succeeded.

`learned#<policy>#<fingerprint>` counts failures (`seen`) and the retries that followed (`tried`,
`worked`); its `last` names the record of the latest failure. `delay#<policy>#<category>` counts
retries by the delay before them: `t30` those after 30 seconds, `w30` those that succeeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.increment import Increment
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.time.utc_days import utc_day

LEARNED_PREFIX = "learned#"
DELAY_PREFIX = "delay#"
_TRIED_PREFIX, _WORKED_PREFIX = "t", "w"


@dataclass(frozen=True, order=True, slots=True)
class RunRef:
    """Where a run's record is. Sorts by the end of the run, then by task and id."""

    ended_at: datetime
    task_id: str
    run_id: str
    started_at: datetime

    def to_text(self) -> str:
        return f"{to_text(self.ended_at)} {self.task_id} {self.run_id} {to_text(self.started_at)}"

    @classmethod
    def from_text(cls, text: str) -> RunRef:
        ended_at, task_id, run_id, started_at = text.split(" ")
        return cls(from_text(ended_at), task_id, run_id, from_text(started_at))


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternCounts:
    """`latest`: the latest failure of this pattern; None if only retries of it were counted."""

    seen: int = 0
    tried: int = 0
    worked: int = 0
    latest: RunRef | None = None


def learning_increments(task: Task, run: Run) -> Iterator[Increment]:
    """Yield what an ended run teaches."""
    has_succeeded = run.status is RunStatus.COMMITTED
    ended_at = run.ended_or_started_at
    day, note = utc_day(ended_at), run.diagnosis
    if run.is_failure and note is not None and note.fingerprint is not None and run.category:
        latest = RunRef(ended_at, task.id, run.id, run.started_at).to_text()
        name = _pattern_counter(task.policy, note.fingerprint)
        yield Increment(day, name, {"seen": 1}, latest={"last": latest})
    # A run that attempted nothing says nothing about the delay before it.
    is_attempted = has_succeeded or (note is not None and note.counted)
    previous = run.previous_failure
    if previous is None or not is_attempted:
        return
    if previous.fingerprint is not None:
        results = {"tried": 1, "worked": int(has_succeeded)}
        yield Increment(day, _pattern_counter(task.policy, previous.fingerprint), results)
    if (seconds := previous.delay_seconds) is not None:
        results = {f"{_TRIED_PREFIX}{seconds}": 1, f"{_WORKED_PREFIX}{seconds}": int(has_succeeded)}
        yield Increment(day, f"{DELAY_PREFIX}{task.policy}#{previous.category}", results)


def read_pattern_counts(policy: str, increments: Iterable[Increment]) -> dict[str, PatternCounts]:
    """Return the counts by fingerprint, from merged or unmerged increments."""
    prefix, found = f"{LEARNED_PREFIX}{policy}#", dict[str, PatternCounts]()
    for one in increments:
        if one.counter.startswith(prefix):
            fingerprint = one.counter.removeprefix(prefix)
            found[fingerprint] = _add(found.get(fingerprint, PatternCounts()), one)
    return found


def read_retry_outcomes(
    policy: str, increments: Iterable[Increment]
) -> dict[str, RetryOutcomesByDelay]:
    """Return the outcomes of retries by category and delay in seconds."""
    prefix, found = f"{DELAY_PREFIX}{policy}#", dict[str, dict[int, RetryOutcomes]]()
    for one in increments:
        if not one.counter.startswith(prefix):
            continue
        by_delay = found.setdefault(one.counter.removeprefix(prefix), {})
        for name, tried in one.sums.items():
            if name.startswith(_TRIED_PREFIX):
                seconds = int(name.removeprefix(_TRIED_PREFIX))
                outcomes = RetryOutcomes(tried, one.sums.get(f"{_WORKED_PREFIX}{seconds}", 0))
                by_delay[seconds] = by_delay.get(seconds, RetryOutcomes()).add(outcomes)
    return dict(found)


def _add(counts: PatternCounts, one: Increment) -> PatternCounts:
    last = one.latest.get("last")
    refs = [ref for ref in (counts.latest, RunRef.from_text(last) if last else None) if ref]
    return PatternCounts(
        seen=counts.seen + one.sums.get("seen", 0),
        tried=counts.tried + one.sums.get("tried", 0),
        worked=counts.worked + one.sums.get("worked", 0),
        latest=max(refs, default=None),
    )


def _pattern_counter(policy: str, fingerprint: str) -> str:
    return f"{LEARNED_PREFIX}{policy}#{fingerprint}"
