"""Learn from a run that has ended, and from what a person says of one."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.journal.learned_patterns import find_correction, observed_failure
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import Patterns


def learn_correction(
    old: Task | None, new: Task, run: Run, patterns: Patterns, *, at: datetime
) -> None:
    """What a person said. It may come twice: it is kept once."""
    said, sighting = find_correction(old, run, at=at), observed_failure(new, run)
    if said and sighting:
        patterns.record_correction(sighting, said)


def count_run(new: Task, run: Run, patterns: Patterns) -> Exception | None:
    """For a run that has ended just now, and was never counted before.

    Why it could not be: nothing comes again for its sake, as then it would be no news any more. So
    whoever dies here has left it out.
    """
    try:
        _count_run(new, run, patterns)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being written
        return error
    return None


def _count_run(new: Task, run: Run, patterns: Patterns) -> None:
    has_worked = run.status is RunStatus.COMMITTED
    if run.is_failure and (sighting := observed_failure(new, run)):
        patterns.record_observation(sighting)
    # Where nothing was tried, the delay before it was neither right nor wrong.
    was_tried = has_worked or (run.diagnosis is not None and run.diagnosis.counted)
    if run.previous_failure and was_tried:
        at = run.ended_at or run.started_at
        patterns.record_retry(new.policy, run.previous_failure, has_succeeded=has_worked, at=at)
