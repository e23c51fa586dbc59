"""The review that a task waits for: how it is made, who may ask for it, and what it is told."""

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

ACTS = replace(
    STACK_CAPABILITIES, check_verifier=lambda payload: check_action(payload, {"a": _any, "b": _any})
)


def _any(payload: Any) -> None:
    """Every payload will do."""


# As it is made


def test_the_task_waits_for_a_review_that_is_due_at_once() -> None:
    task = a_task_awaiting_review()
    review = review_of(task)
    assert (task.status, task.blocked_at) == (Status.BLOCKED, NOW)
    assert awaited_task_id(task) == review.id
    assert task.wait == Wait(WaitReason.SPEC_REVIEW, task_id=review.id)
    assert (review.status, review.type, review.due_at, review.version) == (
        *(Status.PENDING, "action", NOW, 1),
    )


def test_its_id_is_a_uuid_and_follows_from_the_version_that_failed() -> None:
    found = review_of(a_task_awaiting_review()).id
    assert uuid.UUID(found).version == 4
    assert review_of(a_task_awaiting_review()).id == found
    assert review_of(a_task_awaiting_review(id=ID[:-1] + "1")).id != found
    assert review_of(a_task_awaiting_review(version=7)).id != found


def test_it_is_made_by_the_change_that_has_the_task_wait_for_it() -> None:
    task = a_task_awaiting_review()
    assert build_new_review(an_action(), task) == review_of(task)
    assert build_new_review(task, replace(task, last_error_category="test_failure")) is None
    assert build_new_review(task, replace(task, recovery_action=Action.ESCALATE_TO_HUMAN)) is None
    assert build_new_review(a_task_awaiting_review(version=7), task) == review_of(task)


def test_it_belongs_to_the_same_person_and_goes_by_the_same_rules() -> None:
    task = a_task_awaiting_review(timezone="Europe/Berlin", max_retries=4, created_by="ci")
    review = review_of(task)
    names = ("owner", "reply_target", "timezone", "policy", "max_retries", "created_by")
    assert [getattr(review, name) for name in names] == [getattr(task, name) for name in names]
    assert (review.subject, review.repeat, review.verify) == (None, None, False)


def test_it_asks_for_the_specification_with_all_that_is_known() -> None:
    text = review_of(a_task_awaiting_review(description="fix the build")).description
    assert text.startswith(f"{ID[:8]}-SPEC-REVIEW: Review and clarify the specification")
    assert "failed 3 times, the last time with a code_error" in text
    for part in ("boom", "Mend it.", "fix the build", SPEC):
        assert part in text


@pytest.mark.parametrize("spec", ["s" * 30_000, {"rules": ["r" * 9_000]}])
def test_whatever_is_long_is_cut_to_fit_and_the_specification_is_kept_whole(spec: Any) -> None:
    task = a_task_awaiting_review(spec, description="d" * 4_000)
    task = replace(task, run=replace(run_of(task), error="e" * 1_000))
    review = review_of(task)
    assert len(review.description) <= 4_000
    assert review.description.count("…") == 3
    assert review.review is not None
    assert review.review.spec == spec
    assert len(build_question(review)) > 9_000


def test_a_short_specification_is_asked_about_once() -> None:
    review = review_of(a_task_awaiting_review())
    assert review.review == ReviewLink(ID, after_attempts=3, spec=None)
    assert build_question(review) == review.description


def test_it_is_done_as_the_task_would_be_and_names_it() -> None:
    review = review_of(a_task_awaiting_review())
    assert review.payload == {"provider": "scripted", "model": "small", "idempotent": True}
    assert waiting_task_id(review) == ID


def test_single_keys_may_differ_for_the_review() -> None:
    payload = review_of(a_task_awaiting_review(payload={"review": {"model": "large"}})).payload
    assert (payload["provider"], payload["model"]) == ("scripted", "large")
    assert "review" not in payload


def test_a_provider_of_its_own_takes_nothing_over() -> None:
    payload = review_of(a_task_awaiting_review(payload={"review": {"provider": "openai"}})).payload
    assert (payload["provider"], payload.get("model")) == ("openai", None)


def test_a_script_of_its_own_begins_at_its_beginning() -> None:
    review = review_of(a_task_awaiting_review(payload={"review": {"script": [{"reply": "x"}]}}))
    assert review.review == ReviewLink(ID, after_attempts=0)


# Which tasks are reviewed


