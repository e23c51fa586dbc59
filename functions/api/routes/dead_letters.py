"""Routes of stored dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import journaling, queues, stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.text.redaction import redact_whole
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.validation.fields import Fields, Reader, nullable, object_schema
from duecourse.usecases.dead_letters.redrive import (
    MAX_BATCH_SIZE,
    NOT_FOUND,
    redrive,
    select_letters,
)
from duecourse.usecases.dead_letters.rejournal import rejournal

from ..http.cursor import INVALID_CURSOR, CursorCodec
from ..http.query import CURSOR, Query, integer_up_to, parse_parameter
from ..http.responses import json_response
from ..openapi.operation import (
    Body,
    Operation,
    Tag,
    describe_operation,
    ok_response,
    required_fields_schema,
)
from ..openapi.schemas.types import item_page, ref


def _parse_ids(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of ids, which are strings")
    if len(value) > MAX_BATCH_SIZE:
        raise ValueError(f"must have at most {MAX_BATCH_SIZE} ids, not {len(value):,}")
    return value


LISTED_BODY_LIMIT = 2_000  # characters
RESERVED_MS = 6_000  # for the change or page in hand, should each of its calls be slow
SEARCHED_BODY_LIMIT = 4 * LISTED_BODY_LIMIT  # more, because half of a secret is not recognized
QUERY = Query({"limit": integer_up_to(100, default=50), "cursor": CURSOR})
IDS = Reader(_parse_ids, {"type": "array", "items": {"type": "string"}, "maxItems": MAX_BATCH_SIZE})
EXAMPLE_IDS = {"ids": ["4c1f2a9e-77a0-4b4c-9d53-0a6c1d1f8f10"]}
REDRIVE_BODY = Body(
    lambda: object_schema({"ids": nullable(IDS.schema)}, required=()),
    {"all": {}, "by id": EXAMPLE_IDS},
    is_required=False,
)
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/dead-letters")
@describe_operation(
    Operation(
        tag=Tag.DEAD_LETTERS,
        scope=Scope.READ,
        query=QUERY,
        responses=ok_response(item_page("DeadLetter")),
    )
)
def list_dead_letters() -> Response[str]:
    """List dead letters.

    Returns the oldest first. A long body is truncated to its first 2,000 characters.
    """
    parameters = QUERY.read(router.current_event)
    limit, cursor = parameters["limit"], CursorCodec("dead-letters", parameters)
    letters = stores.dead_letters().list_letters(
        after=parse_parameter("cursor", _decode_position, cursor)
    )
    found = list(islice(letters, limit + 1))  # one more shows whether another page follows
    next_cursor = cursor.encode(found[limit - 1].sort_key) if len(found) > limit else None
    items = [letter_to_json(letter) for letter in found[:limit]]
    return json_response({"items": items, "next_cursor": next_cursor})


@router.post("/dead-letters/redrive")
@describe_operation(
    Operation(
        tag=Tag.DEAD_LETTERS,
        scope=Scope.ADMIN,
        body=REDRIVE_BODY,
        responses=ok_response(ref("Redriven")),
    )
)
def redrive_dead_letters() -> Response[str]:
    """Redrive dead letters.

    Sends each one back to the queue that it came from; a change that the journal could not process
    is processed again. Without `ids`, this redrives as many as one
    request can. `left` lists the ones that stay, each with the reason.
    """
    rejournal_deps = cache(lambda: journaling.rejournal_deps(has_time=_has_time))
    result = redrive(
        _read_ids(router.current_event.raw_event),
        dead_letters=stores.dead_letters(),
        source_queues=queues.source_queues(),
        store=stores.task_store(),
        rejournal=lambda letter: rejournal(letter, rejournal_deps()),
    )
    return json_response({"redriven": result.sent, "left": _skipped_to_json(result.skipped)})


@router.post("/dead-letters/drop")
@describe_operation(
    Operation(
        tag=Tag.DEAD_LETTERS,
        scope=Scope.ADMIN,
        body=Body(required_fields_schema(ids=IDS), {"by id": EXAMPLE_IDS}),
        responses=ok_response(ref("Dropped")),
    )
)
def drop_dead_letters() -> Response[str]:
    """Delete dead letters.

    Deletes the ones in `ids` permanently. `left` lists the ids that were not found.
    """
    ids = _read_ids(router.current_event.raw_event)
    if ids is None:
        raise InvalidFieldsError([FieldError("ids", "is required")])
    letters = stores.dead_letters()
    found = list(select_letters(ids, letters))
    for letter in found:
        letters.drop(letter)
    dropped = [letter.id for letter in found]
    left = {one: NOT_FOUND for one in ids if one not in dropped}
    return json_response({"dropped": dropped, "left": _skipped_to_json(left)})


def _has_time() -> bool:
    return bool(router.lambda_context.get_remaining_time_in_millis() > RESERVED_MS)


def letter_to_json(letter: DeadLetter) -> dict[str, Any]:
    """Return the letter with the beginning of its body, in which secrets are redacted."""
    searched = letter.body[:SEARCHED_BODY_LIMIT]
    redacted = redact_whole(searched)
    body = redacted[:LISTED_BODY_LIMIT]
    is_cut = letter.is_truncated or body != redacted or searched != letter.body
    return {**letter.to_json(), "body": body, "body_cut": is_cut}


def _skipped_to_json(reasons: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"id": one, "reason": reason} for one, reason in reasons.items()]


def _read_ids(event: Mapping[str, Any]) -> Sequence[str] | None:
    fields = Fields(parse_event_body(event) if event.get("body") else {}, allowed={"ids"})
    ids = fields.read("ids", IDS, None)
    fields.raise_if_invalid()
    return ids


def _decode_position(cursor: CursorCodec) -> str:
    """Return the position to continue after. Raises ValueError."""
    position = cursor.decode()
    if position is None:
        return ""
    try:
        sent_at = from_text(position.partition("#")[0])
        is_sort_key = position.startswith(f"{to_text(sent_at)}#")
    except (OverflowError, ValueError):
        is_sort_key = False
    if not is_sort_key:
        raise ValueError(INVALID_CURSOR)
    return position
