"""Repair the tasks of a dead letter whose records the stream no longer has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.dispatch.unjournaled import RepairProgress, StreamPosition, store_progress
from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.ports.tasks import TaskPage
from duecourse.usecases.dead_letters.process_again import RejournalDeps, process_again
from duecourse.usecases.journal.repair_task import derive_change, find_lost_change

FAILED_AGAIN = "the journal failed on it again: search its log for the task's id"
GOES_ON = "some of its tasks are repaired: redrive it again for the others"
MAX_REBUILT = 300  # changes of one request, which takes some seconds
MAX_FAILED = 10
_PAGE_SIZE = 100


@dataclass
class _Repair:
    position: StreamPosition
    deps: RejournalDeps
    cursor: str | None
    failed: list[str] = field(default_factory=list)
    rebuilt_count: int = 0

    @property
    def must_stop(self) -> bool:
        is_full = self.rebuilt_count >= MAX_REBUILT or len(self.failed) >= MAX_FAILED
        return is_full or not self.deps.has_time()

    def retry(self, task_ids: tuple[str, ...]) -> None:
        """Process those that failed before. They may be counted, and were not notified."""
        for task_id in task_ids:
            try:
                task = self.deps.store.get(task_id)
                change = derive_change(task, self.deps.journal_deps.journal, self.position)
            except UnknownTaskError:
                continue
            except UnreadableItemError:
                self.failed.append(task_id)
                continue
            if change is not None:
                self._rebuild(change)

    def go_on(self) -> bool:
        """Go through the pages of all tasks; return whether the last one is done."""
        while True:
            page = self._load_page()
            if not self._rebuild_page(page):
                return False
            if page.next_cursor is None:
                return True
            self.cursor = page.next_cursor
            if self.must_stop:
                return False

    def _load_page(self) -> TaskPage:
        now = self.deps.journal_deps.wait_sync.clock.now()
        return self.deps.store.list_page(
            TaskFilter(), limit=_PAGE_SIZE, cursor=self.cursor, now=now
        )

    def _rebuild_page(self, page: TaskPage) -> bool:
        """Rebuild what the tasks of the page lack; return whether all of them are done."""
        journal_deps, counted = self.deps.journal_deps, self.deps.counted_runs
        now = journal_deps.wait_sync.clock.now()
        for task in page.items:
            if task.id in self.failed:
                continue
            change = find_lost_change(
                task, journal_deps.journal, counted, position=self.position, now=now
            )
            if change is None:
                continue
            if self.rebuilt_count and self.must_stop:  # at least one, so that each request helps
                return False
            self._rebuild(change)
        return True

    def _rebuild(self, change: StreamChange) -> None:
        self.rebuilt_count += 1
        if not process_again(change, self.deps) and change.task_id is not None:
            self.failed.append(change.task_id)


def repair_lost(letter: DeadLetter, position: StreamPosition, deps: RejournalDeps) -> str | None:
    """Rebuild what the journal lost, from the tasks; return why that is not finished, else None.

    A request has a bound, so the letter is stored with how far this came, and redriving it goes on
    from there.
    """
    progress = position.progress
    repair = _Repair(position, deps, progress.cursor)
    repair.retry(tuple(progress.failed))
    is_complete = len(repair.failed) < MAX_FAILED and repair.go_on()
    if is_complete and not repair.failed:
        return None
    reached = RepairProgress(cursor=repair.cursor, failed=repair.failed)
    deps.dead_letters.save(replace(letter, body=store_progress(letter.body, reached)))
    return FAILED_AGAIN if repair.failed else GOES_ON
