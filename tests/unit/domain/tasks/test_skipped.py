"""What people read about occurrences that did not run."""

from __future__ import annotations

import pytest
from duecourse.domain.tasks.skipped import SkipReason, describe_skip

from tests.support.builders.tasks import PROVIDER_DOWN


def test_the_text_of_a_deferral_says_what_the_run_waited_for() -> None:
    text = describe_skip(SkipReason.DEFERRED, PROVIDER_DOWN)
    assert text == "missed while it waited: provider x is down"


@pytest.mark.parametrize(
    "reason", [reason for reason in SkipReason if reason is not SkipReason.DEFERRED]
)
def test_other_texts_do_not_mention_an_earlier_wait(reason: SkipReason) -> None:
    assert describe_skip(reason, PROVIDER_DOWN) == describe_skip(reason, None)


def test_every_reason_has_its_own_text() -> None:
    assert len({describe_skip(reason, None) for reason in SkipReason}) == len(SkipReason)
