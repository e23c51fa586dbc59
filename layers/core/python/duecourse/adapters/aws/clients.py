"""Build AWS clients from one botocore session per container.

A session reads the data of endpoints and services once, so a second client costs a few
milliseconds. botocore is enough: boto3 would load resources and S3 transfers, which nobody uses.
Clients of JSON services have the cheaper calls of `json_client`.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.session import Session

from duecourse.adapters.aws.json_client import OPERATIONS, use_json_calls
from duecourse.adapters.aws.service_data import ServiceData

if TYPE_CHECKING:
    from botocore.config import Config


class SharedSession(Session):
    """A session whose clients may be created by several threads. botocore's own may not."""

    def __init__(self) -> None:
        super().__init__()
        self.register_component("data_loader", ServiceData())
        self._lock = threading.Lock()

    def create_client(self, service_name: str, *arguments: Any, **options: Any) -> Any:
        with self._lock:
            client = super().create_client(service_name, *arguments, **options)
            return use_json_calls(client) if service_name in OPERATIONS else client


@cache
def session() -> SharedSession:
    return SharedSession()


def make_client(service: str, config: Config, *, endpoint_url: str | None = None) -> Any:
    return session().create_client(service, config=config, endpoint_url=endpoint_url)


def share_session_with_pynamodb() -> None:
    """Let PynamoDB use the session too. By itself it builds one per model."""
    from pynamodb.connection import base

    vars(base)["get_session"] = session
