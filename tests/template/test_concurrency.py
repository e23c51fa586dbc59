"""Every queue is read with a bound, so that no kind of work takes the room of another."""

from __future__ import annotations

from typing import Any

from bench.capacity import AIMS, PAGE
from bench.capacity_limits import (
    LAMBDA_CONCURRENCY,
    find_limits,
    read_concurrency,
    read_settings,
    retries_per_minute,
    run_seconds_at_full_retries,
)
from bench.capacity_loads import measure_failure
from local.runtime.template import resources_of_type

Template = dict[str, Any]
WORK, SLOW_WORK = ("worker", "WorkQueue"), ("worker", "SlowWorkQueue")
# The HTTP API at its default rate with 50 ms a request, its authorizer, the streams, the schedules.
OTHER_FUNCTIONS = 200
SECONDS_PER_MESSAGE = 0.3  # of a slow chat platform
LONG_RUN_SECONDS = 5  # of a call to a language model


def test_every_queue_is_read_with_a_maximum_concurrency(template: Template) -> None:
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    queues = resources_of_type(template, "AWS::SQS::Queue")
    read = [one for one in mappings if one["EventSourceArn"]["Fn::GetAtt"][0] in queues]

    assert len(read) == len(queues)
    assert [one for one in read if "MaximumConcurrency" not in one.get("ScalingConfig", {})] == []


def test_reminders_have_room_while_all_other_work_is_at_its_bound(template: Template) -> None:
    limits = read_concurrency(template)
    others = sum(limit for source, limit in limits.items() if source != WORK)

    assert limits[WORK] + others + OTHER_FUNCTIONS <= LAMBDA_CONCURRENCY


def test_the_bound_of_reminders_reaches_the_aim_with_a_slow_chat_platform(
    template: Template,
) -> None:
    """Each message of a batch of ten waits for the platform, one after the other."""
    assert read_concurrency(template)[WORK] / SECONDS_PER_MESSAGE >= AIMS["tasks"]


def test_the_retry_throttle_is_within_what_the_workers_take(template: Template) -> None:
    """CloudFormation cannot compute a default from another, so this holds them together."""
    retries = retries_per_minute(template)

    assert run_seconds_at_full_retries(template) >= LONG_RUN_SECONDS
    assert retries / 60 <= read_concurrency(template)[WORK] / SECONDS_PER_MESSAGE


def test_the_retry_throttle_is_within_what_failures_take(template: Template) -> None:
    first = find_limits(measure_failure(), read_settings(template))[0]

    assert retries_per_minute(template) / 60 <= first.per_second


def test_the_page_states_the_proportion_of_retries_and_workers(template: Template) -> None:
    page = PAGE.read_text(encoding="utf-8")

    stated = (
        f"`RetriesPerMinute` {retries_per_minute(template):,} and `SlowWorkConcurrency`"
        f" {read_concurrency(template)[SLOW_WORK]}: runs of up to"
        f" {run_seconds_at_full_retries(template):g} seconds"
    )

    assert stated in page


def test_the_bounds_of_the_worker_are_parameters(template: Template) -> None:
    defaults = {
        name: template["Parameters"][name] for name in ("WorkConcurrency", "SlowWorkConcurrency")
    }

    assert {one["MinValue"] for one in defaults.values()} == {2}  # the least that AWS accepts
    limits = read_concurrency(template)
    assert limits[WORK] == defaults["WorkConcurrency"]["Default"]
    assert limits[SLOW_WORK] == defaults["SlowWorkConcurrency"]["Default"]
