"""Hides secrets in a text: those known by their name, by their shape or by where they stand."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

REDACTED_LIMIT = 40_000  # more takes longer to look through than it is worth
SEAM = 4_000  # longer than nearly every cookie, or user name and password in a URL
CUT = " […] "
_WORD_ENDS = re.compile(r"[\s\"',;&]")
# A secret is first hidden by as many of these, so that every place stays where it is.
_HIDDEN = "\0"
_SHOWN = "[redacted]"
_ALL_HIDDEN = re.compile(f"{_HIDDEN}+")

# Linear time: a repeat is either bounded or possessive, and nothing that may fail follows a
# possessive one unless the characters before it cannot begin a match of their own.

# A token that shows by itself what it is; the first column is looked for before the second.
_SHAPES = [
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
    # Somebody's password may well hold a slash; a port before a path with an @ is no password.
    ("://", r"(://)[^\s/:@\"'<>]{1,200}+:(?!\d{1,5}/)(?:[^\s/@\"'<>]*+/){1,2}[^\s/@\"'<>]*+(?=@)"),
    (
        "-----BEGIN",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
        r"(?:[^-]|-(?!----)){0,12000}+-----END [A-Z0-9 ]{0,60}-----"
        # Cut before its end: as long as the lines look like those of a key.
        r"|(?:(?:\s|\\{1,8}[nrt])*+[A-Za-z0-9+/=]{17,}+)*+"
        r"(?:(?:\s|\\{1,8}[nrt]){1,8}+[A-Za-z0-9+/=]{1,64}+(?=[\"']|\s?(?:\[|\.\.|…)|\s{0,9}\Z))?)",
    ),
]
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_OF_A_KEY = string.ascii_letters + string.digits + "+/=\\" + string.whitespace

# What follows a name in a sentence about it, or in a declaration, and is no secret.
_WORDS = (
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
_NOTHING = r"(?:null|none|nil|undefined|true|false|missing)"
_ENDS = r"(?![\w@#$%^*+/=!~-])"
_QUOTE = r"(?:\\{0,8}[\"'`]|&quot;)"
_QUOTED = r"(?:[^\\\"'`&\r\n]++|(?!(?P=quote))(?:\\++[\"'`]?|[\"'`&]))++"
_BARE = r"(?:[^\s\"',;&\\<]++|\\(?![nrt\"'\\])|<(?!/))++"
_IS = r"(?:[ \t]{0,20}(?:={1,3}>?|:(?!:)=?)[ \t]{0,20}+|%3[ad]|>(?=[^<>\s]{1,4000}</))"
# A name begins with a letter that few words begin with: what comes before it is looked at later.
_OWNERS = (
    *("api", "access", "account", "private", "auth", "signing", "encryption", "master"),
    *("subscription", "storage"),
)
_KEY = "key(?:" + "|".join(rf"(?<={o}key)|(?<={o}[_ .-]key)" for o in _OWNERS) + ")"
_TOKENS = (
    r"token(?<!expected token)(?<!illegal token)(?<!current token)(?<!next token)(?<!near token)"
    r"(?!s(?![a-z])|i[sz]|[_-]?(?:count|limit|type|usage|length|budget|per|bucket|index|ttl|class))"
)
_PASSWORDS = (
    r"pass(?:word|wd|phrase|code|(?<=(?:db|er|tp|ql|ot|in)_pass)(?![a-z]))"
    r"|pwd(?<![a-z]pwd)(?![a-z]|=/(?:home|users|usr|var|tmp|root|opt|app|builds|github|mnt|srv)/)"
)
# What ends so tells of a secret, and is none.
_ABOUT = (
    r"(?![_-]?(?:s?name|s?error|s?exception|expir|policy|url|uri|endpoint|path|file|arn|version"
    r"|field|provider|s?manager|service|required|reset|ref(?![a-z])|length))"
)
_NAME = (
    rf"(?:{_KEY}|secret(?<!:secret)(?!ar)|{_TOKENS}|{_PASSWORDS}){_ABOUT}"
    r"[\w-]{0,40}+(?<!error)(?<!errors)(?<!exception)(?: provided)?"
)
# These words are as often said about something else: only a value written tightly is hidden.
_TIGHT_NAME = r"(?:sig(?:nature|(?<![a-z]sig))|credentials?|key(?<=[?&]key)|auth(?<=[?&]auth))"
_SCHEMES = r"(?:digest|oauth|hawk|mac|signature|aws4-[\w-]{1,40})"
_ANY_SCHEME = r"(?:[a-z][\w-]{0,30}+[ \t]{1,20})?"
_LINE = r"(?:[^\r\n\\]++|\\(?![rn]))++"
_OPEN = rf"{_QUOTE}?{_IS}(?P<quote>{_QUOTE})"
_OPEN_BARE = rf"{_QUOTE}?{_IS}"
_UNLESS = rf"(?!{_NOTHING}{_ENDS})"
_UNLESS_SAID = rf"(?!(?:{_NOTHING}|{_WORDS}){_ENDS})(?![\[{{(<]{{1,4}}(?:[\"'\s]|$))"

_NAMED = [
    (
        ("key", "secret", "token", "pass", "pwd"),
        rf"({_NAME}(?:{_OPEN}(?={_UNLESS})|{_OPEN_BARE}(?={_UNLESS_SAID})))"
        rf"(?(quote){_QUOTED}|{_BARE})",
    ),
    (
        ("sig", "credential", "key", "auth"),
        rf"({_TIGHT_NAME}(?:{_QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}(?P<quote>{_QUOTE})|=(?=[^\s=>\"'])))"
        rf"(?(quote){_QUOTED}|{_BARE})",
    ),
    (
        ("authorization",),
        rf"(authorization(?:{_OPEN}|{_OPEN_BARE}(?={_UNLESS_SAID})))"
        rf"(?(quote){_QUOTED}|(?:{_SCHEMES}[ \t]{_LINE}|{_ANY_SCHEME}{_BARE}))",
    ),
    (("cookie",), rf"(cookie(?:{_OPEN}|{_OPEN_BARE}{_UNLESS_SAID}))(?(quote){_QUOTED}|{_LINE})"),
    (
        ("bearer",),
        rf"(bearer[ \t:=]{{1,20}}+)(?!(?:{_NOTHING}|{_WORDS}|tokens?|auth|schemes?|realm|headers?"
        rf"|credentials?){_ENDS}|realm=|error=){_BARE}",
    ),
]


def clean(text: str, limit: int) -> str:
    """Redacted, then cut. Of a text that is hopelessly long, both ends are looked at."""
    if len(text) <= REDACTED_LIMIT:
        return cut(_shown(_hidden(text)), limit)
    half = REDACTED_LIMIT // 2
    head, tail = _hidden(text[:half]), _hidden(text[-half:])
    # At the seam may lie half of a secret, which only the whole would show to be one.
    whole = _WORD_ENDS.search(tail, SEAM)
    return cut(_shown(head[:-SEAM]) + CUT + (_shown(tail[whole.end() :]) if whole else ""), limit)


def cut(text: str, limit: int) -> str:
    """The beginning and the end, where errors say what they are."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + CUT + text[-(limit - half - len(CUT)) :]


