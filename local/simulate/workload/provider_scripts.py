"""What the scripted provider answers, one entry for each attempt; the last one stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Script = list[dict[str, Any]]
REFUSED = {"error": {"message": "connect ECONNREFUSED 10.0.0.7:443", "code": "ECONNREFUSED"}}
RATE_LIMITED = {"error": {"message": "Too Many Requests", "status": 429, "retry_after": 45}}
CODE_ERROR = {"error": {"message": 'src/app.ts(45,12): error TS2304: Cannot find name "foo"'}}
UNKNOWN_ERROR = {"error": {"message": "the flux was misaligned"}}
NOT_DONE = {"reply": "I could not.\nACTION_OUTCOME: failed | the disk is full"}
SUCCESS = {"reply": "Done.\nACTION_OUTCOME: success"}
SCRIPTS: Sequence[Script] = (
    [SUCCESS],
    [REFUSED, SUCCESS],
    [REFUSED],
    [RATE_LIMITED, SUCCESS],
    [CODE_ERROR],
    [UNKNOWN_ERROR, SUCCESS],
    [NOT_DONE, SUCCESS],
)
FAILING_SCRIPTS = range(1, len(SCRIPTS))  # at least on the first attempt


def with_cost(script: Script, dollars: float) -> Script:
    """Return the script with the cost of each reply. An error states none."""
    return [{**entry, "cost": dollars} if "reply" in entry else entry for entry in script]
