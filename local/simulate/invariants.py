"""What must hold after every simulation, whatever struck.

A new invariant is one function in `checks`, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from local.simulate.checks import (
    acknowledged,
    answers,
    budgets,
    cancellation,
    dead_letters,
    dispatch,
    effects,
    forgotten,
    journal,
    learned,
    live,
    people,
    quiet,
    resolutions,
    runs,
    schedule,
    series,
    snooze,
    statistics,
    tasks,
    waits,
)
from local.simulate.observed import Observed
from local.simulate.step_invariants import STEP_INVARIANT_NAMES
from local.simulate.violation import Violation


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
    Invariant("no two requests get the same task", tasks.created_apart),
    Invariant("no task is stuck", tasks.not_stuck),
    Invariant("every task that waits says why and until when", waits.reasons_stated),
    Invariant("late only while faults last", tasks.late_only_with_faults),
    Invariant("the queues are empty", tasks.queues_empty),
    Invariant("a redriven letter is sent to its queue", dead_letters.redriven_sent),
    Invariant("runs are linked and numbered", runs.linked),
    Invariant("at most one open run is listed", runs.one_active),
    Invariant("a lease outlasts its worker", runs.leases_last),
    Invariant("retry_count equals the failures of the error log", runs.retries_recounted),
    Invariant("an acknowledged cancellation is stored", cancellation.acknowledged_stored),
    Invariant("a cancelled task has no later run or effect", cancellation.none_after),
    Invariant("what the API returns is stored", acknowledged.answers_stored),
    Invariant("an acknowledged change is what was asked for", acknowledged.requests_fulfilled),
    Invariant("a pause lasts until somebody ends it", acknowledged.pauses_last),
    Invariant("no effect beyond what the runs admit", effects.admitted),
    Invariant("what a person resolved as applied is not repeated", resolutions.not_repeated),
    Invariant("nothing is early", effects.never_early),
    Invariant("nothing is sent to a private address", effects.none_to_private_address),
    Invariant("the error log has every failure once", journal.failures_logged_once),
    Invariant("the statistics equal a recount", journal.stats_recounted),
    Invariant("the calls of providers equal a recount", journal.providers_recounted),
    Invariant("the successes equal a recount", journal.lateness_recounted),
    Invariant("/errors lists every failure of a category", statistics.categories_listed),
    Invariant("errors by day, budget and rule equal a recount", statistics.days_recounted),
    Invariant("the recoveries equal a recount", statistics.recoveries_recounted),
    Invariant("the repeated failures equal a recount", statistics.repeated_recounted),
    Invariant("the learned patterns equal a recount", learned.patterns_recounted),
    Invariant("a subject has the errors of its tasks", learned.subject_errors_recounted),
    Invariant("a subject counts its failures once", learned.subject_failures_recounted),
    Invariant("no reservation of a budget is left", budgets.reservations_settled),
    Invariant("a reservation is settled at its cost", budgets.settled_at_cost),
    Invariant("the budgets equal a recount", budgets.budgets_recounted),
    Invariant("an acknowledged limit is in force", budgets.limits_in_force),
    Invariant("the history begins with the creation and is in order", journal.history_in_order),
    Invariant("the history names every run once", journal.history_names_runs),
    Invariant("the history ends as the task did", journal.history_ends_like_task),
    Invariant("everybody is told of every end", people.ends_told),
    Invariant("everybody is asked what waits for them", people.questions_asked),
    Invariant("a refused notification is sent again", people.refused_sent_again),
    Invariant("nobody is told twice without a fault", people.notified_once),
    Invariant("everybody who writes gets a reply", people.messages_answered),
    Invariant("no reminder starts in quiet hours", quiet.none_in_quiet_hours),
    Invariant("a reminder comes when quiet hours end", quiet.held_until_end),
    Invariant("a snoozed reminder comes once, when asked for", snooze.snoozed_as_asked),
    Invariant("nothing is stored of a forgotten sender", forgotten.nothing_left),
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
    Invariant("a task starts on time without a fault", dispatch.starts_on_time),
    Invariant("no run is taken for crashed without a fault", dispatch.crashes_explained),
    Invariant("no retry beyond the limit", dispatch.retries_limited),
    Invariant("a retry waits as long as it was asked to", dispatch.retries_wait_as_asked),
    Invariant("what only a person can clear is not retried", dispatch.persons_asked_at_once),
    Invariant("a series runs each occurrence in reach", series.occurrences_follow),
    Invariant("a series begins and goes on as its rule says", series.series_continues),
    Invariant("a committed result is told to others", effects.emitted),
    Invariant("a listener is sent every end", live.ends_pushed),
    Invariant("every message to a listener can be read", live.messages_readable),
)
# With those that are checked at every write.
INVARIANT_NAMES = STEP_INVARIANT_NAMES | {one.name for one in INVARIANTS}
