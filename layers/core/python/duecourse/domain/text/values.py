"""Parts of patterns for the value of a secret: its quotes, its end, and words that are no value."""

from __future__ import annotations

# Words that follow a name in a sentence or a declaration, so they are not a secret.
SENTENCE_WORDS = (
    r"(?:an?|and|any|are|as|at|be|but|by|can(?:not|'t)?|could|contains?|did|do|does|doesn't|either"
    r"|empty|error|exceeds|expected|expires?|expired|fail(?:s|ed|ure)|field|for|format|from|got|has"
    r"|have|if|in|incorrect|input|invalid|is|isn't|it|its|length|less|malformed|may|mismatch|missing"
    r"|more|must|needs?|no|not|nothing|of|on|only|or|please|provided|received|rejected|required|server"
    r"|requires|revoked|should|such|that|the|there|this|to|too|type|unable|unauthori[sz]ed|unknown"
    r"|unexpected|unset|unsupported|value|was|were|when|will|with|wrong|you|your|access|denied"
    r"|permission|authenticat(?:e|ion)|authori[sz]ation|verification|lookup"
    r"|string|str|number|int|integer|bool|boolean|bytes|object|char|varchar|optional|secretstr"
    r"|(?:[a-z_][\w.]{0,60})?(?:error|exception))"
)
# Words that follow an option in a sentence or in the description of a command.
OPTION_WORDS = (
    r"(?:options?|arguments?|args?|flags?|parameters?|switch(?:es)?|via|using|instead|before|after"
    r"|specified|given|set|used|unless|because|into|than|then|which|without|also|always|never"
    r"|deprecated|ignored|removed|prompts?|takes|expects|accepts|needs|names?|passwords?|passwd"
    r"|tokens?|keys?|secrets?|text|stdin|defaults?|credentials?|environment|env|api[-_]key|new)"
)
EMPTY_VALUES = r"(?:null|none|nil|undefined|true|false|yes|missing)"
VALUE_END = r"(?![\w@#$%^*+/=!~-])"
QUOTE = r"(?:\\{0,8}[\"'`]|&quot;|&#3[49];|%22|\\u0022)"
QUOTED_VALUE = r"(?:[^\\\"'`&%\r\n]++|(?!(?P=quote))(?:\\++[\"'`]?|[\"'`&%]))++"
BARE_VALUE = (
    r"(?:\{[^{}\s\"'\\]{1,200}+\}"  # ODBC quotes a value with braces
    r"|(?:[^\s\"',;&\\<]++|\\(?![nrt\"'\\])|<(?!/))++)"
)
VALUE = rf"(?(quote){QUOTED_VALUE}|{BARE_VALUE})"
REST_OF_LINE = r"(?:[^\r\n\\]++|\\(?![rn]))++"
UNLESS_EMPTY = rf"(?!{EMPTY_VALUES}{VALUE_END})"
UNLESS_SENTENCE = (
    rf"(?!(?:{EMPTY_VALUES}|{SENTENCE_WORDS}){VALUE_END})(?![\[{{(<]{{1,4}}(?:[\"'\s]|$))"
)
# What separates the words of a command, also if it is printed as a list: `'-p', 'x'`.
BLANK = r"(?:[ \t]{1,20}+(?:\\\r?\n[ \t]{0,40}+)?+)"
WORD_GAP = rf"(?:{BLANK}{QUOTE}?|{QUOTE},\s{{0,20}}{QUOTE})"
# The gap before a value. It keeps the quote of the value as the group `quote`.
QUOTED_GAP = rf"(?:(?:{BLANK}|{QUOTE},\s{{0,20}})(?P<quote>{QUOTE}))"
VALUE_GAP = rf"(?:{QUOTED_GAP}|{BLANK})"
# The rest of an argument whose quote is the group `argument`: 'a=b c'
REST_OF_ARGUMENT = r"(?:(?!(?P=argument))[^\r\n])++"
ARGUMENT_VALUE = rf"(?(argument){REST_OF_ARGUMENT}|{VALUE})"
