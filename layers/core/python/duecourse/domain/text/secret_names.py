"""Names that are followed by a secret, as in `password=x`. The patterns need lower-case text."""

from __future__ import annotations

from duecourse.domain.text.values import (
    BARE_VALUE,
    EMPTY_VALUES,
    QUOTE,
    QUOTED_VALUE,
    REST_OF_LINE,
    SENTENCE_WORDS,
    UNLESS_EMPTY,
    UNLESS_SENTENCE,
    VALUE,
    VALUE_END,
)

_ASSIGNMENT = r"(?:[ \t]{0,20}(?:={1,3}>?|:(?!:)=?)[ \t]{0,20}+|%3[ad]|>(?=[^<>\s]{1,4000}</))"
# For speed, the pattern starts at `key`, which is rare, and checks the prefix by lookbehind.
_KEY_PREFIXES = (
    *("api", "access", "account", "private", "auth", "signing", "encryption", "master"),
    *(
        "subscription",
        "storage",
        "application",
        "app",
        "functions",
        "shared",
        "license",
        "consumer",
    ),
)
_KEY_NAMES = "key(?:" + "|".join(rf"(?<={o}key)|(?<={o}[_ .-]key)" for o in _KEY_PREFIXES) + ")"
_NAMES_OF_TOKENS = (
    r"token(?<!expected token)(?<!illegal token)(?<!current token)(?<!next token)(?<!near token)"
    r"(?<!publickeytoken)"  # of a .NET assembly
    r"(?!s(?![a-z])|i[sz]|[_-]?(?:count|limit|type|usage|length|budget|per|bucket|index|ttl|class))"
)
# The letters before `pass` in db, user, smtp, mysql, root, admin, ssh, become, sudo, redis, mail,
# proxy, ldap, api, postgres, store and vault. Others, such as `bypass`, do not hold a password.
_LAST_LETTERS = "(?:db|er|tp|ql|ot|in|sh|me|do|is|il|xy|ap|pi|es|re|lt)"
_NAMES_OF_PASSWORDS = (
    rf"pass(?:word|wd|phrase|code|(?<={_LAST_LETTERS}_pass)(?![a-z])"
    r"|(?<=dbpass)(?![a-z])|(?<=smtppass)(?![a-z])|(?<=[?&;]pass)(?==)"
    rf"|(?<=[\"'`]pass)(?={QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}{QUOTE})"
    rf"|(?<=[{{,(] pass)(?=[:=][ \t]{{0,4}}{QUOTE})|(?<=[{{,(]pass)(?=[:=][ \t]{{0,4}}{QUOTE}))"
    r"|pwd(?<![a-z]pwd)(?![a-z]|=/(?:home|users|usr|var|tmp|root|opt|app|builds|github|mnt|srv)/)"
)
# A name with one of these suffixes describes a secret but does not hold one.
_HARMLESS_SUFFIX = (
    r"(?![_-]?(?:s?name|s?error|s?exception|expir|policy|url|uri|endpoint|path|file|arn|version"
    r"|field|provider|s?manager|service|required|reset|ref(?![a-z])|length|stdin))"
)
SECRET_NAME = (
    rf"(?:{_KEY_NAMES}|secret(?<!:secret)(?!ar)|{_NAMES_OF_TOKENS}|{_NAMES_OF_PASSWORDS})"
    rf"{_HARMLESS_SUFFIX}"
    r"[\w-]{0,40}+(?<!error)(?<!errors)(?<!exception)(?: provided)?"
)
# These words often mean something else, so the value must follow directly.
_AMBIGUOUS_NAME = (
    r"(?:sig(?:nature|(?<![a-z]sig))|credentials?|key(?<=[?&]key)|auth(?<=[?&]auth)"
    r"|(?:jsession|phpsess|[?&;]session)id|connect\.sid|_gitlab_session|sonar\.login)"
)
_AUTH_SCHEMES = r"(?:digest|oauth|hawk|mac|signature|aws4-[\w-]{1,40})"
_ANY_SCHEME = r"(?:[a-z][\w-]{0,30}+[ \t]{1,20})?"
# Formatted JSON may have the value in the next line.
_QUOTED_ASSIGNMENT = rf"{QUOTE}?(?:{_ASSIGNMENT}|[ \t]{{0,4}}:\s{{1,40}}+)(?P<quote>{QUOTE})"
_BARE_ASSIGNMENT = rf"{QUOTE}?{_ASSIGNMENT}(?:[|>][+-]?[ \t]{{0,4}}\r?\n[ \t]{{1,40}}+)?"

