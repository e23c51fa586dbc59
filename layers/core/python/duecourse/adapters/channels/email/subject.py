"""Make the subject of an e-mail from a message of a person.

SNS accepts only printable ASCII, less than 100 characters, beginning with a letter, a digit or a
punctuation mark. A line break would begin another header.
"""

from __future__ import annotations

import re
import unicodedata

from duecourse.domain.text.redaction import redact

MAX_SUBJECT_LENGTH = 99
_NO_SUBJECT = "Message"
_ELLIPSIS = "..."
_NOT_PRINTABLE = re.compile(r"[^\x20-\x7e]+")
_TEXT_LIMIT = 2_000  # of which the subject is made


def to_subject(text: str) -> str:
    """Return the first line as ASCII. Accents are dropped, other scripts become question marks.

    Secrets are redacted: mail servers log subjects, and telephones show them on a locked screen.
    """
    first_line = next((line for line in text.splitlines() if line.strip()), "")
    plain = unicodedata.normalize("NFKD", redact(first_line, _TEXT_LIMIT))
    without_accents = "".join(char for char in plain if not unicodedata.combining(char))
    line = _NOT_PRINTABLE.sub("?", " ".join(without_accents.split())) or _NO_SUBJECT
    if len(line) <= MAX_SUBJECT_LENGTH:
        return line
    return line[: MAX_SUBJECT_LENGTH - len(_ELLIPSIS)].rstrip() + _ELLIPSIS
