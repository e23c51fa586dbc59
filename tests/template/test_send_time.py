"""A send to SQS that gets no answer ends before the function that has to answer a caller."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app.queues import MAX_SEND_TIME, sqs_timeouts

from local.runtime.template import load_template

TIME_FOR_THE_REST = 2  # seconds


def longest_send() -> float:
    """Return the seconds that all attempts and the pauses between them take at most."""
    config: Any = sqs_timeouts()  # its attributes are missing in the type stubs
    retries: int = config.retries["max_attempts"]
    pauses = (1 << retries) - 1  # 1, 2, … seconds at most: botocore takes a random part of each
    attempt: float = config.connect_timeout + config.read_timeout
    return attempt * (retries + 1) + pauses


def test_all_attempts_end_within_the_documented_time() -> None:
    assert longest_send() <= MAX_SEND_TIME.total_seconds()


@pytest.mark.parametrize("function", ["ApiFunction", "ChatFunction", "FailureFunction"])
def test_a_function_that_stores_and_sends_has_time_to_answer(function: str) -> None:
    timeout = load_template()["Resources"][function]["Properties"]["Timeout"]
    assert longest_send() + TIME_FOR_THE_REST <= timeout
