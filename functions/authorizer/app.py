"""The API Gateway authorizer: turns a bearer token into a name and a scope for the API.

It never refuses a request, because API Gateway would answer in its own format. An unknown caller
has an empty name, and the API refuses it.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.app import secrets
from duecourse.domain.access.bearer import extract_secret
from duecourse.domain.access.tokens import ApiToken, InvalidTokensError

logger = Logger(service="authorizer")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Return the caller's name and scope.

    Raises if the secret cannot be read, because API Gateway would cache a response.
    """
    token = _find_token(event)
    known = {"name": token.name, "scope": str(token.scope)} if token else {"name": "", "scope": ""}
    return {"isAuthorized": True, "context": known}


def _find_token(event: dict[str, Any]) -> ApiToken | None:
    secret = extract_secret(_read_authorization(event), route=event.get("routeKey", ""))
    if secret is None:
        return None
    try:
        return secrets.api_tokens().find(secret)
    except InvalidTokensError as error:
        logger.error("api_tokens_invalid", problem=str(error))
        return None


def _read_authorization(event: dict[str, Any]) -> str:
    """Return the header, or nothing if it comes twice, in names of different case.

    API Gateway makes names lower case and joins repeated headers; `sam local start-api` does not.
    """
    headers = event.get("headers") or {}
    found = [value for name, value in headers.items() if name.lower() == "authorization"]
    return str(found[0]) if len(found) == 1 else ""
