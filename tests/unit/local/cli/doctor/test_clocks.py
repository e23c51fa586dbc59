"""The clocks of this machine, the API and the functions are compared."""

from __future__ import annotations

from datetime import timedelta

import pytest

from local.cli.doctor.clocks import Reading, compare_clocks
from tests.support.builders.moments import NOW


def reading(*, server: float = 0, task: float | None = None) -> Reading:
    """Return a request of two seconds. `server` and `task` are seconds after its beginning."""
    server_time = NOW + timedelta(seconds=server)
    created_at = server_time if task is None else NOW + timedelta(seconds=task)
    return Reading(NOW, NOW + timedelta(seconds=2), server_time, created_at)


@pytest.mark.parametrize(
    ("server", "status"),
    [
        (-1, "ok"),  # the Date header has whole seconds
        (2, "ok"),
        (6.9, "ok"),
        (7.1, "warning"),
        (-6.1, "warning"),
        (61, "warning"),
        (63, "failed"),
        (-62, "failed"),
    ],
)
def test_this_machine_may_differ_by_seconds(server: float, status: str) -> None:
    assert compare_clocks(reading(server=server), is_local=False).status == status


@pytest.mark.parametrize(("server", "words"), [(100_000, "ahead of"), (-100_000, "behind")])
def test_a_local_clock_may_be_moved(server: float, words: str) -> None:
    result = compare_clocks(reading(server=server), is_local=True)

    assert (result.status, words in result.detail) == ("warning", True)


@pytest.mark.parametrize("is_local", [True, False])
@pytest.mark.parametrize("task", [-20, 20])
def test_tasks_with_another_time_than_the_api_are_wrong(task: float, *, is_local: bool) -> None:
    assert compare_clocks(reading(task=task), is_local=is_local).status == "failed"
