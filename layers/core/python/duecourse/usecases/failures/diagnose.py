"""Read a failure in the light of what was learnt of its kind before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import TriesBySeconds
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.journal.learned_patterns import as_learned
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import Patterns


@dataclass(frozen=True)
class Memory:
    """What was learnt, and whether delays follow from it. `unread` is told why it could not be
    read: then the rules alone speak."""

    patterns: Patterns
    adapts_delays: bool
    unread: Callable[[Exception], None]


@dataclass(frozen=True)
class Recalled:
    diagnosis: Diagnosis
    tries: TriesBySeconds = field(default_factory=dict)


def recall(
    task: Task, report: FailureReport, policy: Policy, memory: Memory, *, now: datetime
) -> Recalled:
    """Never raises: a failure is recorded, whatever can be remembered."""
    read = diagnose(report.failure, policy)
    if report.origin.teaches:
        read = replace(read, fingerprint=fingerprint_of(report.failure))
    try:
        diagnosis = _as_learned(read, task, policy, memory, now=now)
        return Recalled(diagnosis, _tries(task, diagnosis.category, memory, now=now))
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being read
        memory.unread(error)
        return Recalled(read)


def recall_tries(task: Task, category: str, memory: Memory, *, now: datetime) -> TriesBySeconds:
    """Never raises either."""
    try:
        return _tries(task, category, memory, now=now)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being read
        memory.unread(error)
        return {}


def _as_learned(
    read: Diagnosis, task: Task, policy: Policy, memory: Memory, *, now: datetime
) -> Diagnosis:
    if read.fingerprint is None:
        return read
    return as_learned(read, memory.patterns.find(task.policy, read.fingerprint, now=now), policy)


def _tries(task: Task, category: str, memory: Memory, *, now: datetime) -> TriesBySeconds:
    return memory.patterns.tries(task.policy, category, now=now) if memory.adapts_delays else {}
