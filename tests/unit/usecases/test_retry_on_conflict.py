"""How often a conflicting write is repeated, and which errors it repeats for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from duecourse.domain.errors import StaleSubjectError, StaleTaskError
from duecourse.usecases.retry_on_conflict import retry_on_conflict


def fail_first(count: int, error: Exception) -> Callable[[int], str]:
    """Return an operation that raises `error` on its first `count` attempts."""

    def operation(attempt: int) -> str:
        if attempt <= count:
            raise error
        return f"saved on attempt {attempt}"

    return operation


def test_an_operation_without_a_conflict_is_called_once() -> None:
    attempts: list[int] = []
    retry_on_conflict(attempts.append, conflict=StaleTaskError, max_attempts=3)
    assert attempts == [1]


@pytest.mark.parametrize("conflicts", [0, 1, 2])
def test_the_result_is_that_of_the_first_attempt_without_a_conflict(conflicts: int) -> None:
    operation = fail_first(conflicts, StaleTaskError("t-1"))
    result = retry_on_conflict(operation, conflict=StaleTaskError, max_attempts=3)
    assert result == f"saved on attempt {conflicts + 1}"


def test_the_conflict_of_the_last_attempt_is_raised() -> None:
    attempts: list[int] = []

    def operation(attempt: int) -> None:
        attempts.append(attempt)
        raise StaleTaskError(f"t-{attempt}")

    with pytest.raises(StaleTaskError) as raised:
        retry_on_conflict(operation, conflict=StaleTaskError, max_attempts=3)
    assert attempts == [1, 2, 3]
    assert raised.value.task_id == "t-3"


def test_the_backoff_is_called_between_attempts_and_not_after_the_last() -> None:
    pauses: list[int] = []
    with pytest.raises(StaleTaskError):
        retry_on_conflict(
            fail_first(9, StaleTaskError("t-1")),
            conflict=StaleTaskError,
            max_attempts=4,
            backoff=pauses.append,
        )
    assert pauses == [1, 2, 3]


@pytest.mark.parametrize("error", [StaleSubjectError("story-1"), ConnectionError("throttled")])
def test_another_error_is_raised_at_once(error: Exception) -> None:
    pauses: list[int] = []
    with pytest.raises(type(error)):
        retry_on_conflict(
            fail_first(1, error), conflict=StaleTaskError, max_attempts=3, backoff=pauses.append
        )
    assert pauses == []
