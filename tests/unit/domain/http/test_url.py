"""A URL as it is shown: host and path, without what may be secret."""

from __future__ import annotations

import pytest
from duecourse.domain.http.url import mask_url


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://a.example", "https://a.example"),
        ("https://a.example/b/c", "https://a.example/b/c"),
        ("https://a.example?b=c", "https://a.example?b=[redacted]"),
        (
            "https://a.example/?b=c&d=e=f&b=",
            "https://a.example/?b=[redacted]&d=[redacted]&b=[redacted]",
        ),
        ("https://a.example/?b=c;d=e", "https://a.example/?b=[redacted]"),
        ("https://a.example/?secret", "https://a.example/?[redacted]"),
        ("https://a.example/?", "https://a.example/?[redacted]"),
        ("https://a.example/?a?b=c#d?e=f", "https://a.example/?a?b=[redacted]#[redacted]"),
        ("https://a.example/#secret", "https://a.example/#[redacted]"),
        ("https://ada:secret@a.example/", "https://[redacted]@a.example/"),
        ("https://ada@a.example:8/b?c=d", "https://[redacted]@a.example:8/b?c=[redacted]"),
        ("https://a@b@a.example/", "https://[redacted]@a.example/"),
        ("https://a.example/@b", "https://a.example/@b"),
        (
            "https://hooks.slack.com/services/T0/B0/xyz",
            "https://hooks.slack.com/services/[redacted]",
        ),
        (
            "https://discord.com/api/webhooks/12/abc",
            "https://discord.com/api/webhooks/12/[redacted]",
        ),
        (
            "https://api.telegram.org/bot12:abc/send",
            "https://api.telegram.org/bot12:[redacted]/send",
        ),
        ("not a URL?x=y", "not a URL?x=[redacted]"),
        ("", ""),
    ],
)
def test_user_info_query_values_and_fragment_are_masked(url: str, masked: str) -> None:
    assert mask_url(url) == masked
