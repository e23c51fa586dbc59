"""Compare the confidence with the share of right answers: `python -m bench.confidence`.

`stated` is what the rules state. `measured` is what is shipped. For calibration.jsonl it is
cross-validated: the table of each group of ecosystems was made without their messages.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.confidence_table import ConfidenceTable
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.policy import Policy

from local.calibration.measure import CALIBRATION, build_table
from local.calibration.messages import (
    LABEL_BY_POLICY,
    LabelledMessage,
    answer_messages,
    measured_policies,
    read_messages,
)

SURE = 0.9
FOLDS = 6
_BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)


@dataclass(frozen=True, slots=True)
class Judged:
    """A diagnosis, and whether it is right.

    `is_answer_right`: what the confidence is about; the guess, if there is one.
    """

    diagnosis: Diagnosis
    message: LabelledMessage
    label: str

    @property
    def is_category_right(self) -> bool:
        return self.message.is_right(self.diagnosis.category, self.label)

    @property
    def is_kind_right(self) -> bool:
        row = self.message.row
        return self.diagnosis.kind in (row["kind"], *row["also_ok"]["kind"])

    @property
    def is_answer_right(self) -> bool:
        likely = self.diagnosis.likely
        return self.message.is_right(
            likely.category if likely else self.diagnosis.category, self.label
        )


def judge(messages: Sequence[LabelledMessage], policy: Policy) -> list[Judged]:
    label = LABEL_BY_POLICY[policy.name]
    return [
        Judged(diagnose(message.failure, policy), message, label)
        for message in messages
        if message.row[label]
    ]


def without_table(policy: Policy) -> Policy:
    """Return the policy as it would be if all confidences were stated and none were too low."""
    return replace(policy, confidence_table=None, min_confidence=0.0)


def cross_validate(policy: Policy) -> Iterator[tuple[Policy, list[LabelledMessage]]]:
    """Yield messages of calibration.jsonl, and a policy that has not seen their ecosystems."""
    messages, policies = read_messages(CALIBRATION), measured_policies(read_policies())
    answers = answer_messages(messages, policies)
    for ecosystems in split_ecosystems(messages):
        others = [one for one in answers if one.message.ecosystem not in ecosystems]
        table = ConfidenceTable.from_text(json.dumps(build_table(others, policies)))
        unseen = [message for message in messages if message.ecosystem in ecosystems]
        yield replace(policy, confidence_table=table), unseen


def split_ecosystems(messages: Sequence[LabelledMessage]) -> list[set[str]]:
    """Return groups of ecosystems with about as many messages each."""
    counts = Counter(message.ecosystem for message in messages)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    return [set(names[start::FOLDS]) for start in range(FOLDS)]


def area_under_curve(judged: Sequence[Judged]) -> float:
    """Return how often a right answer has a higher confidence than a wrong one."""
    right = [one.diagnosis.confidence for one in judged if one.is_answer_right]
    wrong = [one.diagnosis.confidence for one in judged if not one.is_answer_right]
    pairs = [(a > b) + (a == b) / 2 for a in right for b in wrong]
    return sum(pairs) / len(pairs) if pairs else 1.0


def calibration_error(judged: Sequence[Judged]) -> float:
    """Return the mean distance of confidence and share of right answers, over bins."""
    distance = 0.0
    for least, above in pairwise(_BINS):
        found = [one for one in judged if least <= one.diagnosis.confidence < above]
        confidence = sum(one.diagnosis.confidence for one in found)
        distance += abs(confidence - sum(one.is_answer_right for one in found))
    return distance / len(judged)


def share_right_if_sure(judged: Sequence[Judged]) -> tuple[float, int]:
    """Return the share of right answers among those with 0.9 or more, and how many these are."""
    sure = [one for one in judged if one.diagnosis.confidence >= SURE]
    return (sum(one.is_answer_right for one in sure) / len(sure) if sure else 1.0), len(sure)


def describe(judged: Sequence[Judged]) -> Iterator[str]:
    count = len(judged)
    share, sure = share_right_if_sure(judged)
    guessed = sum(one.diagnosis.likely is not None for one in judged)
    yield f"AUROC {area_under_curve(judged):.3f}, calibration error {calibration_error(judged):.3f}"
    yield f"{share:.3f} right of {sure} with 0.9 or more"
    yield f"category {sum(one.is_category_right for one in judged) / count:.3f} lenient"
    yield f"kind {sum(one.is_kind_right for one in judged) / count:.3f}"
    yield f"{guessed} below the threshold"


def main() -> None:
    policies = read_policies()
    for name in (CALIBRATION, "held_out"):
        messages = read_messages(name)
        for policy in measured_policies(policies):
            parts = list(cross_validate(policy)) if name == CALIBRATION else [(policy, messages)]
            print(f"{name}.jsonl by {policy.name}")
            for title, change in _VARIANTS.items():
                judged = [one for part, unseen in parts for one in judge(unseen, change(part))]
                print(f"  {title:8}", "; ".join(describe(judged)))


_VARIANTS: Mapping[str, Callable[[Policy], Policy]] = {
    "stated": without_table,
    "measured": lambda policy: policy,
}


if __name__ == "__main__":
    main()
