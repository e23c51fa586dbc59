"""The local stack's own routes: outbox, clock, faults, reset, and the playground's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from duecourse.adapters.http.json_body import parse_object
from duecourse.adapters.http.problem import problem, problem_from_error
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.time.duration import parse_duration
from duecourse.domain.time.instant import to_text
from duecourse.domain.validation.fields import Fields

from local.runtime.stack import Stack
from local.testing.faults import fault_from_request, short_name

MAX_YEAR = 9000
PLAYGROUND_FOLDER = Path(__file__).parents[1] / "playground"
CONTENT_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
StatusAndBody = tuple[int, dict[str, Any]]


class ControlRoutes:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._routes: dict[tuple[str, str], Callable[[Mapping[str, str], bytes], StatusAndBody]] = {
            ("GET", "/_local/outbox"): self._outbox,
            ("GET", "/_local/clock"): self._clock,
            ("POST", "/_local/clock"): self._advance,
            ("POST", "/_local/faults"): self._add_fault,
            ("DELETE", "/_local/faults"): self._clear_faults,
            ("POST", "/_local/redeploy"): self._redeploy,
            ("POST", "/_local/reset"): self._reset,
            ("POST", "/_local/samples"): self._create_samples,
        }

    def handle(
        self, method: str, path: str, query: Mapping[str, str], body: bytes
    ) -> StatusAndBody:
        route = self._routes.get((method, path))
        if route is None:
            return 404, problem(404, f"no route {method} {path}")
        try:
            return route(query, body)
        except InvalidFieldsError as error:
            body_of_error = problem_from_error(error)
            return body_of_error["status"], body_of_error

    def _outbox(self, query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        return 200, {
            "items": self._stack.outbox.list_messages(query.get("channel"), query.get("target"))
        }

    def _clock(self, _query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        return 200, {"now": to_text(self._stack.clock.now())}

    def _advance(self, _query: Mapping[str, str], body: bytes) -> StatusAndBody:
        fields = Fields(_parse_object(body), allowed={"advance"})
        if not fields.has("advance"):
            fields.add_error("advance", 'is required, for example "12h"')
        by = fields.read("advance", parse_duration, None)
        if by is not None and (self._stack.clock.now() + by).year > MAX_YEAR:
            fields.add_error("advance", f"goes past the year {MAX_YEAR}")
        fields.raise_if_invalid()
        now = self._stack.advance(by) if by is not None else self._stack.clock.now()
        return 200, {"now": to_text(now)}

    def _add_fault(self, _query: Mapping[str, str], body: bytes) -> StatusAndBody:
        raw = _parse_object(body)
        fault = fault_from_request(raw)
        if fault.function not in (None, *self._stack.functions.names):
            fields = Fields(raw, allowed=raw)
            known = ", ".join(sorted(self._stack.functions.names))
            fields.add_error(
                "function", f"{short_name(fault.function or '')} is not one of: {known}"
            )
            fields.raise_if_invalid()
        self._stack.faults.add(fault)
        return 200, {"status": "armed"}

    def _clear_faults(self, _query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        self._stack.faults.clear()
        return 200, {"status": "cleared"}

    def _redeploy(self, _query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        try:
            return 200, {"version": self._stack.redeploy()}
        except Exception as error:  # noqa: BLE001 - whatever is wrong with code that was just edited
            return 422, problem(
                422, f"the handlers cannot be loaded: {type(error).__name__}: {error}"
            )

    def _reset(self, _query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        self._stack.reset()
        return 200, {"status": "empty"}

    def _create_samples(self, _query: Mapping[str, str], _body: bytes) -> StatusAndBody:
        return 200, {"ids": self._stack.create_samples()}


def read_playground_file(path: str) -> tuple[str, bytes] | None:
    """Return content type and content if `path` is a file of the playground, else None."""
    files = {
        f"/_local/{one.name}": one
        for one in PLAYGROUND_FOLDER.iterdir()
        if one.suffix in CONTENT_TYPES
    }
    found = files.get(path)
    return None if found is None else (CONTENT_TYPES[found.suffix], found.read_bytes())


def _parse_object(body: bytes) -> dict[str, Any]:
    return parse_object(body.decode("utf-8", "replace"))
