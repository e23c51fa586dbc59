"""The kind of errors in the formats of databases, queues, CI systems and clouds."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.tasks.failure_kind import Kind

AGENT = read_policies()["agent"]
PREFIXES = (
    "│ ", "║ ", "| ", "[12:00:01] ", "##[error]", "2026-01-01T00:00:00.000Z ", "npm ERR! ",
    "##vso[task.logissue type=error]", "#12 0.345 ", "web-1  | ",
    "2026-01-01T00:00:00.123456789Z stderr F ",
)  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_of_boxes_and_logs_are_stripped(prefix: str) -> None:
    message = f"{prefix}ModuleNotFoundError: No module named 'flask'"
    assert diagnose(Failure.create(message), AGENT).kind is Kind.IMPORT


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Kind.TIMEOUT, "Process stopped after 600 seconds: the connection was still open"),
        (Kind.TIMEOUT, "The process was killed after 30 minutes while waiting on the network"),
        (Kind.TIMEOUT, "2026-01-01T00:00:00.000Z 5f2c Task timed out after 3.00 seconds"),
        (Kind.MEMORY, "RequestId: 5f2c Error: Runtime exited with error: signal: killed"),
        (Kind.CRASH, "##[error]Bash exited with code '134'."),
        (Kind.NETWORK, "ERROR: No matching distribution found for tide\n  Connection refused"),
        (Kind.NETWORK, "404 page fetched: dial tcp: lookup api.quay.test: no such host"),
        (Kind.NETWORK, 'Get "https://api.quay.test/": EOF'),
        (Kind.NETWORK, "rpc error: EOF"),
        (Kind.PERMISSION, "MongoServerError: not authorized on shop to execute command"),
        (Kind.SERVER_ERROR, "MongoNotPrimaryError: not primary"),
        (Kind.CONFLICT, "version_conflict_engine_exception: [7]: version conflict"),
        (Kind.SERVER_ERROR, "[cluster_block_exception] index [orders] blocked by the operator"),
        (Kind.DATA, "mapper_parsing_exception: failed to parse field [price]"),
        (Kind.CONFLICT, "org.apache.kafka.common.errors.RebalanceInProgressException: again"),
        (Kind.NOT_FOUND, "** (Ecto.NoResultsError) expected at least one result"),
        (Kind.NOT_FOUND, "kafka.errors.UnknownTopicOrPartitionError: [Error 3] orders"),
        (Kind.SERVER_ERROR, "##[error]We stopped hearing from agent Azure Pipelines 4."),
        (Kind.AUTH, "│ Error: No valid credential sources found"),
        (Kind.NETWORK, "Impossible de joindre le serveur distant"),
        (Kind.NETWORK, "Ошибка сети: узел недоступен"),
        (Kind.RATE_LIMIT, "rate limit exceeded for your billing plan"),
    ],
)
def test_kind_of_common_errors(kind: Kind, message: str) -> None:
    assert diagnose(Failure.create(message), AGENT).kind is kind
