"""The chat webhook in the API's description. Another function serves it."""

from __future__ import annotations

from http import HTTPStatus

from .operation import NO_TOKEN, Body, Operation, Tag, ok_response

METHOD, PATH = "POST", "/webhooks/{platform}"
EXAMPLE_MESSAGE = {
    "sender_id": "ada",
    "reply_target": "ada",
    "text": "/remind in 10 minutes stretch",
}
OPERATION = Operation(
    tag=Tag.CHAT,
    scope=NO_TOKEN,
    path=PATH,
    body=Body(dict, {"console, in the local stack": EXAMPLE_MESSAGE}),
    responses=ok_response({}),
    error_statuses=(
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ),
)


def receive_message() -> None:
    """Receive a message from a chat platform.

    The platform calls this route. Its signature or secret is verified instead of a token. The body
    is in the platform's own format, JSON or a form. The example is for `console`, which only the
    local stack has. The reply to the person is sent later, through the chat.
    """
