"""What must hold after every simulation, whatever struck.

A new invariant is one function in `checks`, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from local.simulate.checks import (
    answers,
    effects,
    journal,
    live,
    people,
    runs,
    schedule,
    series,
    tasks,
)
from local.simulate.observed import Observed


@dataclass(frozen=True)
class Violation:
    invariant: str
    text: str


@dataclass(frozen=True)
class Invariant:
    name: str
    find: Callable[[Observed], Iterator[str | None]]

    def check(self, observed: Observed) -> Iterator[Violation]:
        """Yield the violations. `find` yields None for everything that is as it should be."""
        for text in self.find(observed):
            observed.checked[self.name] += 1
            if text is not None:
                yield Violation(self.name, text)


INVARIANTS = (
    Invariant("an accepted task exists", tasks.accepted_exist),
    Invariant("a request with a key creates one task", tasks.created_once),
    Invariant("no task is stuck", tasks.not_stuck),
    Invariant("only legal moves", tasks.legal_moves),
    Invariant("late only while faults last", tasks.late_only_with_faults),
    Invariant("the queues are empty", tasks.queues_empty),
    Invariant("a task keeps what newer code added", tasks.unknown_kept),
    Invariant("runs are linked and numbered", runs.linked),
    Invariant("at most one active run", runs.one_active),
    Invariant("a retry is counted for each counted failure", runs.retries_counted),
    Invariant("retry_count equals the failures of the error log", runs.retries_recounted),
    Invariant("no run starts after a cancellation", runs.none_after_cancellation),
    Invariant("no effect beyond what the runs admit", effects.admitted),
    Invariant("nothing is early", effects.never_early),
    Invariant("nothing is sent to a private address", effects.none_to_private_address),
    Invariant("the error log has every failure once", journal.failures_logged_once),
    Invariant("the statistics equal a recount", journal.stats_recounted),
    Invariant("the calls of providers equal a recount", journal.providers_recounted),
    Invariant("the successes equal a recount", journal.lateness_recounted),
    Invariant("the history begins with the creation and is in order", journal.history_in_order),
    Invariant("the history names every run once", journal.history_names_runs),
    Invariant("the history ends as the task did", journal.history_ends_like_task),
    Invariant("everybody is told of every end", people.ends_told),
    Invariant("nobody is told twice without a fault", people.told_once),
    Invariant("everybody who writes gets a reply", people.messages_answered),
    Invariant("no 5xx without a fault", answers.no_unexplained_5xx),
    Invariant("no secret in an answer", answers.no_secret_answered),
    Invariant("no secret in a message", answers.no_secret_sent),
    Invariant("no secret in a log line", answers.no_secret_logged),
    Invariant("a repeated request creates nothing", schedule.requests_not_repeated),
    Invariant("no run before its occurrence", schedule.runs_not_early),
    Invariant("attempts share one key", schedule.keys_kept),
    Invariant("every effect belongs to a run", schedule.effects_recorded),
    Invariant("a committed run is applied", schedule.commits_applied),
    Invariant("an occurrence succeeds once", schedule.occurrences_once),
    Invariant("a series runs each occurrence in reach", series.occurrences_follow),
    Invariant("a series begins and goes on as its rule says", series.series_continues),
    Invariant("a committed result is told to others", effects.emitted),
    Invariant("a listener is sent every end", live.ends_pushed),
    Invariant("every message to a listener can be read", live.messages_readable),
)
