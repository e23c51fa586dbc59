"""Cached boto3 clients of the runtime itself. Creating one is slower than most of its calls."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3

from local.runtime.template import REGION


@cache
def client(service: str) -> Any:
    return boto3.client(service, region_name=REGION)
