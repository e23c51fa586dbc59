"""The routes of dead letters: what was kept because no task could be found for it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.fields import Fields
from duecourse.domain.instant import from_text, to_text
from duecourse.usecases.redrive import MOST_AT_ONCE, NOT_KEPT, redrive, wanted

from .query import given, only_known, whole_number_in
from .reply import json_reply

PAGE = 50
LONGEST_PAGE = 100
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/dead-letters")
def listing() -> Response[str]:
    query = given(router.current_event.query_string_parameters)
    only_known(query, frozenset({"limit", "cursor"}))
    limit = whole_number_in(query, "limit", default=PAGE, most=LONGEST_PAGE)
    later = parts.dead_letters().kept(after=_place(query.get("cursor")))
    page = list(islice(later, limit + 1))  # one more tells whether there is more
    next_cursor = _cursor(page[limit - 1].place) if len(page) > limit else None
    items = [letter.shown() for letter in page[:limit]]
    return json_reply({"items": items, "next_cursor": next_cursor})


@router.post("/dead-letters/redrive")
def put_back() -> Response[str]:
    done = redrive(
        _ids_in(router.current_event.raw_event),
        letters=parts.dead_letters(),
        mail_room=parts.mail_room(),
        store=parts.task_store(),
    )
    return json_reply({"redriven": done.sent, "left": _left(done.left)})


@router.post("/dead-letters/drop")
def drop() -> Response[str]:
    """For good, and never all at once: each is named."""
    ids = _ids_in(router.current_event.raw_event)
    if ids is None:
        raise InvalidFieldsError([FieldError("ids", "is required")])
    letters = parts.dead_letters()
    found = list(wanted(ids, letters))
    for letter in found:
        letters.drop(letter)
    dropped = [letter.id for letter in found]
    left = {one: NOT_KEPT for one in ids if one not in dropped}
    return json_reply({"dropped": dropped, "left": _left(left)})


def _left(reasons: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"id": one, "reason": reason} for one, reason in reasons.items()]


def _ids_in(event: Mapping[str, Any]) -> Sequence[str] | None:
    fields = Fields(read_event(event) if event.get("body") else {}, known={"ids"})
    ids = fields.read("ids", _ids, None)
    fields.check()
    return ids


def _ids(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of ids")
    if len(value) > MOST_AT_ONCE:
        raise ValueError(f"must be at most {MOST_AT_ONCE} ids at once, not {len(value):,}")
    return value


def _cursor(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode()


def _place(cursor: str | None) -> str:
    """The place to go on after."""
    if cursor is None:
        return ""
    try:
        place = base64.urlsafe_b64decode(cursor.encode()).decode()
        sent_at = from_text(place.partition("#")[0])
        if not place.startswith(f"{to_text(sent_at)}#") or _cursor(place) != cursor:
            raise ValueError("it can be read, but was not written so")
    except (OverflowError, ValueError) as error:
        message = "is not a cursor of this listing"
        raise InvalidFieldsError([FieldError("cursor", message)]) from error
    return place
