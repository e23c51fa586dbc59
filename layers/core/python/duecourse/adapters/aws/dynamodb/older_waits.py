"""Parse the English sentences that older items stored as state. Only this module knows them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.skipped import SkipReason
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import from_text_or_none

_TIME = r"(?P<until>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)"
# The first pattern that matches the whole sentence wins. Its groups become the wait's detail.
_SENTENCES = [
    (WaitReason.QUIET_HOURS, r"quiet hours until (?P<end>\d\d:\d\d) \((?P<zone>.+)\)"),
    (WaitReason.VERIFICATION, r"somebody to say whether it was done well"),
    (WaitReason.VERIFIER, r"its verifier to say whether it was done well"),
    (WaitReason.REQUEUED, r"its message died before a worker took it: it was sent again"),
    (WaitReason.RETRY_THROTTLE, r"(?P<limit>\d+) other retries wait: it comes after them"),
    (WaitReason.SPEC_REVIEW, r"the review of its specification, task (?P<task_id>\S+)"),
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
_SKIP_SENTENCES = {
    "missed while it ran": SkipReason.RUN_OVERLAPPED,
    "missed while it waited": SkipReason.DEFERRED,
    "missed while it was being retried": SkipReason.RETRY_OVERLAPPED,
    "missed while its work was checked": SkipReason.VERIFICATION_OVERLAPPED,
    "missed while nothing ran": SkipReason.OUTAGE,
}
_KNOWN = [(reason, re.compile(pattern, re.DOTALL)) for reason, pattern in _SENTENCES]


def read_sentence(sentence: str, action: Action | None = None) -> Wait:
    """Return the wait that older code stored as `sentence`.

    Waits for a budget could be stored as any text of the provider; `action` identifies those.
    """
    for reason, pattern in _KNOWN:
        if found := pattern.fullmatch(sentence):
            facts = found.groupdict()
            until, task_id = from_text_or_none(facts.pop("until", None)), facts.pop("task_id", None)
            detail = {name: _typed(name, facts[name]) for name in facts}
            return Wait(reason, until, detail, task_id)
    reason = WaitReason.BUDGET if action is Action.WAIT_FOR_BUDGET else WaitReason.OTHER
    return Wait(reason, detail={"message": sentence})


def read_skip_reason(stored: str) -> SkipReason:
    """Return the skip reason of a stored code, or of the sentence that older code stored."""
    if stored in set(SkipReason):
        return SkipReason(stored)
    if stored.startswith("missed while it waited: "):
        return SkipReason.DEFERRED  # what it waited for is in the run, too
    return _SKIP_SENTENCES.get(stored, SkipReason.OTHER)


def says_it_was_reviewed(guidance: Sequence[str]) -> bool:
    """Return whether the last line of `guidance` is the result of a spec review."""
    return bool(guidance) and guidance[-1].startswith("The specification was reviewed")


def _typed(name: str, fact: str) -> str | int:
    return int(fact) if name == "limit" else fact
