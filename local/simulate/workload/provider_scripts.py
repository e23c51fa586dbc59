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
FORBIDDEN = {"error": {"message": "Invalid API key", "status": 401}}
REFUSED_CONTENT = {"error": {"message": "blocked by content policy", "code": "content_filter"}}
SCRIPTS: Sequence[Script] = (
    [SUCCESS],
    [REFUSED, SUCCESS],
    [REFUSED],
    [RATE_LIMITED, SUCCESS],
    [CODE_ERROR],
    [UNKNOWN_ERROR, SUCCESS],
    [NOT_DONE, SUCCESS],
    [CODE_ERROR, CODE_ERROR, CODE_ERROR, SUCCESS],  # of a task with a spec, the review succeeds
    [FORBIDDEN],
)
# Answers of an enrichment, whose schema wants an object with a whole number.
GRADE = {"reply": '{"grade": 3}'}
NOT_JSON = {"reply": "The grade is 3."}
WRONG_JSON = {"reply": '{"grade": "three"}'}
ENRICH_SCRIPTS: Sequence[Script] = (
    [GRADE],
    [NOT_JSON, GRADE],
    [WRONG_JSON],
    [RATE_LIMITED, GRADE],
    [REFUSED_CONTENT],
)
REFUSED_SCRIPT = SCRIPTS.index([REFUSED])
CODE_ERROR_SCRIPT = SCRIPTS.index([CODE_ERROR])
REVIEWED_SCRIPT = SCRIPTS.index([CODE_ERROR, CODE_ERROR, CODE_ERROR, SUCCESS])
FAILING_SCRIPTS = range(1, len(SCRIPTS))  # at least on the first attempt


def with_cost(script: Script, dollars: float) -> Script:
    """Return the script with the cost of each reply. An error states none."""
    return [{**entry, "cost": dollars} if "reply" in entry else entry for entry in script]
