"""The ports, kept by real services."""

from __future__ import annotations
