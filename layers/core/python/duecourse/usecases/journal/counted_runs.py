"""Look up which runs the journal counted."""

from __future__ import annotations

from collections.abc import Iterator, Set
from datetime import datetime, timedelta

from duecourse.domain.journal.counted_runs import counted_run_name
from duecourse.domain.tasks.run import Run
from duecourse.domain.time.utc_days import days_between, utc_day
from duecourse.ports.journal import Counters

_DAY = timedelta(days=1)


class CountedRuns:
    """Reads the counters of a day once, and remembers which runs were tried after that."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._failed: dict[str, Set[str]] = {}
        self._named: dict[str, Set[str] | None] = {}
        self._added: set[str] = set()

    def add(self, run: Run) -> None:
        self._added.add(run.id)

    def has_name(self, run: Run, *, now: datetime) -> bool:
        """Return whether the run is known to be counted. Most recorded runs have no name."""
        if run.id in self._added or (run.is_failure and self._is_named_failure(run)):
            return True
        name = counted_run_name(run)
        return any(names is not None and name in names for names in self._names(run, now))

    def has_names_since(self, run: Run, *, now: datetime) -> bool:
        """Return whether all code that may have counted the run names the runs it counts."""
        return all(names is not None for names in self._names(run, now))

    def _is_named_failure(self, run: Run) -> bool:
        day = utc_day(run.ended_or_started_at)
        if day not in self._failed:
            failed = self._counters.list_failed_runs(day)
            self._failed[day] = {one.ref.run_id for one in failed}
        return run.id in self._failed[day]

    def _names(self, run: Run, now: datetime) -> Iterator[Set[str] | None]:
        """Yield the names of each day on which the run may have been counted.

        The clock of a worker may be ahead, and a redriven change is counted later.
        """
        first = utc_day(run.ended_or_started_at - _DAY)
        for day in days_between(first, utc_day(now)):
            if day not in self._named:
                self._named[day] = self._counters.list_counted_runs(day)
            yield self._named[day]
