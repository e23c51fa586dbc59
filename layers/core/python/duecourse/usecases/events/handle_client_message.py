"""Answer a message that a client sent over its WebSocket."""

from __future__ import annotations

from duecourse.domain.events.protocol import Ping, encode_reply, encode_subscribed, parse_message
from duecourse.ports.chat import Connections


def handle_client_message(connection_id: str, text: str, *, connections: Connections) -> str:
    """Return the reply. An invalid message gets an error reply."""
    try:
        message = parse_message(text)
    except ValueError as error:
        return encode_reply("error", message=str(error))
    if isinstance(message, Ping):
        return encode_reply("pong")
    if not connections.update_subscription(connection_id, message):
        return encode_reply("error", message="this connection has ended: connect again")
    return encode_subscribed(message)
