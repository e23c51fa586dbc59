"""The text of an API token: a prefix, 256 random bits and a checksum, for example `dc_4fK…`.

Secret scanners recognise it by prefix and checksum. Tokens that were made before have neither, and
stay valid.
"""

from __future__ import annotations

import re
import string
import zlib

PREFIX = "dc_"
ENTROPY_BYTES = 32
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 43  # holds 256 bits
_CHECKSUM_LENGTH = 6  # holds 32 bits
_SHAPE = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_RANDOM_LENGTH + _CHECKSUM_LENGTH}}}")


def format_token(entropy: bytes) -> str:
    """Return the token made of ENTROPY_BYTES random bytes."""
    if len(entropy) != ENTROPY_BYTES:
        raise ValueError(f"a token needs {ENTROPY_BYTES} random bytes")
    text = PREFIX + _to_base62(int.from_bytes(entropy), _RANDOM_LENGTH)
    return text + _checksum(text)


def is_mistyped(token: str) -> bool:
    """Return whether the text has the shape of a token and a wrong checksum."""
    if not _SHAPE.fullmatch(token):
        return False
    return _checksum(token[:-_CHECKSUM_LENGTH]) != token[-_CHECKSUM_LENGTH:]


def _checksum(text: str) -> str:
    return _to_base62(zlib.crc32(text.encode()), _CHECKSUM_LENGTH)


def _to_base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))