def test_a_task_that_waits_for_nothing_has_no_review() -> None:
    assert build_review(an_action()) is None
    assert build_review(apply_review(a_task_awaiting_review(), None, at=NOW)) is None  # escalated
    assert (
        build_review(replace(a_task_awaiting_review(), wait=Wait(WaitReason.OTHER, task_id="x")))
        is None
    )
    assert build_review(replace(a_task_awaiting_review(), status=Status.PENDING)) is None


@pytest.mark.parametrize(
    ("payload", "can"),
    [
        ({"provider": "a", "spec": "x"}, True),
        ({"provider": "a", "spec": ""}, False),
        ({"provider": "a"}, False),
        ({"spec": "x"}, False),
        ({"spec": "x", "review": {"provider": "a"}}, True),
    ],
)
def test_a_review_needs_a_specification_and_somebody_to_look_at_it(
    payload: dict[str, Any], can: bool
) -> None:
    assert can_be_reviewed(an_action(payload=payload)) is can
    assert not can_be_reviewed(an_action(payload=payload, review=ReviewLink(ID)))


def test_a_review_knows_what_it_is_of() -> None:
    review = review_of(a_task_awaiting_review())
    assert (is_review(review), waiting_task_id(review)) == (True, ID)
    assert waiting_task_id(an_action()) is None
    assert not is_review(an_action(payload={"spec_review": {"of": ID}}))


# What a provider is asked


def test_the_specification_is_given_with_the_description() -> None:
    task = an_action(description="fix it", payload={"spec": SPEC})
    assert build_question(task) == f"fix it\n\nThe specification:\n{SPEC}"
    assert build_question(an_action(description="fix it")) == "fix it"


# At the door


def refused(payload: dict[str, Any]) -> str:
    with pytest.raises(InvalidFieldsError) as caught:
        a_requested_task(type="action", payload=payload, **SOON)
    [error] = caught.value.errors
    assert error.field == "payload"
    return error.message


@pytest.mark.parametrize("key", ["spec_review", "snooze_of"])
@pytest.mark.parametrize("value", [{"of": ID}, ID, None])
def test_nobody_else_can_link_tasks(key: str, value: Any) -> None:
    message = f"{key}: is set by Duecourse; remove it from the payload"
    assert refused({key: value}) == message
    with pytest.raises(InvalidFieldsError, match=message):
        parse_changes(
            an_action(), {"payload": {key: value}}, capabilities=STACK_CAPABILITIES, now=NOW
        )


@pytest.mark.parametrize("value", [None, "openai", [], 3])
def test_how_a_review_differs_must_be_an_object(value: Any) -> None:
    assert refused({"spec": "x", "review": value}) == "review: must be a JSON object"


@pytest.mark.parametrize(
    ("review", "message"),
    [
        ({"provider": "c"}, "review.provider: must be one of: a, b"),
        ({"budget": "!"}, "review.budget: "),
        ({"provider": "b", "max_cost": -1}, "review.max_cost: "),
    ],
)
def test_how_a_review_differs_is_checked_like_a_payload(
    review: dict[str, Any], message: str
) -> None:
    raw = {"type": "action", "payload": {"provider": "a", "spec": "x", "review": review}}
    with pytest.raises(InvalidFieldsError) as caught:
        parse_changes(an_action(), {"payload": raw["payload"]}, capabilities=ACTS, now=NOW)
    assert caught.value.errors[0].message.startswith(message)


def test_without_a_specification_the_key_is_anybodys() -> None:
    assert a_requested_task(payload={"review": "of the year"}, **SOON).payload


def test_a_review_whose_payload_is_edited_stays_one() -> None:
    review = review_of(a_task_awaiting_review())
    edit = parse_changes(review, {"payload": {"provider": "b"}}, capabilities=ACTS, now=NOW)
    assert waiting_task_id(edit.apply_to(review)) == ID


# After it


def test_the_attempt_after_a_review_came_by_itself() -> None:
    task = a_task_awaiting_review()
    review = replace(review_of(task), status=Status.COMPLETED)
    after = apply_review(task, review, at=NOW + HOUR)
    assert run_of(claim_task(after, "run-4", at=NOW + HOUR)).reason is Reason.TRANSIENT


# What is told


def test_a_review_tells_nobody_anything() -> None:
    """What comes of it is told of the task that it was made for."""
    old = start_run(review_of(a_task_awaiting_review()), attempt=2, reason=Reason.TRANSIENT)
    again = {"status": Status.PENDING, "next_retry_at": NOW + HOUR}
    for new in (
        commit_run(old),
        fail_run(old, **again),
        fail_run(old, status=Status.BLOCKED),
        fail_run(old, status=Status.FAILED),
    ):
        assert notifications_for(old, new, [ChatAddress("slack", "C0OPS")]) == []
