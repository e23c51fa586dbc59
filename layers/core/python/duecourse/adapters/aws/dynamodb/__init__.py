"""Tasks, journal and state in DynamoDB, through PynamoDB."""

from __future__ import annotations
