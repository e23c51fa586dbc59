"""How every route answers: with JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response


def json_reply(body: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Response[str]:
    return Response(status.value, "application/json", json.dumps(body))
