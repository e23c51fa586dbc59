"""What people are told when a late report settles the question whether an effect happened."""

from __future__ import annotations

from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.failures.failure import Failure
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import record_failure

from tests.support.builders.failures import a_failure_report
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.tasks import MemoryStore

ASKING = HandlerCapabilities(indeterminate_policy=IndeterminatePolicy.ASK_PERSON)


def settle_late(running: Task) -> tuple[Task, Task]:
    """Return the task that asks whether its effect happened, and the task after a late report."""
    store, clock = MemoryStore(running), ManualClock(NOW + 5 * MINUTE)
    record_failure(lease_expired_report(running), failure_deps(store, clock=clock))
    asking = store.get(ID)
    refused = Failure.create("connect ECONNREFUSED", code="ECONNREFUSED")
    record_failure(
        a_failure_report(running, refused, at=NOW + MINUTE), failure_deps(store, clock=clock)
    )
    return asking, store.get(ID)


def test_people_get_a_notification_of_a_blocked_task_when_its_effect_is_known() -> None:
    last_try = an_action(max_retries=1, retry_count=1, channel="console", reply_target="ada")
    asking, settled = settle_late(claim_task(last_try, capabilities=ASKING))
    assert asking.status is settled.status is Status.BLOCKED

    [notification] = notifications_for(asking, settled)
    assert notification.kind is NotificationKind.ESCALATION
    assert "ECONNREFUSED" in notification.message.text
