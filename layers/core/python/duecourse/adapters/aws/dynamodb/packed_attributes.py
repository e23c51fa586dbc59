"""Pack the long attributes of a task into one compressed attribute, if that saves write units.

DynamoDB bills a write by the kilobytes of the whole item. A task that failed needs two without
this, in every write until it ends.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, Final

RawItem = dict[str, dict[str, Any]]
PACKED: Final = "packed"
PACKED_SCHEMA: Final = 2
UNIT_BYTES: Final = 1024
# Larger items are not packed, so what unpacks to much more was not written by us.
_MAX_ITEM_BYTES = 1_000_000
_MAX_UNPACKED_BYTES = 8 * _MAX_ITEM_BYTES  # JSON escapes a character with six

# Conditions, filters and indexes need the other attributes. `description` is always packed: code
# that does not know `packed` cannot read a task without one, so it does not misread the task.
_TEXTS = (
    "description",
    "last_error",
    "last_error_category",
    "recovery_action",
    "request_hash",
    "created_by",
)
_JSON_TEXTS = ("run", "payload", "recent_errors", "review")
_LISTS_OF_TEXTS = ("guidance",)

# What most tasks contain. Never change it: stored tasks can only be unpacked with the same bytes.
_DICTIONARY = (
    b'"review":{"of":"","subject","category":"code_error","category":"test_failure",'
    b'"category":"timeout","category":"resource_exhaustion","category":"dependency_missing",'
    b'"category":"unknown","payload":{"provider":"openai","provider":"anthropic",'
    b'"provider":"bedrock","model":"","budget":"","prompt":"","url":"https://","method":"POST",'
    b'"headers":{"body":{"created_by":"","request_hash":"","recovery_action":"retry",'
    b'"recovery_action":"retry_with_guidance","recovery_action":"escalate_to_human",'
    b'"recovery_action":"mark_as_blocked","last_error_category":"transient","last_error":"",'
    b'"guidance":["Retry without changes: the service or the network was unavailable.",'
    b'"recent_errors":[{"2026-11-17":1},[17],"transient",null],"description":"",'
    b'"reason":"crashed_recovery","reason":"user_retry","reason":"recurrence","reason":"first",'
    b'"phase":"emitting","phase":"mutated","phase":"preparing","phase":"committed",'
    b'"status":"failed:permanent","status":"failed:logic","status":"crashed",'
    b'"status":"committed","status":"active","mutation":"in_flight","mutation":"applied",'
    b'"result":{"reply":"\\nACTION_OUTCOME: success"},"in_doubt":"reconcile","emits":true,'
    b'"call":{"provider":"","model":"","milliseconds":1,"cost":1},'
    b'"run":{"id":"","attempt":2,"reason":"transient","phase":"mutating",'
    b'"status":"paused:transient","nominal_at":"2026-11-17T12:00:00.000Z",'
    b'"started_at":"2026-11-17T12:00:00.000Z","lease_expires_at":"2026-11-17T12:01:30.000Z",'
    b'"handler_version":"0.2.0+","key":"","mutation":"failed","retry_of":"","error":"",'
    b'"category":"transient","diagnosis":{"confidence":0.95,"pattern":"","fingerprint":"",'
    b'"fix":"","code":"","status":5,"phase":"mutating","action":"retry_with_guidance",'
    b'"counted":true,"retry_count":1,"delay_seconds":30.0,"guidance_lines":1},'
    b'"ended_at":"2026-11-17T12:00:00.000Z","in_doubt":"ask",'
    b'"follows":["transient","",30],"first_failure":["2026-11-17","transient"]}'
)


def pack(item: RawItem) -> RawItem:
    """Return the item with its long attributes packed, or as it is if that saves no write unit."""
    size = item_size(item)
    if not UNIT_BYTES < size <= _MAX_ITEM_BYTES:
        return item
    plain = {name: value for name, value in item.items() if name not in _KINDS}
    plain |= {PACKED: {"B": _compress(item)}, "schema_version": {"N": str(PACKED_SCHEMA)}}
    return plain if _units(item_size(plain)) < _units(size) else item


def unpack(item: RawItem) -> RawItem:
    """Return the item as it was before `pack`. Raises an exception if it cannot be unpacked."""
    if PACKED not in item:
        return item
    packed = item[PACKED]["B"]
    if isinstance(packed, str):  # in a record of the stream
        packed = base64.b64decode(packed)
    stored = decompress_json(packed)
    unpacked = {name: _to_attribute(name, value) for name, value in stored.items()}
    return {**unpacked, **{name: value for name, value in item.items() if name != PACKED}}


def item_size(item: RawItem) -> int:
    """Return the size that DynamoDB bills, or a few bytes more."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _units(size: int) -> int:
    return -(-size // UNIT_BYTES)


def _value_size(value: dict[str, Any]) -> int:
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content)
        case "N":
            return len(content) // 2 + 2
        case "L":
            return 3 + sum(1 + _value_size(one) for one in content)
        case "M":
            return 3 + sum(1 + len(name) + _value_size(one) for name, one in content.items())
        case "SS" | "NS" | "BS":
            return sum(len(one) for one in content)
        case _:
            return 1


def _compress(item: RawItem) -> bytes:
    values = {name: _from_attribute(name, item[name]) for name in _KINDS if name in item}
    return compress_json(values)


def compress_json(value: Any) -> bytes:
    """Return JSON in about a third of its size, if it contains what most tasks contain."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    compressor = zlib.compressobj(level=9, zdict=_DICTIONARY)
    # JSON may escape a lone surrogate. `json.loads` reads it back.
    return compressor.compress(text.encode(errors="surrogatepass")) + compressor.flush()


def decompress_json(data: bytes) -> Any:
    """Read what `compress_json` wrote. Raises an exception for anything else."""
    decompressor = zlib.decompressobj(zdict=_DICTIONARY)
    text = decompressor.decompress(data, _MAX_UNPACKED_BYTES)
    if not decompressor.eof:
        raise ValueError("it is cut off or too long")
    return json.loads(text)


def _from_attribute(name: str, value: dict[str, Any]) -> Any:
    match _KINDS[name]:
        case "JSON":
            return json.loads(value["S"])
        case "L":
            return [one["S"] for one in value["L"]]
        case _:
            return value["S"]


def _to_attribute(name: str, value: Any) -> dict[str, Any]:
    match _KINDS[name]:
        case "JSON":
            return {"S": json.dumps(value)}
        case "L":
            return {"L": [{"S": one} for one in value]}
        case _:
            return {"S": value}


_KINDS = {
    **dict.fromkeys(_TEXTS, "S"),
    **dict.fromkeys(_JSON_TEXTS, "JSON"),
    **dict.fromkeys(_LISTS_OF_TEXTS, "L"),
}
