"""JSON responses, limited to the size that Lambda allows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from aws_lambda_powertools.event_handler import Response
from duecourse.adapters.http.problem import CONTENT_TYPE
from duecourse.adapters.http.security_headers import SECURITY_HEADERS
from duecourse.domain.errors import FieldError, InvalidFieldsError

from .cursor import CursorCodec

# Lambda limits a response to 6 MB, and escaping may double the body.
MAX_RESPONSE_SIZE = 2_500_000
T_co = TypeVar("T_co", covariant=True)
Json = Mapping[str, Any]


class Page(Protocol[T_co]):
    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next_cursor(self) -> str | None: ...


def json_response(body: Json, status: HTTPStatus = HTTPStatus.OK) -> Response[str]:
    return Response(status.value, "application/json", json.dumps(body), dict(SECURITY_HEADERS))


def problem_response(body: Json) -> Response[str]:
    return Response(body["status"], CONTENT_TYPE, json.dumps(body), dict(SECURITY_HEADERS))


def page_response(
    read: Callable[[str | None, int], Page[T_co]],
    to_json: Callable[[T_co], Json],
    cursor: CursorCodec,
    *,
    limit: int,
) -> Response[str]:
    """Return a page of at most `limit` items, fewer if they are large.

    `read` takes the position to continue after and the number of items.
    """
    try:
        page = read(cursor.decode(), limit)
    except ValueError as error:
        raise InvalidFieldsError([FieldError("cursor", str(error))]) from error
    items = [to_json(item) for item in page.items]
    if limit > 1 and len(items) > len(fit_items(items)):
        return page_response(read, to_json, cursor, limit=max(1, limit // 2))
    return json_response({"items": items, "next_cursor": cursor.encode(page.next_cursor)})


def newest_items_response(items: Sequence[Json]) -> Response[str]:
    """Return the items, oldest first. If they do not fit, the oldest are left out."""
    return json_response({"items": fit_items(reversed(items))[::-1]})


def fit_items(items: Iterable[Json], *, max_size: int | None = None) -> list[Json]:
    """Return the first items that fit into `max_size` or, without it, into one response."""
    found, size = [], 0
    for item in items:
        size += len(json.dumps(item)) + 2
        if size > (MAX_RESPONSE_SIZE if max_size is None else max_size):
            break
        found.append(item)
    return found
