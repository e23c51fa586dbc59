"""Tell from botocore's error whether a request may have reached its service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.domain.http.exchange import NoResponseError, NotSentError

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError

    from duecourse.domain.errors import DuecourseError

_NOT_SENT_CODES = {
    "ConnectTimeoutError": "ETIMEDOUT",
    "EndpointConnectionError": "ECONNREFUSED",
    "ProxyConnectionError": "ECONNREFUSED",
    "NoCredentialsError": "no_credentials",
    "PartialCredentialsError": "no_credentials",
    "CredentialRetrievalError": "no_credentials",
    "NoRegionError": "no_region",
}


def to_transport_error(
    called: str, error: BotoCoreError, *, invalid_code: str = "bad_request"
) -> DuecourseError:
    """Return the error for a call that got no response.

    `called` names the receiver. `invalid_code` is for parameters that botocore refuses.
    """
    name = type(error).__name__
    codes = {**_NOT_SENT_CODES, "ParamValidationError": invalid_code}
    if code := codes.get(name):
        return NotSentError(f"{called} was not called: {name}", code=code)
    if name == "ReadTimeoutError":
        return NoResponseError(f"{called} did not answer in time", code="ETIMEDOUT")
    return NoResponseError(f"the connection broke before {called} answered", code="ECONNRESET")