NAMED_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("key", "secret", "token", "pass", "pwd"),
        rf"({SECRET_NAME}(?:{_QUOTED_ASSIGNMENT}(?={UNLESS_EMPTY})"
        rf"|{_BARE_ASSIGNMENT}(?={UNLESS_SENTENCE}))){VALUE}",
    ),
    (  # {"name": "DB_PASSWORD", "value": "x"}, and the same in YAML, XML and property lists
        ("value", "<string>"),
        rf"({SECRET_NAME}(?:{QUOTE}|</key>)?\s{{0,4}},?\s{{0,40}}(?:<string>|{QUOTE}?value{QUOTE}?"
        rf"[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<quote>{QUOTE})?(?={UNLESS_SENTENCE}))){VALUE}",
    ),
    (
        ("sig", "credential", "key", "auth", "sess", "connect.sid", "sonar.login"),
        rf"({_AMBIGUOUS_NAME}(?:{QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}(?P<quote>{QUOTE})"
        rf"|=(?=[^\s=>\"']))){VALUE}",
    ),
    (  # .npmrc, and variables of other programs
        ("_auth",),
        r"((?<![a-z])(?:redis(?:cli)?|basic|http|proxy|registry|smtp|mqtt)?_auth"
        rf"[ \t]{{0,4}}=[ \t]{{0,4}}(?P<quote>{QUOTE})?(?={UNLESS_SENTENCE})){VALUE}",
    ),
    (  # Docker's config.json. A shorter value without digits is the name of a method.
        ("auth",),
        rf"({QUOTE}auth{QUOTE}[ \t]{{0,4}}:\s{{0,20}}(?P<quote>{QUOTE}))"
        rf"(?=[a-z+/]{{0,40}}[\d=]|[a-z+/]{{16}}){QUOTED_VALUE}",
    ),
    (
        ("authorization",),
        rf"(authorization(?:{_QUOTED_ASSIGNMENT}|{_BARE_ASSIGNMENT}(?={UNLESS_SENTENCE})))"
        rf"(?(quote){QUOTED_VALUE}"
        rf"|(?:{_AUTH_SCHEMES}[ \t]{REST_OF_LINE}|{_ANY_SCHEME}{BARE_VALUE}))",
    ),
    (
        ("cookie",),
        rf"(cookie(?:{_QUOTED_ASSIGNMENT}|{_BARE_ASSIGNMENT}{UNLESS_SENTENCE}))"
        rf"(?(quote){QUOTED_VALUE}|{REST_OF_LINE})",
    ),
    (
        ("bearer",),
        rf"(bearer(?:[ \t:=]{{1,20}}+|%20))(?!(?:{EMPTY_VALUES}|{SENTENCE_WORDS}"
        rf"|tokens?|auth|schemes?|realm|headers?|credentials?){VALUE_END}|realm=|error=){BARE_VALUE}",
    ),
    (  # .netrc, and nmcli
        ("password",),
        r"((?<![\w-])(?:machine|login|account|connect)\s{1,8}[^\s:]{1,100}\s{1,20}"
        rf"password[ \t]{{1,8}}(?P<quote>{QUOTE})?(?={UNLESS_SENTENCE})){VALUE}",
    ),
    (  # configuration files with a blank between name and value
        ("requirepass", "masterauth", "bindpw", "rootpw"),
        r"((?:requirepass|masterauth|bindpw|rootpw)(?:[ \t]{0,4}[=:]{1,2}[ \t]{0,4}|[ \t]{1,20})"
        rf"(?P<quote>{QUOTE})?(?={UNLESS_SENTENCE})){VALUE}",
    ),
    (  # a table of names and values
        ("key", "secret", "token", "pass", "pwd"),
        rf"({SECRET_NAME}(?:[ \t]{{2,40}}|\t))(?=[^\s\d]{{0,100}}\d)(?=[^\sa-z]{{0,100}}[a-z])"
        r"(?!\d{4}-\d\d)[^\s\"'`,;|()]{6,200}+(?=[ \t]{0,20}(?:[\r\n]|\Z))",
    ),
    (
        ("pass",),
        rf"(pass(?:word|wd|phrase)[ \t](?:is|was):?[ \t](?P<quote>{QUOTE})"
        rf"(?=[^\"'`\s]{{0,60}}\d)){QUOTED_VALUE}",
    ),
    (("userpassword::",), rf"(userpassword::[ \t]{{0,4}}){BARE_VALUE}"),  # LDIF
    (  # SQL
        ("identified ", " password "),
        r"((?:identified(?:\s{1,4}with\s{1,4}\w{1,60})?\s{1,4}(?:by|as)|(?:with|encrypted"
        r"|(?:user|role)\s{1,4}\S{1,100})\s{1,4}password)\s{1,4}"
        rf"(?:=\s{{0,4}})?n?(?P<quote>{QUOTE})){QUOTED_VALUE}",
    ),
    (  # .pgpass: host, port, database, user, password. An IPv6 address has another beginning.
        (":",),
        r"((?<![\w./:-])(?![0-9a-f]{0,4}:)[\w.*-]{1,100}(?<!\.py)(?<!\.js)(?<!\.ts)(?<!\.go)(?<!\.c)"
        r":(?:\d{4,5}|\*):(?!\d{1,9}:)[\w*.-]{1,63}:[\w.*@-]{1,63}:)[^\s\"'`:,;]{1,200}+(?=[\s\"'`]|$)",
    ),
)  # fmt: skip
