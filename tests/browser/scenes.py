"""What there is to see: tasks in every state, made as outsiders make them."""

from __future__ import annotations

from typing import Any

from tests.browser.running import Running

CODE_ERROR = {"error": {"message": 'src/app.ts(45,12): error TS2304: Cannot find name "foo"'}}
REFUSED = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432"}}
ODD = {"error": {"message": "the flux was misaligned"}}
DONE = {"reply": "All is well.\nACTION_OUTCOME: success"}


def an_action(stack: Running, description: str, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script), **fields.pop("payload", {})}
    return stack.create(
        type="action", description=description, payload=payload, **{"in": "5s"}, **fields
    )


def a_busy_day(stack: Running) -> dict[str, dict[str, Any]]:
    """By what is special about each."""
    made = {
        "series": stack.create(description="water the plants", repeat="daily", **{"in": "9h"}),
        "soon": stack.create(description="stretch", **{"in": "80m"}),
        "blocked": an_action(stack, "fix the build", CODE_ERROR),
        "odd": an_action(stack, "align the flux", ODD),
        "recovered": an_action(
            stack, "sync the orders", REFUSED, REFUSED, DONE, payload={"budget": "daily"}
        ),
        "checked": an_action(stack, "write the release notes", DONE, verify=True),
        "reviewed": an_action(
            stack,
            *("write the invoice page", CODE_ERROR, CODE_ERROR, CODE_ERROR, DONE),
            payload={"spec": "The invoice page shows the total of all items."},
        ),
    }
    stack.advance("1h")
    made["waiting"] = an_action(stack, "send the invoices", REFUSED, payload={"budget": "daily"})
    stack.advance("40s")
    return made
