"""Restore the tables of a deployed stack, and remove what a deleted stack leaves behind.

docs/operations.md is the runbook; `python -m local.recovery` are its steps.
"""
