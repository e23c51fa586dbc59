"""A custom handler in its own file, and a stack that runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

MODULE_NAME = "a_team_with_a_bug"
CODE = """
from duecourse import Handler

class Lights(Handler):
    done = []

    def prepare(self, context):
        {prepare}

    def mutate(self, context):
        {mutate}
        Lights.done.append(context.idempotency_key)
        return {{"lit": context.prepared}}

    def emit(self, context):
        {emit}

HANDLERS = {{"lights": Lights()}}
"""
WORKING_CODE = {"prepare": "return 7", "mutate": "pass", "emit": "pass"}
BUG = "{}['missing']"


class HandlerProject:
    """The handler's file and the stack that runs it."""

    def __init__(self, file: Path, client: StackClient) -> None:
        self.file = file
        self.client = client

    def deploy(self, **code: str) -> str:
        write_handler(self.file, **code)
        response = self.client.call("POST", "/_local/redeploy")
        assert response.status == 200, response.body
        return str(response.body["version"])

    def create(self, **fields: Any) -> str:
        return str(self.client.create(type="lights", **{"in": "1m", **fields})["id"])

    def runs(self, task_id: str) -> list[dict[str, Any]]:
        return self.client.items(f"/tasks/{task_id}/runs")

    def status(self, task_id: str) -> str:
        return str(self.client.task(task_id)["status"])


def write_handler(file: Path, **code: str) -> None:
    file.write_text(CODE.format(**{**WORKING_CODE, **code}))


@contextmanager
def handler_project(folder: Path) -> Iterator[HandlerProject]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        # Two files of one length within one second would share one cached bytecode file.
        patch.setattr(sys, "dont_write_bytecode", True)
        file = folder / f"{MODULE_NAME}.py"
        write_handler(file)
        with running_stack(handlers_module=MODULE_NAME) as client:
            yield HandlerProject(file, client)
        sys.modules.pop(MODULE_NAME, None)
