"""Changes that the journal could not process, as they come in dead letters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.time.instant import from_text

Record = dict[str, Any]
_PROGRESS = "repair"


@dataclass(frozen=True, slots=True)
class UnjournaledRecords:
    """Records of the stream that the journal set aside, because they fail each time."""

    records: Sequence[Record]
    task_id: str | None
    error: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RepairProgress:
    """How far a repair has come: the page of tasks to go on with, and the tasks that failed."""

    cursor: str | None = None
    failed: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamPosition:
    """Where in a stream the records are that Lambda gave up on. It does not send the records.

    `progress`: of repairing the tasks, if the stream no longer has the records.
    """

    stream_arn: str
    shard_id: str
    first: str
    last: str
    started_at: datetime
    ended_at: datetime
    count: int
    progress: RepairProgress = RepairProgress()


def parse_unjournaled(body: str) -> UnjournaledRecords | StreamPosition:
    """Return what a dead letter of the journal holds. Raises ValueError if it is neither."""
    try:
        stored = json.loads(body)
        if "records" in stored:
            return _parse_records(stored)
        position = _parse_position(stored["DDBStreamBatchInfo"])
        return replace(position, progress=_parse_progress(stored.get(_PROGRESS) or {}))
    except (KeyError, OverflowError, RecursionError, TypeError) as error:
        raise ValueError("not a dead letter of the journal") from error


def store_progress(body: str, progress: RepairProgress) -> str:
    """Return the body of a dead letter with a position, with how far its repair has come."""
    stored = {"cursor": progress.cursor, "failed": list(progress.failed)}
    return json.dumps({**json.loads(body), _PROGRESS: stored})


def is_journaled(record: Record) -> bool:
    """Return whether the journal reads the record: a change of a task or of a circuit breaker.

    A filter of the event source omits the others, but a position includes them.
    """
    keys = record["dynamodb"]["Keys"]
    name = keys.get("task_id", {}).get("S", "")
    return "id" in keys or (name.startswith("breaker#") and record.get("eventName") == "INSERT")


def unjournaled_to_json(unjournaled: UnjournaledRecords) -> dict[str, Any]:
    return {
        "task_id": unjournaled.task_id,
        "error": unjournaled.error,
        "records": list(unjournaled.records),
    }


def _parse_records(stored: Mapping[str, Any]) -> UnjournaledRecords:
    records = stored["records"]
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise TypeError
    task_id = stored.get("task_id")
    return UnjournaledRecords(
        records, str(task_id) if task_id else None, str(stored.get("error", ""))
    )


def _parse_position(info: Mapping[str, Any]) -> StreamPosition:
    return StreamPosition(
        stream_arn=str(info["streamArn"]),
        shard_id=str(info["shardId"]),
        first=str(int(info["startSequenceNumber"])),
        last=str(int(info["endSequenceNumber"])),
        started_at=from_text(info["approximateArrivalOfFirstRecord"]),
        ended_at=from_text(info["approximateArrivalOfLastRecord"]),
        count=int(info["batchSize"]),
    )


def _parse_progress(stored: Mapping[str, Any]) -> RepairProgress:
    cursor, failed = stored.get("cursor"), stored.get("failed") or []
    return RepairProgress(
        cursor=str(cursor) if cursor else None, failed=tuple(str(one) for one in failed)
    )
