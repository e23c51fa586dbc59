"""Ed25519 public keys of small order in every encoding, and signatures that anybody can make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count

from tests.support.platforms import PlatformRequest

_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
# The eight points of small order, and the encodings of them that are not canonical.
CANONICAL = {
    "order 1": "01" + "00" * 31,
    "order 2": "ec" + "ff" * 30 + "7f",
    "order 4": "00" * 32,
    "order 4, negative": "00" * 31 + "80",
    "order 8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "order 8, negative": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "order 8, other": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "order 8, other, negative": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
}
NOT_CANONICAL = {
    "order 1, negative": "01" + "00" * 30 + "80",
    "order 2, negative": "ec" + "ff" * 31,
    "order 4, y + p": "ed" + "ff" * 30 + "7f",
    "order 4, y + p, negative": "ed" + "ff" * 31,
    "order 1, y + p": "ee" + "ff" * 30 + "7f",
    "order 1, y + p, negative": "ee" + "ff" * 31,
}
WEAK_KEYS = CANONICAL | NOT_CANONICAL
# R is the neutral element and S is 0. It is valid if the hash is a multiple of the key's order.
FORGED_SIGNATURE = bytes([1]) + bytes(63)


def forge_request(key: str, timestamp: str) -> PlatformRequest:
    """Return a ping with a signature that is valid under `key`, made without a private key."""
    body = next(body for body in _pings() if _is_valid(key, timestamp.encode() + body))
    headers = {
        "content-type": "application/json",
        "x-signature-ed25519": FORGED_SIGNATURE.hex(),
        "x-signature-timestamp": timestamp,
    }
    return PlatformRequest("discord", body, headers)


def _pings() -> Iterator[bytes]:
    return (b'{"type": 1, "id": "%d", "token": "t"}' % number for number in count())


def _is_valid(key: str, content: bytes) -> bool:
    signed = FORGED_SIGNATURE[:32] + bytes.fromhex(key) + content
    challenge = int.from_bytes(hashlib.sha512(signed).digest(), "little") % _GROUP_ORDER
    return challenge % 8 == 0
