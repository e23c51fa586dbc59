"""Options and arguments of commands that hold a secret, as in `mysql -px` and `--token x`."""

from __future__ import annotations

from duecourse.domain.text.secret_names import SECRET_NAME
from duecourse.domain.text.values import (
    ARGUMENT_VALUE,
    BARE_VALUE,
    BLANK,
    OPTION_WORDS,
    QUOTE,
    QUOTED_GAP,
    QUOTED_VALUE,
    UNLESS_EMPTY,
    UNLESS_SENTENCE,
    VALUE,
    VALUE_END,
    VALUE_GAP,
    WORD_GAP,
)

_START = r"(?<![\w-])"  # of an option
_UNLESS_WORDS = rf"(?!-|[<\[\])|,.:;…]|{OPTION_WORDS}{VALUE_END}){UNLESS_SENTENCE}"
_OPTION_NAME = (
    rf"{_START}-{{1,2}}(?!no-)(?=[a-z])(?=[\w.-]{{0,60}}?(?:{SECRET_NAME}|bearer(?![\w-])"
    rf"|(?:pass|(?<=-)pw)(?![\w-])))[\w.-]{{1,80}}+"
)
_USER = r"(?!\d{1,9}:\d|(?P<user>[\w-]{1,60}):(?P=user)(?![\w-]))[^\s:\"'=/]{0,100}:(?!//|\\)"
_ARGUMENT = rf"{WORD_GAP}(?!-)[^\s\"'`]{{1,200}}"

# Searched in lower-case text that contains one of the words. The text of group 1 is kept.
OPTION_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("-",),
        rf"({_OPTION_NAME}(?:{QUOTED_GAP}(?!-){UNLESS_EMPTY}|{BLANK}{_UNLESS_WORDS}"
        rf"|[=:](?:(?P<argument>{QUOTE})|{_UNLESS_WORDS}))){ARGUMENT_VALUE}",
    ),
    (  # an argument that is quoted as a whole may have blanks: "--password=a b"
        ("--",),
        rf"((?P<quote>{QUOTE})-{{1,2}}(?=[a-z])(?=[\w.-]{{0,60}}?{SECRET_NAME}=)[\w.-]{{1,80}}+="
        rf"{UNLESS_EMPTY}){QUOTED_VALUE}",
    ),
    (
        ("--",),
        rf"({_START}--(?:proxy-|http-|basic-)?(?:user|auth|creds?|login)(?:=(?P<argument>{QUOTE})?"
        rf"|{VALUE_GAP}){_USER}){ARGUMENT_VALUE}",
    ),
    (
        ("--from-literal",),
        rf"(--from-literal(?:=|{BLANK}|{QUOTE},\s{{0,20}}(?={QUOTE}))(?P<argument>{QUOTE})?"
        rf"[\w.-]{{1,100}}=(?P<quote>{QUOTE})?){ARGUMENT_VALUE}",
    ),
    (("pass:",), rf"((?<!\w)-(?:pass(?:in|out)?|-(?:ks|key)-pass){WORD_GAP}pass:){BARE_VALUE}"),
    (
        ("sshpass",),
        rf"(sshpass(?:\.exe)?(?:{WORD_GAP}-v)?{WORD_GAP}-p(?:{VALUE_GAP}|(?P<argument>{QUOTE})"
        rf"(?![\s,\])]))?)(?!-){ARGUMENT_VALUE}",
    ),
    (
        ("set",),
        rf"((?:config(?:ure)?{WORD_GAP}set|set(?:env|x))(?:{WORD_GAP}--[\w-]{{1,40}}){{0,2}}{WORD_GAP}"
        rf"(?=[^\s\"'=]{{0,100}}?{SECRET_NAME})[^\s\"'=]{{1,140}}+{VALUE_GAP}{_UNLESS_WORDS}){VALUE}",
    ),
    (  # PowerShell
        ("securestring",),
        rf"(convertto-securestring(?:{WORD_GAP}-string)?{VALUE_GAP}(?![-$])){VALUE}",
    ),
    (
        ("credential(",),
        rf"((?:ps|network)credential\(\s{{0,4}}{QUOTE}[^\"'\r\n]{{1,100}}{QUOTE},\s{{0,4}}"
        rf"(?P<quote>{QUOTE})){QUOTED_VALUE}",
    ),
    (
        ("set", "put"),
        rf"((?:set|put)\w{{0,30}}\(\s{{0,4}}{QUOTE}(?=[^\"'\r\n(]{{0,100}}?{SECRET_NAME}{QUOTE})"
        rf"[^\"'\r\n(]{{1,140}}{QUOTE},\s{{0,4}}(?P<quote>{QUOTE})){QUOTED_VALUE}",
    ),
    (
        ("env:",),
        rf"(set-item{BLANK}(?:-path{BLANK})?env:(?=\w{{0,100}}?{SECRET_NAME})\w{{1,140}}+"
        rf"(?:{BLANK}-value)?{VALUE_GAP}(?![-$])){VALUE}",
    ),
    (("/pass:",), rf"((?<!\S)/pass:(?P<quote>{QUOTE})?){VALUE}"),
    ((",pass=",), rf"((?<!\w)user(?:name)?=[^\s,]{{1,100}},pass=){BARE_VALUE}"),
    (("authtoken",), rf"(authtoken{VALUE_GAP}{_UNLESS_WORDS}){VALUE}"),
    (
        ("login", "snyk"),
        rf"((?<!\w)(?:(?:cargo|vault){WORD_GAP}login|snyk{WORD_GAP}auth){VALUE_GAP}(?=\S{{16}}))"
        rf"{VALUE}",
    ),
    (
        ("http-basic.",),
        rf"(http-basic\.[\w.-]{{1,100}}{_ARGUMENT}{VALUE_GAP}{_UNLESS_WORDS}){VALUE}",
    ),
    (("pypi-token.",), rf"(pypi-token\.[\w.-]{{1,100}}{VALUE_GAP}{_UNLESS_WORDS}){VALUE}"),
    (
        ("htpasswd",),
        rf"(htpasswd{WORD_GAP}-[a-z]{{0,6}}b[a-z]{{0,6}}(?:{_ARGUMENT}){{1,2}}{VALUE_GAP}){VALUE}",
    ),
    (
        ("add_user", "change_password"),
        rf"((?:add_user|change_password){_ARGUMENT}{VALUE_GAP}(?!-)){VALUE}",
    ),
    (
        ("echo ", "printf "),
        r"((?:echo|printf)[ \t]{1,8}(?:-n[ \t]{1,8})?)(?!-)[^|\r\n]{1,300}+(?=\|[^\r\n]{0,120}?"
        r"(?:sudo (?:-\w{1,4} ){0,3}-s|chpasswd|passwd|-stdin|--with-token))",
    ),
    (("<<<",), r"((?:stdin|--with-token)[^\r\n<]{0,100}+<<<[ \t]{0,4})[^\r\n]{1,400}+"),
)


