"""Build what decides who may use chat, on first use and once per container."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from duecourse.app import stores

if TYPE_CHECKING:
    from duecourse.app.chat_settings import ChatSettings
    from duecourse.domain.chat.refusal import RefusalLimiter


@cache
def chat_settings() -> ChatSettings:
    from duecourse.adapters.channels.registry import team_words
    from duecourse.app.chat_settings import ChatSettings

    return ChatSettings.from_env(team_words(), stores.operator_chats())


@cache
def refusal_limiter() -> RefusalLimiter:
    from duecourse.domain.chat.refusal import RefusalLimiter

    return RefusalLimiter()
