"""The registry of chat platforms, and of the channels that only send.

Every platform and channel listed here is supported everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from duecourse.adapters.channels import console, discord, email, log, slack, telegram
from duecourse.adapters.channels.platform import OutboundDeps, Platform
from duecourse.adapters.channels.send_only import SendOnlyChannel
from duecourse.adapters.http.request_errors import UnknownPlatformError
from duecourse.domain.errors import SettingsError

if TYPE_CHECKING:
    from duecourse.ports.integrations import Channel

PLATFORMS: dict[str, Platform] = {
    platform.name: platform
    for platform in (console.PLATFORM, telegram.PLATFORM, slack.PLATFORM, discord.PLATFORM)
}

SEND_ONLY: dict[str, SendOnlyChannel] = {one.name: one for one in (log.CHANNEL, email.CHANNEL)}


def find_platform(name: str) -> Platform:
    """Return the platform. Raises UnknownPlatformError."""
    if name not in PLATFORMS:
        raise UnknownPlatformError
    return PLATFORMS[name]


def default_channel(enabled: Collection[str]) -> str | None:
    """Return the channel for tasks that name none, or None if no default is offered."""
    names = [one.name for one in PLATFORMS.values() if one.is_default and one.name in enabled]
    return names[0] if names else None


def default_reminder_channel(enabled: Collection[str]) -> str | None:
    """Return the channel for reminders that name none, or None if they have to name one."""
    names = [one.name for one in SEND_ONLY.values() if one.is_reminder_default]
    return default_channel(enabled) or next((name for name in names if name in enabled), None)


def only_targets() -> Mapping[str, str]:
    """Return the one reply target of each channel that has no other."""
    return {name: one.only_target for name, one in SEND_ONLY.items() if one.only_target is not None}


def make_send_only(deps: OutboundDeps) -> Mapping[str, Channel]:
    """Return the senders of the channels without a chat that the stack offers."""
    made = {name: one.make(deps) for name, one in SEND_ONLY.items()}
    return {name: channel for name, channel in made.items() if channel is not None}


def make_channels(names: Collection[str], deps: OutboundDeps) -> Mapping[str, Channel]:
    """Return the senders of the named platforms. Raises SettingsError for an unknown name.

    Channels that only send need not be named, and are left out.
    """
    known = {one.name: one.outbound for one in PLATFORMS.values() if one.outbound is not None}
    names = [name for name in names if name not in SEND_ONLY]
    if unknown := [name for name in names if name not in known]:
        listed = ", ".join(known)
        raise SettingsError([f"CHANNELS: {name} is none of {listed}" for name in unknown])
    return {name: known[name].make(deps) for name in names}


def team_words() -> Mapping[str, str | None]:
    """Return what each platform calls a team of users, or None if it has no teams."""
    return {one.name: one.team_word for one in PLATFORMS.values()}
