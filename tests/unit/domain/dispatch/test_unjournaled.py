"""Dead letters of the journal: records that it set aside, or positions that Lambda gave up on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.dispatch.unjournaled import (
    StreamPosition,
    UnjournaledRecords,
    parse_unjournaled,
    unjournaled_to_json,
)
from duecourse.domain.time.instant import from_text

INFO = {
    "shardId": "shardId-1",
    "startSequenceNumber": "100",
    "endSequenceNumber": "120",
    "approximateArrivalOfFirstRecord": "2026-02-17T12:00:00Z",
    "approximateArrivalOfLastRecord": "2026-02-17T12:05:00Z",
    "batchSize": 20,
    "streamArn": "arn:aws:dynamodb:eu-central-1:1:table/t/stream/x",
}


def test_records_are_read_back_as_they_were_written() -> None:
    unjournaled = UnjournaledRecords([{"dynamodb": {}}], "task-1", "KeyError")
    assert parse_unjournaled(json.dumps(unjournaled_to_json(unjournaled))) == unjournaled


def test_the_position_of_a_batch_is_read_from_the_message_of_lambda() -> None:
    assert parse_unjournaled(json.dumps({"DDBStreamBatchInfo": INFO})) == StreamPosition(
        stream_arn="arn:aws:dynamodb:eu-central-1:1:table/t/stream/x",
        shard_id="shardId-1",
        first="100",
        last="120",
        started_at=from_text("2026-02-17T12:00:00Z"),
        ended_at=from_text("2026-02-17T12:05:00Z"),
        count=20,
    )


@pytest.mark.parametrize(
    "content",
    [
        *(None, 5, [], "x", {}, {"records": 5}, {"records": ["x"]}, {"DDBStreamBatchInfo": None}),
        *({"DDBStreamBatchInfo": {**INFO, name: "x"}} for name in INFO if "Number" in name),
        {"DDBStreamBatchInfo": {**INFO, "approximateArrivalOfFirstRecord": "noon"}},
        {"DDBStreamBatchInfo": {**INFO, "batchSize": None}},
    ],
)
def test_any_other_body_is_refused(content: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - some come from reading a number or a time
        parse_unjournaled(json.dumps(content))
