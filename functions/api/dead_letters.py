"""The routes of dead letters: what was kept because no task could be found for it."""

from __future__ import annotations

from itertools import islice
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import wiring
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.fields import Fields
from duecourse.usecases.redrive import MOST_AT_ONCE, redrive

from .reply import json_reply

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/dead-letters")
def listing() -> Response[str]:
    oldest = islice(wiring.dead_letters().kept(), MOST_AT_ONCE)
    return json_reply({"items": [letter.to_json() for letter in oldest]})


@router.post("/dead-letters/redrive")
def put_back() -> Response[str]:
    event = router.current_event.raw_event
    fields = Fields(read_event(event) if event.get("body") else {}, known={"ids"})
    ids = fields.read("ids", _ids, None)
    fields.check()
    sent = redrive(ids, letters=wiring.dead_letters(), mail_room=wiring.mail_room())
    return json_reply({"redriven": [letter.id for letter in sent]})


def _ids(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of ids")
    return value
