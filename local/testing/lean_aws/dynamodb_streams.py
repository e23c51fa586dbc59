"""DynamoDB Streams: one shard per table, read by iterators."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from local.testing.lean_aws.dynamodb import DynamoDb
from local.testing.lean_aws.errors import AwsError
from local.testing.lean_aws.stream import FIRST_SEQUENCE_NUMBER, SHARD_ID, Stream

MAX_RECORDS = 1000


class DynamoDbStreams:
    """An iterator is the stream's ARN and a position, so nothing is kept between calls."""

    def __init__(self, dynamodb: DynamoDb) -> None:
        self._dynamodb = dynamodb
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "DescribeStream": self.describe_stream,
            "GetShardIterator": self.get_shard_iterator,
            "GetRecords": self.get_records,
        }

    def describe_stream(self, request: dict[str, Any]) -> dict[str, Any]:
        stream = self._stream(request["StreamArn"])
        numbers = {"StartingSequenceNumber": str(FIRST_SEQUENCE_NUMBER)}
        return {
            "StreamDescription": {
                "StreamArn": stream.arn,
                "StreamStatus": "ENABLED",
                "StreamViewType": stream.view_type,
                "Shards": [{"ShardId": SHARD_ID, "SequenceNumberRange": numbers}],
            }
        }

    def get_shard_iterator(self, request: dict[str, Any]) -> dict[str, Any]:
        stream = self._stream(request["StreamArn"])
        return {"ShardIterator": f"{stream.arn}|{_find_position(stream, request)}"}

    def get_records(self, request: dict[str, Any]) -> dict[str, Any]:
        arn, _, position = request["ShardIterator"].rpartition("|")
        stream = self._stream(arn)
        end = int(position) + min(request.get("Limit", MAX_RECORDS), MAX_RECORDS)
        records = stream.records[int(position) : end]
        following = int(position) + len(records)
        converted = [_to_response(record) for record in records]
        return {"Records": converted, "NextShardIterator": f"{arn}|{following}"}

    def _stream(self, arn: str) -> Stream:
        for table in self._dynamodb.tables.values():
            if table.stream is not None and table.stream.arn == arn:
                return table.stream
        raise AwsError("ResourceNotFoundException", f"Requested resource not found: {arn}")


def _to_response(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record as botocore parses it, with a datetime."""
    change = record["dynamodb"]
    written_at = datetime.fromtimestamp(change["ApproximateCreationDateTime"], tz=UTC)
    return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": written_at}}


def _find_position(stream: Stream, request: dict[str, Any]) -> int:
    match request["ShardIteratorType"]:
        case "TRIM_HORIZON":
            return 0
        case "LATEST":
            return len(stream.records)
        case kind:
            number = request["SequenceNumber"]
            numbers: list[str] = [one["dynamodb"]["SequenceNumber"] for one in stream.records]
            if number not in numbers:
                raise AwsError("TrimmedDataAccessException", f"No record {number}")
            position = numbers.index(number)
            return position + 1 if kind == "AFTER_SEQUENCE_NUMBER" else position
