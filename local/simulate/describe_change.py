"""Say what a write changed about a task, in a few words."""

from __future__ import annotations

from duecourse.domain.tasks.task import Task

from local.simulate.story_entry import format_time


def describe_change(old: Task | None, new: Task | None) -> str:
    """Return for example `pending → in_progress, run 1f3a attempt 1`."""
    if new is None:
        return "deleted, or stored in a form that this code cannot read"
    if old is None:
        return f"created, {new.status}, due {format_time(new.due_at)}"
    parts = [f"{old.status} → {new.status}" if old.status is not new.status else str(new.status)]
    parts += _describe_run(old, new)
    if new.retry_count != old.retry_count:
        parts.append(f"retry_count {old.retry_count} → {new.retry_count}")
    if new.due_at != old.due_at:
        parts.append(f"due {format_time(new.due_at)}")
    if new.wait is not None and new.wait != old.wait:
        parts.append(f"waits for {new.wait.reason}")
    if new.paused != old.paused:
        parts.append("paused" if new.paused else "resumed")
    return ", ".join(parts)


def _describe_run(old: Task, new: Task) -> list[str]:
    run = new.run
    if run is None or run == old.run:
        return []
    if run.id != old.run_id:
        return [f"run {run.id[:4]} attempt {run.attempt}"]
    changes = [f"run {run.id[:4]}"]
    if old.run is not None and old.run.status is not run.status:
        changes.append(f"{run.status}")
    if old.run is not None and old.run.mutation.status is not run.mutation.status:
        changes.append(f"effect {run.mutation.status}")
    if run.category is not None and run.ended_at is not None:
        changes.append(f"({run.category})")
    return [" ".join(changes)]
