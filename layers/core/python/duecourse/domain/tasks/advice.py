"""What a person is advised to do about a failed run."""

from __future__ import annotations

from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task

RESOLVE_ADVICE = "Find out whether the effect happened, then answer applied, not_applied or skip."
RECONCILE_ADVICE = (
    "The next attempt finds out whether the effect happened. If it cannot, answer applied, "
    "not_applied or skip."
)
REPEAT_ADVICE = "The effect may have happened. Its handler declares that a second one does no harm."
_RETRIES = frozenset({Action.RETRY, Action.RETRY_WITH_GUIDANCE, Action.WAIT_FOR_BUDGET})


def suggested_fix(run: Run | None) -> str:
    """Return the advice about the failure of `run`, or an empty text.

    The fix of a category may be a retry. It is replaced if nobody knows whether the effect has
    happened; a person who has skipped the run needs no advice.
    """
    if run is None or run.diagnosis is None:
        return ""
    if not run.is_indeterminate:
        return run.diagnosis.fix
    if run.status is RunStatus.CANCELLED:
        return ""
    if run.diagnosis.action not in _RETRIES:
        return RESOLVE_ADVICE
    return RECONCILE_ADVICE if run.is_unsafe_to_repeat else REPEAT_ADVICE


def visible_guidance(task: Task) -> tuple[str, ...]:
    """Return the task's guidance as people see it. While an effect is in doubt, no hint applies."""
    is_in_doubt = task.run is not None and task.run.is_indeterminate
    advice = suggested_fix(task.run)
    return (advice,) if task.guidance and is_in_doubt and advice else task.guidance
