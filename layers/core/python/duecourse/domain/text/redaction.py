"""Redacts secrets in text, found by their format, by the name before them or by their position."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

MAX_REDACTED_LENGTH = 40_000  # searching more text takes too long
SEAM_MARGIN = 4_000  # longer than nearly every cookie or URL password
TRUNCATION_MARK = " […] "
_WORD_BOUNDARY = re.compile(r"[\s\"',;&]")
# Masking keeps the length of the text, so that all offsets stay valid.
_MASK_CHARACTER = "\0"
REDACTED = "[redacted]"
_MASKED_SPAN = re.compile(f"{_MASK_CHARACTER}+")

# All patterns run in linear time: each repeat is bounded or possessive. After a possessive repeat
# the match can fail only if the characters before it cannot start another match.

# Tokens with a recognizable format. The regex runs only if the text contains the first column.
_TOKEN_PATTERNS = [
    ("sk-", r"sk-(?:proj|ant|live|test|svcacct|admin|or)-(?:[\w*•…-]|\.{2,3}(?=\w))++"),
    ("sk-", r"sk-[A-Za-z0-9*]{20,}+[\w*-]*+"),
    ("sk-", r"sk-(?<![\w-]sk-)(?=[A-Za-z_.-]{0,60}+[\d*…])(?:[\w*•…-]|\.{2,3}(?=\w)){6,}+"),
    ("k_", r"[rsp]k_(?:live|test)_\w++"),
    ("whsec_", r"whsec_[\w+/=]++"),
    ("gh", r"gh[pousr]_\w{6,}+"),
    ("github_pat_", r"github_pat_\w++"),
    ("gl", r"gl(?:pat|ptt|dt|rt|soat|cbt|ft|imt|agent)-[\w.-]{8,}+"),
    ("AIza", r"AIza[\w-]{10,}+"),
    ("ya29.", r"ya29\.[\w.-]{6,}+"),
    ("GOCSPX-", r"GOCSPX-[\w-]++"),
    ("IA", r"A[KS]IA[A-Z0-9]{12,}+"),
    ("xox", r"xox[a-z](?:\.xox[a-z])?-[\w-]++"),
    ("xapp-", r"xapp-[\w-]++"),
    ("hf_", r"hf_[A-Za-z0-9]{16,}+"),
    ("npm_", r"npm_[A-Za-z0-9]{16,}+"),
    ("gsk_", r"gsk_[A-Za-z0-9]{16,}+"),
    ("xai-", r"xai-[A-Za-z0-9]{16,}+"),
    ("pypi-", r"pypi-Ag[\w-]{16,}+"),
    ("dc_", r"dc_[A-Za-z0-9]{16,}+"),  # our own tokens
    ("dckr_pat_", r"dckr_pat_[\w-]++"),
    ("dop_v1_", r"dop_v1_\w++"),
    ("shp", r"shp(?:at|ca|pa|ss)_\w{8,}+"),
    ("SG.", r"SG\.[\w-]{16,}+(?:\.[\w-]*+)?"),
    ("hvs.", r"hvs\.[\w-]{16,}+"),
    ("eyJ", r"eyJ[\w-]{8,}+(?:\.[\w-]*+){0,4}"),
    (":AA", r"\d{5,12}:AA[\w-]{8,}+"),
    (".", r"[MNO][\w-]{22,27}\.[\w-]{5,7}\.[\w-]{24,}+"),
    ("/bot", r"(/bot\d{1,20}(?::|%3[aA]))[\w-]++"),
    ("hooks", r"(hooks\.slack\.com/(?:services|workflows|commands|actions)/)[\w/-]++"),
    ("webhooks", r"(/api/webhooks/\d{1,20}/)[\w-]++"),
    ("://", r"(://)(?:[^\s/@\"'<>]*+@)*[^\s/@\"'<>]*+(?=@)"),
    # A password may contain a slash; a port before a path with an @ is not a password.
    ("://", r"(://)[^\s/:@\"'<>]{1,200}+:(?!\d{1,5}/)(?:[^\s/@\"'<>]*+/){1,2}[^\s/@\"'<>]*+(?=@)"),
    (
        "-----BEGIN",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
        r"(?:[^-]|-(?!----)){0,12000}+-----END [A-Z0-9 ]{0,60}-----"
        # A truncated key: match as long as the lines look like key data.
        r"|(?:(?:\s|\\{1,8}[nrt])*+[A-Za-z0-9+/=]{17,}+)*+"
        r"(?:(?:\s|\\{1,8}[nrt]){1,8}+[A-Za-z0-9+/=]{1,64}+(?=[\"']|\s?(?:\[|\.\.|…)|\s{0,9}\Z))?)",
    ),
]
_PRIVATE_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PRIVATE_KEY_CHARACTERS = string.ascii_letters + string.digits + "+/=\\" + string.whitespace

# Words that follow a name in a sentence or a declaration, so they are not a secret.
_SENTENCE_WORDS = (
    r"(?:an?|and|any|are|as|at|be|but|by|can(?:not|'t)?|could|contains?|did|do|does|doesn't|either"
    r"|empty|error|exceeds|expected|expires?|expired|fail(?:s|ed|ure)|field|for|format|from|got|has"
    r"|have|if|in|incorrect|input|invalid|is|isn't|it|its|length|less|malformed|may|mismatch|missing"
    r"|more|must|needs?|no|not|nothing|of|on|only|or|please|provided|received|rejected|required|server"
    r"|requires|revoked|should|such|that|the|there|this|to|too|type|unable|unauthori[sz]ed|unknown"
    r"|unexpected|unset|unsupported|value|was|were|when|will|with|wrong|you|your|access|denied"
    r"|permission|authenticat(?:e|ion)|authori[sz]ation|verification|lookup"
    r"|string|str|number|int|integer|bool|boolean|bytes|object|char|varchar|optional|secretstr"
    r"|[\w.]{0,60}(?:error|exception))"
)
_EMPTY_VALUES = r"(?:null|none|nil|undefined|true|false|missing)"
_VALUE_END = r"(?![\w@#$%^*+/=!~-])"
_QUOTE = r"(?:\\{0,8}[\"'`]|&quot;)"
_QUOTED_VALUE = r"(?:[^\\\"'`&\r\n]++|(?!(?P=quote))(?:\\++[\"'`]?|[\"'`&]))++"
_BARE_VALUE = r"(?:[^\s\"',;&\\<]++|\\(?![nrt\"'\\])|<(?!/))++"
_ASSIGNMENT = r"(?:[ \t]{0,20}(?:={1,3}>?|:(?!:)=?)[ \t]{0,20}+|%3[ad]|>(?=[^<>\s]{1,4000}</))"
# For speed, the pattern starts at `key`, which is rare, and checks the prefix by lookbehind.
_KEY_PREFIXES = (
    *("api", "access", "account", "private", "auth", "signing", "encryption", "master"),
    *("subscription", "storage"),
)
_KEY_NAMES = "key(?:" + "|".join(rf"(?<={o}key)|(?<={o}[_ .-]key)" for o in _KEY_PREFIXES) + ")"
_NAMES_OF_TOKENS = (
    r"token(?<!expected token)(?<!illegal token)(?<!current token)(?<!next token)(?<!near token)"
    r"(?!s(?![a-z])|i[sz]|[_-]?(?:count|limit|type|usage|length|budget|per|bucket|index|ttl|class))"
)
_NAMES_OF_PASSWORDS = (
    r"pass(?:word|wd|phrase|code|(?<=(?:db|er|tp|ql|ot|in)_pass)(?![a-z]))"
    r"|pwd(?<![a-z]pwd)(?![a-z]|=/(?:home|users|usr|var|tmp|root|opt|app|builds|github|mnt|srv)/)"
)
# A name with one of these suffixes describes a secret but does not hold one.
_HARMLESS_SUFFIX = (
    r"(?![_-]?(?:s?name|s?error|s?exception|expir|policy|url|uri|endpoint|path|file|arn|version"
    r"|field|provider|s?manager|service|required|reset|ref(?![a-z])|length))"
)
_SECRET_NAME = (
    rf"(?:{_KEY_NAMES}|secret(?<!:secret)(?!ar)|{_NAMES_OF_TOKENS}|{_NAMES_OF_PASSWORDS})"
    rf"{_HARMLESS_SUFFIX}"
    r"[\w-]{0,40}+(?<!error)(?<!errors)(?<!exception)(?: provided)?"
)
# These words often mean something else, so the value must follow directly.
_AMBIGUOUS_NAME = r"(?:sig(?:nature|(?<![a-z]sig))|credentials?|key(?<=[?&]key)|auth(?<=[?&]auth))"
_AUTH_SCHEMES = r"(?:digest|oauth|hawk|mac|signature|aws4-[\w-]{1,40})"
_ANY_SCHEME = r"(?:[a-z][\w-]{0,30}+[ \t]{1,20})?"
_REST_OF_LINE = r"(?:[^\r\n\\]++|\\(?![rn]))++"
_QUOTED_ASSIGNMENT = rf"{_QUOTE}?{_ASSIGNMENT}(?P<quote>{_QUOTE})"
_BARE_ASSIGNMENT = rf"{_QUOTE}?{_ASSIGNMENT}"
_UNLESS_EMPTY = rf"(?!{_EMPTY_VALUES}{_VALUE_END})"
_UNLESS_SENTENCE = (
    rf"(?!(?:{_EMPTY_VALUES}|{_SENTENCE_WORDS}){_VALUE_END})(?![\[{{(<]{{1,4}}(?:[\"'\s]|$))"
)

_NAMED_PATTERNS = [
    (
        ("key", "secret", "token", "pass", "pwd"),
        rf"({_SECRET_NAME}(?:{_QUOTED_ASSIGNMENT}(?={_UNLESS_EMPTY})"
        rf"|{_BARE_ASSIGNMENT}(?={_UNLESS_SENTENCE})))"
        rf"(?(quote){_QUOTED_VALUE}|{_BARE_VALUE})",
    ),
    (
        ("sig", "credential", "key", "auth"),
        rf"({_AMBIGUOUS_NAME}(?:{_QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}(?P<quote>{_QUOTE})"
        rf"|=(?=[^\s=>\"'])))"
        rf"(?(quote){_QUOTED_VALUE}|{_BARE_VALUE})",
    ),
    (
        ("authorization",),
        rf"(authorization(?:{_QUOTED_ASSIGNMENT}|{_BARE_ASSIGNMENT}(?={_UNLESS_SENTENCE})))"
        rf"(?(quote){_QUOTED_VALUE}"
        rf"|(?:{_AUTH_SCHEMES}[ \t]{_REST_OF_LINE}|{_ANY_SCHEME}{_BARE_VALUE}))",
    ),
    (
        ("cookie",),
        rf"(cookie(?:{_QUOTED_ASSIGNMENT}|{_BARE_ASSIGNMENT}{_UNLESS_SENTENCE}))"
        rf"(?(quote){_QUOTED_VALUE}|{_REST_OF_LINE})",
    ),
    (
        ("bearer",),
        rf"(bearer[ \t:=]{{1,20}}+)(?!(?:{_EMPTY_VALUES}|{_SENTENCE_WORDS}"
        rf"|tokens?|auth|schemes?|realm|headers?|credentials?){_VALUE_END}|realm=|error=){_BARE_VALUE}",
    ),
]


def redact(text: str, limit: int) -> str:
    """Return `text` without secrets, truncated to `limit`.

    Of a text longer than `MAX_REDACTED_LENGTH`, only both ends are searched and pieces.
    """
    if len(text) <= MAX_REDACTED_LENGTH:
        return truncate_middle(redact_whole(text), limit)
    half = MAX_REDACTED_LENGTH // 2
    head, tail = _mask(text[:half]), _mask(text[-half:])
    # Drop the text next to the cut: half of a secret there would not be recognized.
    whole = _WORD_BOUNDARY.search(tail, SEAM_MARGIN)
    return truncate_middle(
        _replace_masked(head[:-SEAM_MARGIN])
        + TRUNCATION_MARK
        + (_replace_masked(tail[whole.end() :]) if whole else ""),
        limit,
    )


def redact_whole(text: str) -> str:
    """Return `text` without secrets, however long it is. Use it for text of bounded size."""
    return _replace_masked(_mask(text))


def truncate_middle(text: str, limit: int) -> str:
    """Keep the beginning and the end of `text`, where errors are most informative."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + TRUNCATION_MARK + text[-(limit - half - len(TRUNCATION_MARK)) :]


