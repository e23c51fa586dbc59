"""Dependencies of record_failure over fakes, with the built-in policies."""

from __future__ import annotations

from typing import Any

from duecourse.adapters.runtime.learning_errors import log_learning_unavailable
from duecourse.domain.lifecycle.retry_throttle import RetryLimit
from duecourse.ports.journal import Patterns
from duecourse.usecases.failures.diagnose import LearningDeps
from duecourse.usecases.failures.record_failure import FailureDeps
from duecourse.usecases.failures.throttle_retry import RetryThrottle
from duecourse.usecases.limits.circuit_breaker import BreakerDeps

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import DAY, NOW
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.patterns import MemoryPatterns
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore

RETRY_LIMIT = RetryLimit(pending=50, per_minute=50, shard_count=1)


def learning_deps(patterns: Patterns | None = None, *, is_adaptive: bool = False) -> LearningDeps:
    """Return the dependencies for learning; without patterns, nothing is learned yet."""
    return LearningDeps(patterns or MemoryPatterns(), is_adaptive, log_learning_unavailable)


def failure_deps(store: MemoryStore, **fields: Any) -> FailureDeps:
    defaults = {
        "subjects": store.subjects,
        "queue": ListQueue(),
        "breakers": BreakerDeps(MemoryBreakers()),
        "policies": builtin_policies(),
        "clock": ManualClock(NOW),
        "throttle": RetryThrottle(store, RETRY_LIMIT),
        "learning": learning_deps(),
        "max_uncounted_wait": 7 * DAY,
    }
    return FailureDeps(store=store, **{**defaults, **fields})
