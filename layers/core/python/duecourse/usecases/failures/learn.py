"""Learn from ended runs and from corrections made by people."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.journal.learned_patterns import find_correction, observed_failure
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import Patterns


def learn_correction(
    old: Task | None, new: Task, run: Run, patterns: Patterns, *, at: datetime
) -> None:
    """Store the correction if a person reclassified `run`. Idempotent."""
    correction, observation = find_correction(old, run, at=at), observed_failure(new, run)
    if correction and observation:
        patterns.record_correction(observation, correction)


def count_run(new: Task, run: Run, patterns: Patterns) -> Exception | None:
    """Count a run that has just ended; return the error instead of raising it.

    Nothing calls this again for the same run, because a repeated change is no longer new. A crash
    in here leaves the run uncounted.
    """
    try:
        _count_run(new, run, patterns)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being written
        return error
    return None


def _count_run(new: Task, run: Run, patterns: Patterns) -> None:
    has_succeeded = run.status is RunStatus.COMMITTED
    if run.is_failure and (observation := observed_failure(new, run)):
        patterns.record_observation(observation)
    # A run that attempted nothing says nothing about the delay before it.
    is_attempted = has_succeeded or (run.diagnosis is not None and run.diagnosis.counted)
    if run.previous_failure and is_attempted:
        at = run.ended_at or run.started_at
        patterns.record_retry(new.policy, run.previous_failure, has_succeeded=has_succeeded, at=at)
