"""What the API derives from runs: statistics, lists, patterns, subjects and budgets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.app import stores
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.learned_patterns import pattern_to_json
from duecourse.domain.journal.stats import MAX_DAYS, stats_to_json
from duecourse.usecases.failures.list_learned import read_patterns
from duecourse.usecases.journal.read_stats import read_stats

from functions.api.routes.budgets import budget_to_json
from local.simulate.task_records import Json, TaskRecord

_ALL = 1_000


@dataclass(frozen=True)
class DerivedRecords:
    """`patterns` are those of the tasks' policies, `budgets` those of the first day.

    The lists of errors hold the ids of runs, sorted. What takes long to read, because the API reads
    a month day by day, is None unless `is_thorough`.
    """

    stats: Json
    budgets: Mapping[str, Json]
    patterns: Sequence[Json] | None
    subjects: Mapping[str, Subject]
    policies: Mapping[str, Policy]
    errors_by_category: Mapping[str, Sequence[str]] | None
    errors_by_subject: Mapping[str, Sequence[str]]

    @classmethod
    def read(
        cls,
        records: Collection[TaskRecord],
        subject_ids: Iterable[str],
        *,
        first_day: datetime,
        is_thorough: bool,
    ) -> DerivedRecords:
        errors = [entry for record in records for entry in record.errors]
        now = stores.clock().now()
        days = min(MAX_DAYS, (now.date() - first_day.date()).days + 1)
        window = read_stats(days, counters=stores.counters(), stats=stores.stats(), now=now)
        budgets = stores.budgets().list_used_on(first_day)
        subjects = {one: stores.subjects().get(one) for one in sorted(subject_ids)}
        return cls(
            stats=stats_to_json(window),
            budgets={one.name: budget_to_json(one) for one in budgets},
            patterns=_list_patterns(records, now) if is_thorough else None,
            subjects=subjects,
            policies=stores.policies(),
            errors_by_category=_list_by_category(errors, now) if is_thorough else None,
            errors_by_subject=_list_by_subject(subjects, now),
        )


def _list_patterns(records: Collection[TaskRecord], now: datetime) -> list[Json]:
    used = {record.task["policy"] for record in records if record.runs}
    found = read_patterns(sorted(used), limit=_ALL, patterns=stores.patterns(), now=now)
    return [pattern_to_json(one) for one in found]


def _list_by_category(errors: Sequence[Json], now: datetime) -> dict[str, list[str]]:
    log = stores.error_log()
    return {
        name: sorted(
            one.id for one in log.list_by_category(name, limit=_ALL, cursor=None, now=now).items
        )
        for name in sorted({entry["category"] for entry in errors})
    }


def _list_by_subject(subjects: Iterable[str], now: datetime) -> dict[str, list[str]]:
    log = stores.error_log()
    return {
        name: sorted(
            one.id for one in log.list_by_subject(name, limit=_ALL, cursor=None, now=now).items
        )
        for name in subjects
    }
