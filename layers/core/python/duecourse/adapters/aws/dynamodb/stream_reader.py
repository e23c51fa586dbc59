"""Read records of a stream by their position, as long as the stream has them (24 hours)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

from botocore.exceptions import ClientError

from duecourse.adapters.aws.dynamodb.stream import Record, sequence_number
from duecourse.domain.dispatch.unjournaled import StreamPosition


class StreamsClient(Protocol):
    """What this module calls of boto3's client `dynamodbstreams`."""

    def get_shard_iterator(self, **arguments: Any) -> Any: ...

    def get_records(self, **arguments: Any) -> Any: ...


MAX_PAGES = 100
_GONE = ("TrimmedDataAccessException", "ResourceNotFoundException", "ExpiredIteratorException")


class DynamoStreamReader:
    def __init__(self, client: StreamsClient) -> None:
        self._client = client

    def read(self, position: StreamPosition) -> list[Record]:
        """Return the records, as Lambda would deliver them; [] if the stream has lost them."""
        try:
            return list(self._read(position))
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _GONE:
                return []
            raise

    def _read(self, position: StreamPosition) -> Iterator[Record]:
        iterator: str | None = self._client.get_shard_iterator(
            StreamArn=position.stream_arn,
            ShardId=position.shard_id,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=position.first,
        )["ShardIterator"]
        for _ in range(MAX_PAGES):
            if iterator is None:
                return
            page = self._client.get_records(ShardIterator=iterator, Limit=max(1, position.count))
            for record in map(to_lambda_record, page["Records"]):
                if int(sequence_number(record)) > int(position.last):
                    return
                yield record
                if sequence_number(record) == position.last:
                    return
            iterator = page.get("NextShardIterator")


def to_lambda_record(record: Any) -> Record:
    """Return the record as Lambda delivers it: with seconds for a time and base64 for bytes."""
    change = {name: _encode_bytes(value) for name, value in record["dynamodb"].items()}
    written_at = change["ApproximateCreationDateTime"]
    if isinstance(written_at, datetime):
        zone = written_at.tzinfo or UTC
        written_at = written_at.replace(tzinfo=zone).timestamp()
    return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": written_at}}


def _encode_bytes(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _encode_bytes(inner) for name, inner in value.items()}
    return [_encode_bytes(inner) for inner in value] if isinstance(value, list) else value
