"""The policy of a task that names none."""

from __future__ import annotations

from duecourse.domain.tasks.task import ACTION, REMINDER

ENRICH = "enrich"
_BY_TYPE = {REMINDER: "omega", ACTION: "agent", ENRICH: "agent"}


def default_policy(task_type: str, *, has_subject: bool) -> str:
    """Return the policy for the type. A subject matters only to tasks that enrich it."""
    if task_type == ENRICH and has_subject:
        return "enrichment"
    return _BY_TYPE.get(task_type, "standard")
