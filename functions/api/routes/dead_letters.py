"""The routes of dead letters: what was kept because no task could be found for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import read_event
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.validation.fields import Fields, Reader, object_schema, or_null
from duecourse.usecases.dead_letters.redrive import MOST_AT_ONCE, NOT_KEPT, redrive, wanted

from ..http.cursor import FOREIGN, Walk
from ..http.query import CURSOR, Query, number_up_to, part_of_request
from ..http.responses import json_reply
from ..openapi.operation import Body, Operation, Tag, describes, ok, with_all
from ..openapi.schemas.types import one, page


def _ids(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of ids")
    if len(value) > MOST_AT_ONCE:
        raise ValueError(f"must be at most {MOST_AT_ONCE} ids at once, not {len(value):,}")
    return value


QUERY = Query({"limit": number_up_to(100, default=50), "cursor": CURSOR})
IDS = Reader(_ids, {"type": "array", "items": {"type": "string"}, "maxItems": MOST_AT_ONCE})
SOME = {"ids": ["4c1f2a9e-77a0-4b4c-9d53-0a6c1d1f8f10"]}
WHICH = Body(
    lambda: object_schema({"ids": or_null(IDS.schema)}, required=()),
    {"all of them": {}, "some": SOME},
    is_required=False,
)
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/dead-letters")
@describes(
    Operation(tag=Tag.DEAD_LETTERS, scope=Scope.READ, query=QUERY, answers=ok(page("DeadLetter")))
)
def listing() -> Response[str]:
    """List the dead letters.

    Oldest first. Of a long letter the beginning is shown.
    """
    asked = QUERY.read(router.current_event)
    limit, walk = asked["limit"], Walk("dead-letters", asked)
    later = stores.dead_letters().kept(after=part_of_request("cursor", _place, walk))
    found = list(islice(later, limit + 1))  # one more tells whether there is more
    next_cursor = walk.cursor(found[limit - 1].place) if len(found) > limit else None
    items = [letter.shown() for letter in found[:limit]]
    return json_reply({"items": items, "next_cursor": next_cursor})


@router.post("/dead-letters/redrive")
@describes(
    Operation(tag=Tag.DEAD_LETTERS, scope=Scope.ADMIN, body=WHICH, answers=ok(one("Redriven")))
)
def put_back() -> Response[str]:
    """Put dead letters back.

    The named ones, or as many as can be sent back at once, each to the queue it came from.
    """
    done = redrive(
        _ids_in(router.current_event.raw_event),
        letters=stores.dead_letters(),
        mail_room=stores.mail_room(),
        store=stores.task_store(),
    )
    return json_reply({"redriven": done.sent, "left": _left(done.left)})


@router.post("/dead-letters/drop")
@describes(
    Operation(
        tag=Tag.DEAD_LETTERS,
        scope=Scope.ADMIN,
        body=Body(with_all(ids=IDS), {"some": SOME}),
        answers=ok(one("Dropped")),
    )
)
def drop() -> Response[str]:
    """Drop dead letters.

    For good, and never all at once: each is named.
    """
    ids = _ids_in(router.current_event.raw_event)
    if ids is None:
        raise InvalidFieldsError([FieldError("ids", "is required")])
    letters = stores.dead_letters()
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
    ids = fields.read("ids", IDS, None)
    fields.check()
    return ids


def _place(walk: Walk) -> str:
    """The place to go on after. Raises ValueError."""
    place = walk.after()
    if place is None:
        return ""
    try:
        sent_at = from_text(place.partition("#")[0])
        is_ours = place.startswith(f"{to_text(sent_at)}#")
    except (OverflowError, ValueError):
        is_ours = False
    if not is_ours:
        raise ValueError(FOREIGN)
    return place
