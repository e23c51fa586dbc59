"""Slack: what comes in from it, and what goes out to it."""

from __future__ import annotations

NAME = "slack"
HOOK_HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")
