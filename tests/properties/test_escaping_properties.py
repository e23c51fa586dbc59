"""Escaped texts contain no markup and no mention, and stay within the limit."""

from __future__ import annotations

import re

from duecourse.adapters.channels.discord.markdown import escape_markdown as discord_escaped
from duecourse.adapters.channels.size_limits import Escape, truncate_text, utf16_length
from duecourse.adapters.channels.slack.outbound import escape_markup as slack_escaped
from duecourse.adapters.channels.telegram.outbound import neutralize_mentions
from hypothesis import given
from hypothesis import strategies as st

HOSTILE = st.sampled_from(
    [
        *("@everyone", "@here", "@joe", "<@1>", "<@&1>", "<#1>", "<t:1:R>", "</do:1>", "<id:home>"),
        *("<!channel>", "<@U1>", "<#C1|x>", "<!subteam^S1>", "<!date^1^x|y>", "&lt;!here&gt;"),
        *("**", "__", "~~", "||", "`", "```", "> ", ">>> ", "# ", "-# ", "- ", "* ", "1. ", "\\"),
        *("[x](https://evil.example)", "https://x.example/a_b", "http://x", "https://", "\n", " "),
        *("👩🏽‍👧", "é", "a", "_", "(", ")", "<", ">", "&", "@", ":", ".", ",", "/", "\r"),
    ]
)
TEXTS = st.lists(st.one_of(HOSTILE, st.text(max_size=5)), max_size=40).map("".join)
ESCAPES = st.sampled_from([str, discord_escaped, slack_escaped, neutralize_mentions])
# As Discord reads them: an escape, and a link between angle brackets.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_AUTOLINK = r"<https?://[a-zA-Z0-9][^\s<>\\*`|\[\]]*>"


@given(TEXTS)
def test_discord_escaping_removes_all_markup(text: str) -> None:
    parts = re.split(rf"({_ESCAPE}|{_AUTOLINK})", discord_escaped(text))
    rest, marked = "\0".join(parts[::2]), parts[1::2]
    assert not re.search(r"[*_~|`<>\[\]()#@\\]", rest)
    assert not re.search(r"^[ \t]*(?:[-+]|\d+\.)", rest, re.MULTILINE | re.ASCII)
    unescaped = [match[1:] if match[0] == "\\" else match[1:-1] for match in marked]
    assert "".join(a + b for a, b in zip(parts[::2], [*unescaped, ""], strict=True)) == text


@given(TEXTS)
def test_slack_escaping_removes_all_brackets(text: str) -> None:
    escaped = slack_escaped(text)
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", escaped)
    unescaped = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert unescaped == text


@given(TEXTS)
def test_telegram_escaping_removes_all_mentions(text: str) -> None:
    escaped = neutralize_mentions(text)
    without_links = re.sub(r"https?://[A-Za-z0-9.-]+/\S*", "", escaped)
    assert not re.search(r"(?:^|[^A-Za-z0-9_])@[A-Za-z0-9_]", without_links)
    assert escaped.replace("\u2060", "") == text.replace("\u2060", "")


@given(TEXTS, st.integers(60, 200), ESCAPES)
def test_only_a_text_within_the_limit_is_sent_unchanged(
    text: str, limit: int, escape: Escape
) -> None:
    escaped = truncate_text(text, limit, escape)
    whole = escape(text.encode("utf-8", "replace").decode())
    assert utf16_length(escaped) <= limit
    assert (escaped == whole) == (utf16_length(whole) <= limit)


@given(TEXTS, st.text(min_size=1, max_size=5), st.integers(60, 200), ESCAPES)
def test_a_truncated_text_states_how_much_is_missing(
    text: str, suffix: str, limit: int, escape: Escape
) -> None:
    escaped = truncate_text(text + suffix * 200, limit, escape)
    assert utf16_length(escaped) <= limit
    assert re.search(r"… \\?\(cut, [\d,]+ more characters\\?\)$", escaped)
