"""The spec review of a blocked task: how it is built, requested and validated."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.lifecycle.awaited_task import awaited_task_id, waiting_task_id
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.spec_review import (
    build_new_review,
    build_question,
    build_review,
    can_be_reviewed,
    is_review,
)
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Reason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ReviewLink
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.reviews import SPEC, a_task_awaiting_review, review_of
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import (
    ID,
    SOON,
    STACK_CAPABILITIES,
    a_requested_task,
    an_action,
    claim_task,
)
from tests.support.notification_cases import commit_run, fail_run, start_run

ACTION_CAPABILITIES = replace(
    STACK_CAPABILITIES,
    check_verifier=lambda payload: check_action(payload, {"a": accept_any, "b": accept_any}),
)


def accept_any(payload: Any) -> None:
    """Accept every payload."""


# Building the review


def test_a_blocked_task_waits_for_a_review_that_is_due_at_once() -> None:
    task = a_task_awaiting_review()
    review = review_of(task)
    assert (task.status, task.blocked_at) == (Status.BLOCKED, NOW)
    assert awaited_task_id(task) == review.id
    assert task.wait == Wait(WaitReason.SPEC_REVIEW, task_id=review.id)
    assert (review.status, review.type, review.due_at, review.version) == (
        *(Status.PENDING, "action", NOW, 1),
    )


def test_the_review_id_is_a_uuid_derived_from_the_failed_version() -> None:
    review_id = review_of(a_task_awaiting_review()).id
    assert uuid.UUID(review_id).version == 4
    assert review_of(a_task_awaiting_review()).id == review_id
    assert review_of(a_task_awaiting_review(id=ID[:-1] + "1")).id != review_id
    assert review_of(a_task_awaiting_review(version=7)).id != review_id


def test_a_review_is_built_only_by_the_change_that_blocks_the_task_for_it() -> None:
    task = a_task_awaiting_review()
    assert build_new_review(an_action(), task) == review_of(task)
    assert build_new_review(task, replace(task, last_error_category="test_failure")) is None
    assert build_new_review(task, replace(task, recovery_action=Action.ESCALATE_TO_HUMAN)) is None
    assert build_new_review(a_task_awaiting_review(version=7), task) == review_of(task)


def test_a_review_inherits_owner_policy_and_limits_of_its_task() -> None:
    task = a_task_awaiting_review(timezone="Europe/Berlin", max_retries=4, created_by="ci")
    review = review_of(task)
    names = ("owner", "reply_target", "timezone", "policy", "max_retries", "created_by")
    assert [getattr(review, name) for name in names] == [getattr(task, name) for name in names]
    assert (review.subject, review.repeat, review.verify) == (None, None, False)


def test_a_review_description_contains_the_failure_guidance_and_specification() -> None:
    text = review_of(a_task_awaiting_review(description="fix the build")).description
    assert text.startswith(f"{ID[:8]}-SPEC-REVIEW: Review and clarify the specification")
    assert "failed 3 times (last category: code_error)" in text
    for fragment in ("boom", "Mend it.", "fix the build", SPEC):
        assert fragment in text


@pytest.mark.parametrize("spec", ["s" * 30_000, {"rules": ["r" * 9_000]}])
def test_long_texts_are_truncated_and_the_review_keeps_the_whole_specification(spec: Any) -> None:
    task = a_task_awaiting_review(spec, description="d" * 4_000)
    task = replace(task, run=replace(run_of(task), error="e" * 1_000))
    review = review_of(task)
    assert len(review.description) <= 4_000
    assert review.description.count("…") == 3
    assert review.review is not None
    assert review.review.spec == spec
    assert len(build_question(review)) > 9_000


def test_a_short_specification_appears_once_in_the_question() -> None:
    review = review_of(a_task_awaiting_review())
    assert review.review == ReviewLink(ID, after_attempts=3, spec=None)
    assert build_question(review) == review.description


def test_a_review_inherits_the_payload_and_links_to_its_task() -> None:
    review = review_of(a_task_awaiting_review())
    assert review.payload == {"provider": "scripted", "model": "small", "idempotent": True}
    assert waiting_task_id(review) == ID


def test_payload_review_overrides_single_keys() -> None:
    payload = review_of(a_task_awaiting_review(payload={"review": {"model": "large"}})).payload
    assert (payload["provider"], payload["model"]) == ("scripted", "large")
    assert "review" not in payload


def test_a_review_with_its_own_provider_inherits_no_model() -> None:
    payload = review_of(a_task_awaiting_review(payload={"review": {"provider": "openai"}})).payload
    assert (payload["provider"], payload.get("model")) == ("openai", None)


def test_a_review_with_its_own_script_starts_at_its_first_step() -> None:
    review = review_of(a_task_awaiting_review(payload={"review": {"script": [{"reply": "x"}]}}))
    assert review.review == ReviewLink(ID, after_attempts=0)


# Which tasks are reviewed


def test_a_task_that_does_not_wait_for_a_review_has_none() -> None:
    assert build_review(an_action()) is None
    assert build_review(apply_review(a_task_awaiting_review(), None, at=NOW)) is None  # escalated
    assert (
        build_review(replace(a_task_awaiting_review(), wait=Wait(WaitReason.OTHER, task_id="x")))
        is None
    )
    assert build_review(replace(a_task_awaiting_review(), status=Status.PENDING)) is None


@pytest.mark.parametrize(
    ("payload", "is_reviewable"),
    [
        ({"provider": "a", "spec": "x"}, True),
        ({"provider": "a", "spec": ""}, False),
        ({"provider": "a"}, False),
        ({"spec": "x"}, False),
        ({"spec": "x", "review": {"provider": "a"}}, True),
    ],
)
def test_a_review_needs_a_specification_and_a_provider(
    payload: dict[str, Any], is_reviewable: bool
) -> None:
    assert can_be_reviewed(an_action(payload=payload)) is is_reviewable
    assert not can_be_reviewed(an_action(payload=payload, review=ReviewLink(ID)))


def test_a_review_is_recognised_by_its_link_and_not_by_its_payload() -> None:
    review = review_of(a_task_awaiting_review())
    assert (is_review(review), waiting_task_id(review)) == (True, ID)
    assert waiting_task_id(an_action()) is None
    assert not is_review(an_action(payload={"spec_review": {"of": ID}}))


# The question to the provider


def test_the_question_contains_description_and_specification() -> None:
    task = an_action(description="fix it", payload={"spec": SPEC})
    assert build_question(task) == f"fix it\n\nThe specification:\n{SPEC}"
    assert build_question(an_action(description="fix it")) == "fix it"


# Validating requests


def rejection_message(payload: dict[str, Any]) -> str:
    with pytest.raises(InvalidFieldsError) as caught:
        a_requested_task(type="action", payload=payload, **SOON)
    [error] = caught.value.errors
    assert error.field == "payload"
    return error.message


@pytest.mark.parametrize("key", ["spec_review", "snooze_of"])
@pytest.mark.parametrize("value", [{"of": ID}, ID, None])
def test_a_payload_cannot_set_system_links(key: str, value: Any) -> None:
    message = f"{key}: is set by Duecourse; remove it from the payload"
    assert rejection_message({key: value}) == message
    with pytest.raises(InvalidFieldsError, match=message):
        parse_changes(
            an_action(), {"payload": {key: value}}, capabilities=STACK_CAPABILITIES, now=NOW
        )


@pytest.mark.parametrize("value", [None, "openai", [], 3])
def test_payload_review_must_be_an_object(value: Any) -> None:
    assert rejection_message({"spec": "x", "review": value}) == "review: must be a JSON object"


@pytest.mark.parametrize(
    ("review", "message"),
    [
        ({"provider": "c"}, "review.provider: must be one of: a, b"),
        ({"budget": "!"}, "review.budget: "),
        ({"provider": "b", "max_cost": -1}, "review.max_cost: "),
    ],
)
def test_payload_review_is_validated_like_a_payload(review: dict[str, Any], message: str) -> None:
    raw = {"type": "action", "payload": {"provider": "a", "spec": "x", "review": review}}
    with pytest.raises(InvalidFieldsError) as caught:
        parse_changes(
            an_action(), {"payload": raw["payload"]}, capabilities=ACTION_CAPABILITIES, now=NOW
        )
    assert caught.value.errors[0].message.startswith(message)


def test_payload_review_is_free_to_use_without_a_specification() -> None:
    assert a_requested_task(payload={"review": "of the year"}, **SOON).payload


def test_editing_the_payload_of_a_review_keeps_its_link() -> None:
    review = review_of(a_task_awaiting_review())
    edit = parse_changes(
        review, {"payload": {"provider": "b"}}, capabilities=ACTION_CAPABILITIES, now=NOW
    )
    assert waiting_task_id(edit.apply_to(review)) == ID


# After the review


def test_the_attempt_after_a_review_is_an_automatic_retry() -> None:
    task = a_task_awaiting_review()
    review = replace(review_of(task), status=Status.COMPLETED)
    after = apply_review(task, review, at=NOW + HOUR)
    assert run_of(claim_task(after, "run-4", at=NOW + HOUR)).reason is Reason.TRANSIENT


# Notifications


def test_a_review_sends_no_notifications() -> None:
    """The blocked task's notifications report the outcome of its review."""
    old = start_run(review_of(a_task_awaiting_review()), attempt=2, reason=Reason.TRANSIENT)
    pending_retry = {"status": Status.PENDING, "next_retry_at": NOW + HOUR}
    for new in (
        commit_run(old),
        fail_run(old, **pending_retry),
        fail_run(old, status=Status.BLOCKED),
        fail_run(old, status=Status.FAILED),
    ):
        assert notifications_for(old, new, [ChatAddress("slack", "C0OPS")]) == []
