"""What all commands of the client share: the server, the JSON output, and task ids."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local.cli.client.http import ApiClient


def make_api_client() -> ApiClient:
    """Return the client. Raises UsageError if the environment has invalid settings."""
    from local.cli.client.http import ApiClient
    from local.cli.client.server import server_from_env

    return ApiClient(server_from_env(os.environ))


def print_json(document: Any) -> None:
    """Print `document` in ASCII, so quoted text cannot contain terminal control sequences."""
    print(json.dumps(document, indent=2))


def add_json_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def parse_task_id(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an id needs at least its first 8 characters")
    return text.strip()
