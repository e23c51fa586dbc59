"""The operator's client of the HTTP API. It knows nothing of the stack behind it."""

from __future__ import annotations
