"""Sample tasks in many states, created over the HTTP API."""

from __future__ import annotations

from typing import Any

from tests.browser.stack_process import StackProcess

CODE_ERROR = {"error": {"message": 'src/app.ts(45,12): error TS2304: Cannot find name "foo"'}}
CONNECTION_REFUSED = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432"}}
UNKNOWN_ERROR = {"error": {"message": "the flux was misaligned"}}
SUCCESS = {"reply": "All is well.\nACTION_OUTCOME: success"}


def create_action(
    stack: StackProcess, description: str, *script: Any, **fields: Any
) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script), **fields.pop("payload", {})}
    return stack.create(
        type="action", description=description, payload=payload, **{"in": "5s"}, **fields
    )


def create_sample_tasks(stack: StackProcess) -> dict[str, dict[str, Any]]:
    """Create tasks in many states and return them by what is special about each."""
    tasks = {
        "series": stack.create(description="water the plants", repeat="daily", **{"in": "9h"}),
        "soon": stack.create(description="stretch", **{"in": "80m"}),
        "blocked": create_action(stack, "fix the build", CODE_ERROR),
        "odd": create_action(stack, "align the flux", UNKNOWN_ERROR),
        "recovered": create_action(
            stack,
            "sync the orders",
            CONNECTION_REFUSED,
            CONNECTION_REFUSED,
            SUCCESS,
            payload={"budget": "daily"},
        ),
        "checked": create_action(stack, "write the release notes", SUCCESS, verify=True),
        "reviewed": create_action(
            stack,
            *("write the invoice page", CODE_ERROR, CODE_ERROR, CODE_ERROR, SUCCESS),
            payload={"spec": "The invoice page shows the total of all items."},
        ),
    }
    stack.advance("1h")
    tasks["waiting"] = create_action(
        stack, "send the invoices", CONNECTION_REFUSED, payload={"budget": "daily"}
    )
    stack.advance("40s")
    return tasks
