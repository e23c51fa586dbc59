"""Why a task waits, as stored. Older items hold an English sentence; only this module reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from duecourse.adapters.dynamodb.items import TaskItem
from duecourse.domain.instant import from_text_or_none, to_text_or_none
from duecourse.domain.policy import Action
from duecourse.domain.wait import Wait, WaitReason

_TIME = r"(?P<until>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)"
# Each names the facts of its reason. The first that fits the whole sentence is taken.
_SENTENCES = [
    (WaitReason.QUIET_HOURS, r"quiet hours until (?P<end>\d\d:\d\d) \((?P<zone>.+)\)"),
    (WaitReason.VERIFICATION, r"somebody to say whether it was done well"),
    (WaitReason.VERIFIER, r"its verifier to say whether it was done well"),
    (WaitReason.REQUEUED, r"its message died before a worker took it: it was sent again"),
    (WaitReason.RETRY_THROTTLE, r"(?P<limit>\d+) other retries wait: it comes after them"),
    (WaitReason.SPEC_REVIEW, r"the review of its specification, task (?P<review_task_id>\S+)"),
    (
        WaitReason.CIRCUIT_BREAKER,
        rf"provider (?P<provider>.+) is down: tried again from {_TIME} on",
    ),
    (
        WaitReason.SUBJECT_COOLDOWN,
        rf"subject (?P<subject>.+) was tried in vain: not again before {_TIME}",
    ),
    (
        WaitReason.BUDGET,
        rf"budget (?P<budget>\S+) is used up for today: it is whole again at {_TIME}",
    ),
    (WaitReason.BUDGET, r"(?P<message>budget (?P<budget>\S+) has \S+ of \S+ dollars left .+)"),
]
_KNOWN = [(reason, re.compile(pattern, re.DOTALL)) for reason, pattern in _SENTENCES]


def wait_to_attributes(wait: Wait | None) -> dict[str, Any]:
    if wait is None:
        return {}
    return {
        "wait": str(wait.reason),
        "wait_until": to_text_or_none(wait.until),
        "wait_detail": dict(wait.detail) or None,
    }


def read_wait(item: TaskItem) -> Wait | None:
    if item.wait:
        until = from_text_or_none(item.wait_until)
        return Wait(WaitReason(item.wait), until, item.wait_detail or {})
    if not item.waits_for:
        return None
    waits_for_budget = item.recovery_action == Action.WAIT_FOR_BUDGET
    return wait_of_sentence(item.waits_for, waits_for_budget=waits_for_budget)


def upgrade_run(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored run as it would be stored today."""
    waited_for = stored.get("waited_for")
    if not isinstance(waited_for, str):
        return dict(stored)
    return {**stored, "waited_for": wait_of_sentence(waited_for).to_json()}


def wait_of_sentence(sentence: str, *, waits_for_budget: bool = False) -> Wait:
    """Return the wait that older code stored as this sentence.

    A wait for a budget was stored in the provider's own words, which may be any.
    """
    for reason, pattern in _KNOWN:
        if found := pattern.fullmatch(sentence):
            facts = found.groupdict()
            until = from_text_or_none(facts.pop("until", None))
            return Wait(reason, until, {name: _typed(name, facts[name]) for name in facts})
    reason = WaitReason.BUDGET if waits_for_budget else WaitReason.OTHER
    return Wait(reason, detail={"message": sentence})


def _typed(name: str, fact: str) -> str | int:
    return int(fact) if name == "limit" else fact
