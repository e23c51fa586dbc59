"""Runs template.yaml on one machine, on moto, with a clock that can be moved. Never deployed."""

from __future__ import annotations
