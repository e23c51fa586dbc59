"""Answer what a listener says over its WebSocket."""

from __future__ import annotations

from duecourse.domain.events.protocol import Ping, answer, read_message, subscribed
from duecourse.ports.chat import Connections


def answer_listener(connection_id: str, said: str, *, connections: Connections) -> str:
    """Whatever was said, there is an answer."""
    try:
        message = read_message(said)
    except ValueError as error:
        return answer("error", message=str(error))
    if isinstance(message, Ping):
        return answer("pong")
    if not connections.change(connection_id, message):
        return answer("error", message="this connection has ended: connect again")
    return subscribed(message)
