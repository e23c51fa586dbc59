"""Task ids: version 4 UUIDs. A short id is the first eight characters."""

from __future__ import annotations

import hashlib
import re
import uuid

SHORT_ID_LENGTH = 8
ID_OR_PREFIX = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,28}")


def is_id_or_prefix(text: str) -> bool:
    return ID_OR_PREFIX.fullmatch(text) is not None


def id_for_key(owner: str, key: str) -> str:
    """Return the task id for an owner and an idempotency key.

    The same arguments always give the same id, so one conditional put creates the task or finds
    it.
    """
    digest = hashlib.sha256(f"{owner}\0{key}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def shard_of(task_id: str, shard_count: int) -> int:
    return int(task_id[:SHORT_ID_LENGTH], 16) % shard_count
