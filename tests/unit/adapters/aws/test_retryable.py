"""Errors of a service, after which the same request may succeed, and errors of the request."""

from __future__ import annotations

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
)
from duecourse.adapters.aws.retryable import is_retryable
from duecourse.domain.errors import StalePageError, StaleTaskError, UnknownTaskError
from pynamodb.exceptions import PutError, TransactWriteError


def client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "PutItem")


SERVICE_CODES = [
    "ThrottlingException",
    "ProvisionedThroughputExceededException",
    "InternalServerError",
    "ServiceUnavailable",
    "AccessDeniedException",
    "ResourceNotFoundException",
    "TransactionConflictException",
    "ConditionalCheckFailedException",
]
REQUEST_CODES = [
    "ValidationException",
    "ItemCollectionSizeLimitExceededException",
    "InvalidMessageContents",
]


@pytest.mark.parametrize("code", SERVICE_CODES)
def test_an_error_of_the_service_is_retryable(code: str) -> None:
    error = client_error(code)
    assert is_retryable(error)
    assert is_retryable(PutError("failed", cause=error))


@pytest.mark.parametrize("code", REQUEST_CODES)
def test_an_error_of_the_request_is_not_retryable(code: str) -> None:
    error = client_error(code)
    assert not is_retryable(error)
    assert not is_retryable(PutError("failed", cause=error))
    assert not is_retryable(TransactWriteError("failed", cause=error))


@pytest.mark.parametrize(
    "error",
    [
        ConnectTimeoutError(endpoint_url="x"),
        EndpointConnectionError(endpoint_url="x"),
        TimeoutError(),
        ConnectionResetError(),
        OSError("no route"),
    ],
)
def test_an_error_of_the_network_is_retryable(error: Exception) -> None:
    assert is_retryable(error)
    assert is_retryable(PutError("failed", cause=error))


def test_a_lost_race_is_retryable() -> None:
    assert is_retryable(StaleTaskError("x"))
    assert is_retryable(StalePageError("shard"))


def test_an_error_of_pynamodb_without_a_cause_is_retryable() -> None:
    """It raises one if some items of a batch remain unwritten after all attempts."""
    assert is_retryable(PutError("failed to write all items"))


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), TypeError(), UnknownTaskError("x"), None]
)
def test_an_error_of_our_own_code_is_not_retryable(error: Exception | None) -> None:
    assert not is_retryable(error)
    if error is not None:
        assert not is_retryable(PutError("failed", cause=error))


def test_a_client_error_without_a_code_is_retryable() -> None:
    assert is_retryable(ClientError({}, "PutItem"))


def test_invalid_parameters_are_not_retryable() -> None:
    assert not is_retryable(ParamValidationError(report="not bytes"))
