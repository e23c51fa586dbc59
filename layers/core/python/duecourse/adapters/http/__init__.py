"""HTTP: the client, request parsing, and error responses."""

from __future__ import annotations
