"""Ed25519 public keys for which anybody can make valid signatures.

The verification of RFC 8032 accepts public keys of small order: with them, a signature does not
depend on a private key. It also accepts other encodings of the same point.
"""

from __future__ import annotations

_FIELD_PRIME = 2**255 - 19
_SIGN_BIT = 2**255
# The y coordinates of the eight points of small order: of order 4, 1, 2, and twice of order 8.
_SMALL_ORDER = frozenset(
    {
        0,
        1,
        _FIELD_PRIME - 1,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    }
)


def is_weak_key(key: bytes) -> bool:
    """Return True if the point has a small order, or if the encoding is not the canonical one."""
    y = int.from_bytes(key, "little") % _SIGN_BIT
    return y >= _FIELD_PRIME or y in _SMALL_ORDER
