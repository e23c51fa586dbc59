"""Authorize a new WebSocket connection."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger
from duecourse.app import secrets, stores
from duecourse.domain.access.tokens import InvalidTokensError
from duecourse.domain.events.handshake import (
    ConnectRequest,
    ForeignOriginError,
    TooManyConnectionsError,
    UnauthorizedError,
)
from duecourse.usecases.events.connect import connect

logger = Logger(service="live", child=True)


def authorize(event: dict[str, Any]) -> dict[str, Any]:
    """Return the response to the handshake.

    Raises if the tokens cannot be read, which refuses the connection too.
    """
    request = _to_connect_request(event)
    try:
        connection = connect(
            request,
            connections=stores.connections(),
            tokens=secrets.api_tokens(),
            allowed_origins=stores.settings().live_origins,
            now=stores.clock().now(),
        )
    except ForeignOriginError as error:
        return {"statusCode": 403, "body": str(error)}
    except UnauthorizedError as error:
        return {"statusCode": 401, "body": str(error)}
    except TooManyConnectionsError as error:
        logger.warning("connection_refused", reason=str(error))
        return {"statusCode": 429, "body": str(error)}
    except InvalidTokensError as error:
        logger.error("api_tokens_invalid", problem=str(error))
        return {"statusCode": 401, "body": str(UnauthorizedError())}
    logger.info("connection_opened", connection_id=connection.id, by=connection.token_name)
    response_headers = (
        {"Sec-WebSocket-Protocol": request.subprotocol} if request.subprotocol else {}
    )
    return {"statusCode": 200, "headers": response_headers}


def _to_connect_request(event: dict[str, Any]) -> ConnectRequest:
    request = event["requestContext"]
    headers = event.get("headers") or {}
    return ConnectRequest(
        connection_id=request["connectionId"],
        host=request["domainName"],
        headers={name.lower(): str(value) for name, value in headers.items()},
        query=event.get("queryStringParameters") or {},
    )
