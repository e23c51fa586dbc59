"""The built-in handlers, one per task type."""

from __future__ import annotations
