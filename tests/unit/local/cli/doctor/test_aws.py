"""The address of an API, on AWS and on an emulator."""

from __future__ import annotations

import pytest

from local.cli.doctor.aws import to_reachable_url

ON_AWS = "https://a1b2c3d4.execute-api.eu-west-3.amazonaws.com"


@pytest.mark.parametrize(
    ("endpoint", "url", "expected"),
    [
        (None, ON_AWS, ON_AWS),
        (
            "http://127.0.0.1:4566/",
            ON_AWS,
            "http://127.0.0.1:4566/_aws/execute-api/a1b2c3d4/$default",
        ),
        ("http://127.0.0.1:4566", "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
    ],
)
def test_an_emulator_serves_the_api_at_its_own_endpoint(
    monkeypatch: pytest.MonkeyPatch, endpoint: str | None, url: str, expected: str
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    if endpoint is not None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)

    assert to_reachable_url(url) == expected
