"""While nobody knows whether an effect has happened, no advice is to retry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.notification_text import format_blocked
from duecourse.domain.journal.failure_events import failure_reason, recovery_events
from duecourse.domain.journal.run_record import to_logged_error
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.tasks.advice import (
    RECONCILE_ADVICE,
    REPEAT_ADVICE,
    RESOLVE_ADVICE,
    suggested_fix,
    visible_guidance,
)
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, Mutation, MutationStatus, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import a_run_record, builtin_policies
from tests.support.builders.runs import DIAGNOSIS, a_failed_run
from tests.support.builders.tasks import a_task

POLICIES = builtin_policies().values()
FIXES = sorted(
    {category.fix for policy in POLICIES for category in policy.categories.values()}
    | {rule.fix for policy in POLICIES for rule in policy.rules if rule.fix}
)
RETRY_HINTS = [fix for fix in FIXES if "retry" in fix.lower()]


def a_run_in_doubt(fix: str, action: Action = Action.ASK_PERSON, **fields: Any) -> Run:
    defaults: dict[str, Any] = {
        "mutation": Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE),
        "indeterminate_policy": IndeterminatePolicy.ASK_PERSON,
        "diagnosis": replace(DIAGNOSIS, fix=fix, action=action),
    }
    return a_failed_run(**{**defaults, **fields})


def a_task_in_doubt(fix: str, action: Action = Action.ASK_PERSON) -> Task:
    return a_task(
        status=Status.BLOCKED,
        run=a_run_in_doubt(fix, action),
        recovery_action=action,
        guidance=(fix, f"Second retry. {fix}"),
        last_error="timed out",
    )


def test_there_are_fixes_that_advise_a_retry() -> None:
    assert len(RETRY_HINTS) >= 2


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("fix", FIXES)
def test_no_fix_of_a_category_or_rule_is_shown_while_the_effect_is_in_doubt(
    fix: str, action: Action
) -> None:
    task = a_task_in_doubt(fix, action)
    assert task.run is not None
    texts = [
        suggested_fix(task.run),
        str(to_logged_error(replace(a_run_record(), run=task.run)).suggested_fix),
        *task_to_json(task)["guidance"],
        *(str(detail["guidance"]) for _, detail in recovery_events(task)),
        format_blocked(task).partition("Suggested fix: ")[2].partition("\n")[0],
    ]
    assert len(texts) == 5
    assert set(texts) <= {RESOLVE_ADVICE, RECONCILE_ADVICE}
    assert fix not in str(failure_reason(task))


@pytest.mark.parametrize("advice", [RESOLVE_ADVICE, RECONCILE_ADVICE, REPEAT_ADVICE])
def test_the_advice_is_not_to_retry(advice: str) -> None:
    assert not any(word in advice.lower() for word in ("retry", "try again", "run again"))


@pytest.mark.parametrize("advice", [RESOLVE_ADVICE, RECONCILE_ADVICE])
def test_the_advice_names_the_answers(advice: str) -> None:
    assert all(answer in advice for answer in ("applied", "not_applied", "skip"))
    assert "whether the effect happened" in advice


@pytest.mark.parametrize(
    ("policy", "action", "advice"),
    [
        (IndeterminatePolicy.ASK_PERSON, Action.ASK_PERSON, RESOLVE_ADVICE),
        (IndeterminatePolicy.RECONCILE, Action.ESCALATE_TO_HUMAN, RESOLVE_ADVICE),
        (IndeterminatePolicy.RECONCILE, Action.RETRY, RECONCILE_ADVICE),
        (IndeterminatePolicy.RECONCILE, Action.RETRY_WITH_GUIDANCE, RECONCILE_ADVICE),
        (IndeterminatePolicy.REPEAT, Action.RETRY, REPEAT_ADVICE),
        (IndeterminatePolicy.REPEAT, Action.MARK_AS_BLOCKED, RESOLVE_ADVICE),
    ],
)
def test_the_advice_depends_on_who_finds_out(
    policy: IndeterminatePolicy, action: Action, advice: str
) -> None:
    assert suggested_fix(a_run_in_doubt("x", action, indeterminate_policy=policy)) == advice


def test_a_skipped_run_has_no_advice() -> None:
    assert suggested_fix(a_run_in_doubt("x", status=RunStatus.CANCELLED)) == ""


def test_a_failure_without_doubt_keeps_its_fix_and_its_guidance() -> None:
    task = a_task(run=a_failed_run(), guidance=("a", "b"))
    assert suggested_fix(task.run) == DIAGNOSIS.fix
    assert visible_guidance(task) == ("a", "b")


def test_a_task_without_a_run_has_no_advice() -> None:
    assert suggested_fix(None) == ""
