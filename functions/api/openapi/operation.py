"""The operation that each route states beside its code; the OpenAPI document is built from it."""

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
    """The groups of operations, in display order."""

    TASKS = "Tasks"
    DECISIONS = "Decisions by a person"
    FAILURES = "Failures"
    SUBJECTS = "Subjects"
    POLICIES = "Policies"
    BUDGETS = "Budgets"
    BREAKERS = "Circuit breakers"
    DEAD_LETTERS = "Dead letters"
    STATISTICS = "Statistics"
    AUDIT = "Audit log"
    CHAT = "Chat"
    META = "API and dashboard"


@dataclass(frozen=True)
class Body:
    """A request body. The schema is built on demand, as it may depend on the deployment.

    `examples`, by name, are requests that get the first of the operation's responses.
    """

    schema: Callable[[], Schema]
    examples: Examples
    is_required: bool = True


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a route states about itself.

    `scope` is what the token must cover, or NO_TOKEN. `responses` are schemas by status, or
    NO_BODY. `error_statuses` are those that do not follow from the other fields. `path` is for
    routes whose rule is a regular expression.
    """

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
    """Return the operation of a route. Raises KeyError if it states none."""
    return _OPERATIONS[route]


def find_operation(route: Callable[..., Any]) -> Operation | None:
    return _OPERATIONS.get(route)


def ok_response(schema: Schema) -> Mapping[HTTPStatus, Schema]:
    return {HTTPStatus.OK: schema}


def required_fields_schema(**readers: Reader[Any]) -> Callable[[], Schema]:
    """Return the schema of a body in which each of these fields is required."""
    fields = {name: reader.schema for name, reader in readers.items()}
    return lambda: object_schema(fields, required=fields)


def one_of_fields_schema(**readers: Reader[Any]) -> Callable[[], Schema]:
    """Return the schema of a body with exactly one of these fields."""
    fields = {name: reader.schema for name, reader in readers.items()}
    choices = [{"required": [name]} for name in fields]
    return lambda: {**object_schema(fields, required=()), "oneOf": choices}