_IS_DESCRIBED = r"(?!(?:is|or|and|has|was|must|requires|option|flag|argument)(?!\S))"


def _value_of(options: str) -> str:
    """Match the value of short options, which follows after a blank or directly."""
    return (
        rf"({_START}-(?:{options})(?:{VALUE_GAP}|(?P<argument>{QUOTE})(?![\s,\])}}:.;]|$))?)(?!-|\d+:\d)"
        rf"{_IS_DESCRIBED}{ARGUMENT_VALUE}"
    )


def _attached_to(option: str) -> str:
    """Match a value that follows the option directly, as in `-px`. A word after a blank is none."""
    return rf"({_START}-{option}(?:(?P<quote>{QUOTE})(?![\s,\])}}:.;]|$))?)(?!\d+:\d){VALUE}"


def _after(options: str, separator: str) -> str:
    """Match what follows a user's name and `separator` in the value of an option."""
    return (
        rf"({_START}-(?:{options})(?:{VALUE_GAP}|=|(?P<argument>{QUOTE})(?!\s))?(?!\d{{1,9}}:\d)"
        rf"[^\s{separator}\"'`/]{{0,100}}{separator})(?!//)"
        rf"{ARGUMENT_VALUE}"
    )


_USER_OPTIONS = r"[a-zA-Z]{0,8}[uU]|-user|-proxy-user"
_LOGIN = (
    r"(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|az|cf|oc|ibmcloud|argocd)"
    rf"(?:{WORD_GAP}(?:registry|auth|acr))?{WORD_GAP}login"
)
# A word of the command, the pattern of the command in lower-case text, and the pattern of its
# secret. The secret is searched from the command to its end, in text as it is: case matters.
COMMAND_PATTERNS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("mysql", "mariadb", "mycli"), r"mysql|mariadb|mycli", _attached_to("p")),
    (("7z", "rar"), r"(?<!\w)(?:7z\w{0,3}|(?:un)?rar)(?![\w.])", _attached_to("h?p")),
    (
        ("mongo", "cqlsh", "cypher-shell", "rabbitmqadmin", "twine", "influx", "rdesktop"),
        r"mongo\w{0,10}|cqlsh|cypher-shell|rabbitmqadmin|twine|influx|rdesktop",
        _value_of("p"),
    ),
    (("login",), _LOGIN, _value_of("p")),
    (("redis-cli", "valkey-cli", "keydb-cli"), r"(?:redis|valkey|keydb)-cli", _value_of("a")),
    (("-cli",), r"(?:redis|valkey)-cli", rf"((?<![\w-])(?i:auth){VALUE_GAP}(?!-)){VALUE}"),
    (("ldap",), r"ldap(?:search|add|mod|del|whoami|passwd|compare|exop)", _value_of("w")),
    (("ssh-keygen",), r"ssh-keygen", _value_of("[NP]")),
    (("psexec", "winrm"), r"psexec|evil-winrm", _value_of("p")),
    (("schtasks",), r"schtasks", rf"((?<!\S)(?i:/r?p){VALUE_GAP}(?![*/])){VALUE}"),
    (  # the password is before or after the user
        ("net use",),
        r"(?<!\w)net use",
        r"(\\\S{1,200}[ \t]{1,8}(?:/user:\S{1,100}[ \t]{1,8}(?!/)"
        rf"|(?=[^\s/]\S{{0,200}}[ \t]{{1,8}}/user:)))(?!\*){BARE_VALUE}",
    ),
    (("ldappasswd",), r"ldappasswd", _value_of("[as]")),
    (("smb", "rpcclient"), r"smb\w{3,6}|rpcclient", _after("U|-user", "%")),
    (
        ("curl", "http", "xh"),
        r"curl|(?<![\w./:-])(?:https?|xhs?)(?=[ \t\"'])",
        _after(_USER_OPTIONS + r"|a|-auth", ":"),
    ),
    (  # an API key as the user's name, without a password
        ("curl",),
        "curl",
        rf"({_START}-(?:{_USER_OPTIONS})(?:{VALUE_GAP}|=)?)(?=[^\s:\"']{{0,100}}\d)"
        r"[^\s:\"']{8,200}(?=:(?:[\s\"'\\]|$))",
    ),
    (
        ("curl",),
        "curl",
        rf"({_START}-(?:b|-cookie)(?:{VALUE_GAP}|=)?(?=[^\s\"'=]{{1,100}}=)){VALUE}",
    ),
    (("curl",), "curl", _after("E|-cert", ":")),
    (("lftp",), r"lftp", _after("u", ",")),
    (("openssl",), r"openssl", _value_of("[kK]")),
    (("nuget",), r"nuget", _value_of("k")),
    (("vercel", "doctl"), r"vercel|doctl", _value_of("t")),
    (
        ("zip", "sqlcmd", "bcp", "tsql", "ipmitool", "mosquitto_"),
        r"(?<!\w)(?:(?:un)?zip|sqlcmd|bcp|tsql|ipmitool|mosquitto_[ps]ub)(?![\w.])",
        _value_of("P"),
    ),
    (("snmp",), r"snmp(?:get|walk|set|bulk\w{0,4}|trap)", _value_of("[AX]")),
    (("freerdp",), r"freerdp", rf"((?<!\w)/p:(?P<quote>{QUOTE})?){VALUE}"),
    (
        ("sqlplus", "sqlldr", "expdp", "impdp"),
        r"sqlplus|sqlldr|expdp|impdp",
        r"((?<![\w/@.])[\w$#]{1,60}/)[^\s/@\"']{1,100}(?=[@\s\"']|$)",
    ),
)  # fmt: skip
# The rest of a command: until the end of the line, a pipe, `&&` or `;` outside of quotes. An
# unclosed quote belongs to the text around the command.
COMMAND_REST = (
    r"(?:[^\r\n\"'|;&\\]++|\\\r?\n|\\(?![rn])|'[^'\r\n]*+'|\"[^\"\r\n]*+\"|[\"']"
    r"|&(?!&)|[|;](?!\s))*+"
)