def _mask(text: str) -> str:
    """Replace each secret with mask characters; the length stays the same.

    Lone surrogates become question marks, so that the text can be stored.
    """
    text = text.encode("utf-8", "replace").decode().replace(_MASK_CHARACTER, "?")
    pieces, at = [], 0
    for start, end in sorted(_find_secrets(text)):
        if end > at:
            pieces += [text[at:start], _MASK_CHARACTER * (end - max(start, at))]
            at = end
    return "".join(pieces) + text[at:]


def _find_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each secret. Spans of different patterns may overlap."""
    for beginning, shape in _TOKEN_PATTERNS:
        if beginning in text:
            yield from map(_secret_span, _compile(shape).finditer(text))
    # Searching lower-case text is several times faster than ignoring case. `İ` would become two
    # characters and shift the offsets.
    small = text.replace("İ", "I").lower()
    for words, named in _NAMED_PATTERNS:
        if any(word in small for word in words):
            yield from map(_secret_span, _compile(named).finditer(small))
    yield from _find_truncated_keys(text)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile on first use, because compiling all patterns would slow down a cold start."""
    return re.compile(pattern)


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    start = match.end(1) if match.re.groups else match.start()
    # A trailing dot or bracket belongs to the sentence.
    return start, start + len(match.string[start : match.end()].rstrip(".)"))


def _find_truncated_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of private keys whose beginning was cut off, as far back as key data goes."""
    at = 0
    for end in _PRIVATE_KEY_END.finditer(text):
        yield at + len(text[at : end.start()].rstrip(_PRIVATE_KEY_CHARACTERS)), end.end()
        at = end.end()


def _replace_masked(text: str) -> str:
    return _MASKED_SPAN.sub(REDACTED, text)
