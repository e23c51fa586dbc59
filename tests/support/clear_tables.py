"""Empty the tables and streams of an AWS emulation, without its API and without new records."""

from __future__ import annotations

from moto.dynamodb.models import dynamodb_backends

from local.runtime.aws_backend import AwsBackend
from local.runtime.template import ACCOUNT, REGION
from local.testing.lean_aws.backend import LeanBackend


def clear_tables(backend: AwsBackend) -> None:
    if isinstance(backend, LeanBackend):
        for table in backend.aws.dynamodb.tables.values():
            table.clear()
            if table.stream is not None:
                table.stream.records.clear()
        return
    for moto_table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        moto_table.items.clear()
        if moto_table.stream_shard is not None:
            moto_table.stream_shard.items.clear()
