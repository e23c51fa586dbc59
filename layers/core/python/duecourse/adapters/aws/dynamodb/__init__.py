"""Stores for tasks, the journal and shared state on DynamoDB, using PynamoDB."""

from __future__ import annotations
