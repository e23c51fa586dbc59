"""Implementations of the ports on real services."""

from __future__ import annotations
