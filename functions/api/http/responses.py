"""How every route answers: with JSON, and with no more of it than Lambda lets through."""

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

# Lambda answers with 6 MB at most, and each quote and backslash may be one more character there.
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
    """A page of at most `limit` items; of large ones, as many fewer as it takes.

    `read` is told the place to go on after, and how many to read.
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
    """Of a listing that begins with the oldest: where it is too long, its end."""
    return json_response({"items": fit_items(reversed(items))[::-1]})


def fit_items(items: Iterable[Json], *, max_size: int | None = None) -> list[Json]:
    """The first of them that an answer has room for, or that part of one."""
    found, size = [], 0
    for item in items:
        size += len(json.dumps(item)) + 2
        if size > (MAX_RESPONSE_SIZE if max_size is None else max_size):
            break
        found.append(item)
    return found
