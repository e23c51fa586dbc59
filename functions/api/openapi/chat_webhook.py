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
    body=Body(dict, {"the console of a local stack": EXAMPLE_MESSAGE}),
    responses=ok_response({}),
    error_statuses=(
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ),
)


def receive_message() -> None:
    """Hear what was said in a chat.

    Each platform proves itself in its own way, by a signature or a secret, and sends what it
    sends: the body is the platform's, JSON or a form. Only `console` takes the example; a local
    stack alone has it. The answer to a person comes later, by chat.
    """
