"""All clients of a container share one session, PynamoDB's too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.config import Config
from botocore.session import Session
from duecourse.adapters.aws import clients
from pynamodb.connection.base import Connection


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")


def test_pynamodb_uses_the_shared_session() -> None:
    clients.share_session_with_pynamodb()

    assert Connection().session is clients.session()
    assert Connection(region="eu-central-1").client.meta.service_model.service_name == "dynamodb"


def test_a_client_uses_the_given_endpoint() -> None:
    client = clients.make_client("sqs", Config(), endpoint_url="http://127.0.0.1:1")

    assert client.meta.endpoint_url == "http://127.0.0.1:1"


def test_one_client_is_created_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = [0], [0]

    def create(_session: Session, *_arguments: Any, **_options: Any) -> object:
        running[0] += 1
        most[0] = max(most[0], running[0])
        sum(range(20_000))  # gives other threads a chance
        running[0] -= 1
        return object()

    monkeypatch.setattr(Session, "create_client", create)
    shared = clients.SharedSession()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: shared.create_client("lambda"), range(40)))

    assert most == [1]
