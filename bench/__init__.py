"""Measure what the system costs, from the calls it makes on the local stack."""

from __future__ import annotations
