"""The command line's client of the HTTP API. It does not depend on the stack."""

from __future__ import annotations
