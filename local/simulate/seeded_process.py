"""Replace what belongs to the whole process: its sources of chance, and where its logs go."""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any
from unittest.mock import patch

from local.simulate.chance import Chance


@contextmanager
def capture_logs(lines: list[str]) -> Iterator[None]:
    """Collect what the functions log instead of writing it."""

    def emit(handler: logging.StreamHandler[Any], record: logging.LogRecord) -> None:
        lines.append(handler.format(record))

    with patch.object(logging.StreamHandler, "emit", emit):
        yield


@contextmanager
def seed_process(chance: Chance) -> Iterator[None]:
    """Replace the process's sources of chance by seeded ones."""
    ids = chance.source("ids")
    jitter = chance.source("jitter")
    random.seed(chance.seed)
    with (
        patch.object(uuid, "uuid4", lambda: uuid.UUID(int=ids.getrandbits(128), version=4)),
        patch.object(SystemRandom, "uniform", lambda _self, low, high: jitter.uniform(low, high)),
    ):
        yield
