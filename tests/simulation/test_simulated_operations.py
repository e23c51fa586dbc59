"""The simulation uses every route and every chat command."""

from __future__ import annotations

import json

import pytest
from duecourse.domain.chat.command_names import COMMAND_NAMES

from functions.api.app import app
from functions.api.openapi.route_table import list_registered_routes
from local.simulate.chance import Chance
from local.simulate.operations import OPERATIONS, draw_operations
from local.simulate.workload.operation_kind import Draft

COVERED = {one for kind in OPERATIONS.values() for one in kind.covers}
# These return files of the deployed code, or a constant: no state is read or written.
STATIC_ROUTES = {
    *("GET /", "HEAD /", "GET /assets/<name>", "HEAD /assets/<name>"),
    *("GET /docs", "GET /openapi.json", "GET /health"),
}


def test_every_route_is_used() -> None:
    routes = {f"{route.method} {route.path}" for route in list_registered_routes(app)}
    assert routes - COVERED - STATIC_ROUTES == set()
    assert routes >= STATIC_ROUTES


def test_every_chat_command_is_used() -> None:
    assert {f"/{name}" for name in COMMAND_NAMES} - COVERED == set()


def test_nothing_is_covered_that_does_not_exist() -> None:
    routes = {f"{route.method} {route.path}" for route in list_registered_routes(app)}
    assert COVERED - routes - {f"/{name}" for name in COMMAND_NAMES} == set()


@pytest.mark.parametrize("name", OPERATIONS)
def test_arguments_can_be_saved(name: str) -> None:
    draft = Draft(Chance(1).source("arguments"), task_count=3)
    for _ in range(20):
        drawn = OPERATIONS[name].draw(draft)
        assert json.loads(json.dumps(drawn)) == drawn
        assert not drawn.keys() & {"at", "do"}


def test_the_same_seed_draws_the_same_operations() -> None:
    first, second = (
        draw_operations(Chance(7).source("operations"), 50, seconds=180) for _ in range(2)
    )
    assert first == second
