"""Wordings that name two kinds, of which one is the cause, and messages in other languages."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure

POLICIES = read_policies()


def kind_of(message: str, policy: str = "agent", status: int | None = None) -> str:
    return str(diagnose(Failure.create(message, status=status), POLICIES[policy]).kind)


@pytest.mark.parametrize(
    "message",
    [
        "the process was killed after 2h",
        "Worker was terminated after 90s: still connecting",
        "process stopped: it ran for 30 minutes, network idle",
        "killed: no result after 20 min, connection still open",
        "Process was stopped after 1h30m while the download was running",
        "the step was stopped after 600 s; socket open",
        "Step exceeded its 45 min limit; the process was killed. network: ok",
    ],
)
def test_a_process_that_was_stopped_after_a_duration_ran_out_of_time(message: str) -> None:
    assert kind_of(message) == "timeout"


@pytest.mark.parametrize(
    "message",
    [
        "Error 404: could not load package index: dial tcp 10.0.0.3:443: connection refused",
        "404 Not Found (proxy said: no such host registry.example.org)",
        "Could not find gem 'rake' in any of the sources: Could not reach https://gems.example.org/"
        " (SocketError: Failed to open TCP connection)",
        "org.apache.kafka.common.errors.DisconnectException: broker disconnected",
        "Le nom d'hôte n'a pas pu être résolu",
        "Hôte inaccessible : 10.0.0.1",
        "délai de connexion dépassé",
        "Хост недоступен",
        "не удалось подключиться к серверу",
    ],
)
def test_a_lost_connection_is_the_cause_of_what_wraps_it(message: str) -> None:
    assert kind_of(message) == "network"


@pytest.mark.parametrize(
    "message",
    [
        "You exceeded the rate limit of your plan (20 RPM). Add credits to raise it.",
        "Rate limit exceeded. Please check your plan and billing details to increase it.",
    ],
)
def test_a_rate_limit_that_mentions_money_is_a_rate_limit(message: str) -> None:
    assert kind_of(message, "enrichment") == "rate_limit"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("TF400813: The user '' is not authorized. The token used has expired.", "auth"),
        ("The personal access token used has expired", "auth"),
        ("Échec de l'authentification pour l'utilisateur « bob »", "auth"),
        ("Ошибка аутентификации: неверный пароль", "auth"),
        ("Runtime.HandlerNotFound: index.handler is undefined or not exported", "config"),
        ("Response payload size exceeded maximum allowed payload size.", "invalid_request"),
        ("Error: Missing required argument\n\n  on main.tf line 9, in resource:", "config"),
        ("missing required argument: --name", "invalid_request"),
        ("404 Not Found: /v1/tasks/7", "not_found"),
    ],
)
def test_a_message_is_of_its_kind(message: str, kind: str) -> None:
    assert kind_of(message) == kind


def test_a_status_decides_between_not_authenticated_and_not_allowed() -> None:
    message = "security_exception: action [x] is unauthorized for user [app]"
    assert kind_of(message, status=403) == "permission"
