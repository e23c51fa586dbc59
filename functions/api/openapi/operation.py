"""What a route tells of itself, beside its code. The API's description is made of this."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, TypeVar

from duecourse.domain.access.scope import Scope
from duecourse.domain.validation.fields import Reader, Schema, object_schema

from ..http.query import Query

Examples = Mapping[str, Mapping[str, Any]]
Route = TypeVar("Route", bound=Callable[..., Any])
NO_BODY = None
NO_TOKEN = None


class Tag(StrEnum):
    """The groups of operations, in the order they are shown."""

    TASKS = "Tasks"
    DECISIONS = "A person's answers"
    FAILURES = "Failures"
    SUBJECTS = "Subjects"
    POLICIES = "Policies"
    BUDGETS = "Budgets"
    BREAKERS = "Breakers"
    DEAD_LETTERS = "Dead letters"
    STATISTICS = "Statistics"
    AUDIT = "Audit"
    CHAT = "Chat"
    META = "The API itself"


@dataclass(frozen=True)
class Body:
    """Of a request. The schema is made when it is asked for: it may depend on the deployment.

    The examples, by name, are requests that are answered as the first of the answers says.
    """

    schema: Callable[[], Schema]
    examples: Examples
    is_required: bool = True


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`scope` is what the caller's token must cover, or NO_TOKEN. `answers` are schemas by status,
    or NO_BODY. `refuses` are the statuses of problems besides those that follow from the rest.
    `path` is for rules that are no plain path."""

    tag: Tag
    scope: Scope | None
    responses: Mapping[HTTPStatus, Schema | None]
    error_statuses: Collection[HTTPStatus] = ()
    query: Query | None = None
    body: Body | None = None
    headers: Mapping[str, Reader[str]] | None = None
    path: str | None = None
    content_types: Collection[str] = ("application/json",)

    @property
    def is_token_required(self) -> bool:
        return self.scope is not NO_TOKEN


_OPERATIONS: dict[Callable[..., Any], Operation] = {}


def describe_operation(operation: Operation) -> Callable[[Route], Route]:
    def mark(route: Route) -> Route:
        _OPERATIONS[route] = operation
        return route

    return mark


def get_operation(route: Callable[..., Any]) -> Operation:
    """Raises KeyError for a route that tells nothing of itself."""
    return _OPERATIONS[route]


def find_operation(route: Callable[..., Any]) -> Operation | None:
    return _OPERATIONS.get(route)


def ok_response(schema: Schema) -> Mapping[HTTPStatus, Schema]:
    return {HTTPStatus.OK: schema}


def required_fields_schema(**readers: Reader[Any]) -> Callable[[], Schema]:
    """The schema of a body that has each of these fields."""
    fields = {name: reader.schema for name, reader in readers.items()}
    return lambda: object_schema(fields, required=fields)
