"""Planted bugs of the journal, its counters, and what is learned from failures."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

_DYNAMODB = "duecourse.adapters.aws.dynamodb"
_LIFECYCLE = "duecourse.domain.lifecycle"

JOURNAL_MUTANTS: Mapping[str, Mutant] = {
    "counted-again": Mutant(
        "changes that a page has counted are counted again",
        SourceEdit(
            "duecourse.domain.journal.counter_page",
            "return [one for one in changes if one.sequence_number > self.last_sequence_number]",
            "return list(changes)",
        ),
    ),
    "cached-before-written": Mutant(
        "a page is kept as counted before its write has succeeded",
        SourceEdit(
            f"{_DYNAMODB}.counters",
            "        try:\n            put_stored(",
            "        self._pages[key] = after\n        try:\n            put_stored(",
        ),
    ),
    "failure-counted-twice": Mutant(
        "a failure adds two to its category",
        SourceEdit(
            "duecourse.domain.journal.counters",
            'errors = {"errors": 1, ',
            'errors = {"errors": 2, ',
        ),
    ),
    "crash-not-logged": Mutant(
        "a run that crashed is not in the error log",
        SourceEdit(
            "duecourse.domain.tasks.run",
            "return is_crash or (self.status.is_unsuccessful and has_error)",
            "return not is_crash and self.status.is_unsuccessful and has_error",
        ),
    ),
    "pattern-learned-twice": Mutant(
        "a failure is counted twice for its pattern",
        SourceEdit("duecourse.domain.journal.learning_counters", '{"seen": 1}', '{"seen": 2}'),
    ),
    "subject-failure-twice": Mutant(
        "a failure is counted twice for its subject",
        SourceEdit(
            "duecourse.domain.failures.subject",
            "count = self.failure_count + 1",
            "count = self.failure_count + 2",
        ),
    ),
    "subject-error-not-kept": Mutant(
        "a subject does not keep the errors of its tasks",
        SourceEdit(
            f"{_LIFECYCLE}.track_errors",
            "return replace(task, run=tracked), replace(to_save, recent_errors=errors)",
            "return replace(task, run=tracked), to_save",
        ),
    ),
    "failure-in-no-category": Mutant(
        "a failure is not named by the counters from which its category is listed",
        SourceEdit(
            "duecourse.domain.journal.failed_runs",
            'members=frozenset({f"{ref.to_text()} {mark}"})',
            "members=frozenset()",
        ),
    ),
    "rule-counted-twice": Mutant(
        "a failure adds two to the rule that recognised it",
        SourceEdit(
            "duecourse.domain.journal.counters",
            'Increment(day, name, {"errors": 1, **kinds}, latest=last)',
            'Increment(day, name, {"errors": 2, **kinds}, latest=last)',
        ),
    ),
    "recovery-not-counted": Mutant(
        "a success after retries is not counted",
        SourceEdit(
            "duecourse.domain.journal.counters",
            "found = [Increment(day, AFTER_RETRIES_COUNTER, retries)]",
            "found = list[Increment]()",
        ),
    ),
    "repeats-not-tracked": Mutant(
        "a task that fails repeatedly is not listed",
        SourceEdit(
            "duecourse.domain.journal.failure_tracker",
            "is_repeated = new.recent_errors.repeated_since is not None or was_repeated",
            "is_repeated = was_repeated",
        ),
    ),
}
