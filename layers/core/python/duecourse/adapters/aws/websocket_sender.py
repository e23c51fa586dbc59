"""Send messages to WebSocket connections through API Gateway."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duecourse.domain.errors import ConnectionGoneError

if TYPE_CHECKING:
    from types_boto3_apigatewaymanagementapi.client import ApiGatewayManagementApiClient

CONNECT_TIMEOUT = 1  # seconds
READ_TIMEOUT = 2


class ApiGatewaySender:
    """Sends without retries: a live event loses its value soon, and the next batch is waiting."""

    def __init__(self, endpoint: str) -> None:
        self._client = _client(endpoint)

    def send(self, connection_id: str, text: str) -> None:
        data = text.encode()
        self._call(
            connection_id,
            lambda: self._client.post_to_connection(ConnectionId=connection_id, Data=data),
        )

    def close(self, connection_id: str) -> None:
        self._call(
            connection_id, lambda: self._client.delete_connection(ConnectionId=connection_id)
        )

    def _call(self, connection_id: str, call: Callable[[], Any]) -> None:
        try:
            call()
        except self._client.exceptions.GoneException as error:
            raise ConnectionGoneError(connection_id) from error


def _client(endpoint: str) -> ApiGatewayManagementApiClient:
    from botocore.config import Config

    from duecourse.adapters.aws.clients import make_client

    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"total_max_attempts": 1},
    )
    client: ApiGatewayManagementApiClient = make_client(
        "apigatewaymanagementapi", config, endpoint_url=endpoint
    )
    return client