def _hidden(text: str) -> str:
    """As long as before. What is not of Unicode becomes a question mark, so that it can be kept."""
    text = text.encode("utf-8", "replace").decode().replace(_HIDDEN, "?")
    kept, at = [], 0
    for start, end in sorted(_secrets(text)):
        if end > at:
            kept += [text[at:start], _HIDDEN * (end - max(start, at))]
            at = end
    return "".join(kept) + text[at:]


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    """From where to where. Each kind is looked for in all of the text, whatever others hide."""
    for beginning, shape in _SHAPES:
        if beginning in text:
            yield from map(_span, _compiled(shape).finditer(text))
    # Searching small letters is several times faster than ignoring case; one letter would grow.
    small = text.replace("İ", "I").lower()
    for words, named in _NAMED:
        if any(word in small for word in words):
            yield from map(_span, _compiled(named).finditer(small))
    yield from _ends_of_keys(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """On first use: all of them together take longer than a start should."""
    return re.compile(pattern)


def _span(found: re.Match[str]) -> tuple[int, int]:
    start = found.end(1) if found.re.groups else found.start()
    # These end the sentence, not the secret.
    return start, start + len(found.string[start : found.end()].rstrip(".)"))


def _ends_of_keys(text: str) -> Iterator[tuple[int, int]]:
    """Of a private key that was cut before its beginning, all that may be of it."""
    at = 0
    for end in _KEY_ENDS.finditer(text):
        yield at + len(text[at : end.start()].rstrip(_OF_A_KEY)), end.end()
        at = end.end()


def _shown(text: str) -> str:
    return _ALL_HIDDEN.sub(_SHOWN, text)
