"""Run template.yaml on one machine, on moto, with a movable clock. Never deployed."""

from __future__ import annotations
