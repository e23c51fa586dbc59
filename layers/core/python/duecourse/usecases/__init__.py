"""Use cases, one per file: load, decide with the domain, save with a condition."""

from __future__ import annotations
