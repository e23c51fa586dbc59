"""The measured confidence: reproducible, and right as often as it says."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import BUILTIN_FOLDER, CONFIDENCE_FILE, read_policies
from duecourse.domain.failures.policy import Policy

from bench.confidence import calibration_error, judge, share_right_if_sure, without_table
from local.calibration.measure import measure
from local.calibration.messages import measured_policies, read_messages

MAX_CALIBRATION_ERROR = 0.07
POLICIES = measured_policies(read_policies())
HELD_OUT = read_messages("held_out")


def test_the_table_is_that_of_the_messages_and_rules() -> None:
    stored = (BUILTIN_FOLDER / CONFIDENCE_FILE).read_text(encoding="utf-8")
    assert measure(read_policies()) == stored, "run `make calibrate`"


# Figures only: nobody may read these messages.


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_of_the_sure_answers_nine_in_ten_are_right(policy: Policy) -> None:
    share, count = share_right_if_sure(judge(HELD_OUT, policy))
    assert share >= 0.9
    assert count >= 40


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_the_confidence_is_near_the_share_of_right_answers(policy: Policy) -> None:
    judged = judge(HELD_OUT, policy)
    assert calibration_error(judged) <= MAX_CALIBRATION_ERROR
    assert calibration_error(judged) < calibration_error(judge(HELD_OUT, without_table(policy)))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_the_threshold_makes_no_more_wrong_categories(policy: Policy) -> None:
    def right(changed: Policy) -> int:
        return sum(one.is_category_right for one in judge(HELD_OUT, changed))

    assert right(policy) >= right(without_table(policy))
