"""Tell errors of an AWS service, which pass, from errors that the request itself causes."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from pynamodb.exceptions import PynamoDBException

from duecourse.domain.errors import StalePageError, StaleTaskError

# The request is at fault: the same request fails each time.
_REQUEST_ERRORS = frozenset(
    {"ValidationException", "ItemCollectionSizeLimitExceededException", "InvalidMessageContents"}
)


def is_retryable(error: BaseException | None) -> bool:
    """Return whether the same request may succeed later.

    A missing permission or table counts as retryable: somebody will restore it. Any error of our
    own code is not, except a lost race.
    """
    if isinstance(error, StaleTaskError | StalePageError):
        return True
    if isinstance(error, ClientError):
        return error.response.get("Error", {}).get("Code") not in _REQUEST_ERRORS
    if isinstance(error, BotoCoreError | OSError):
        return not isinstance(error, ParamValidationError)
    if isinstance(error, PynamoDBException):
        return error.cause is None or is_retryable(error.cause)
    return False
