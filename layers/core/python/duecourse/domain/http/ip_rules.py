"""Which IP addresses a worker may reach: public ones only.

Python's `is_global` differs between versions, so the blocked networks are listed here, after the
registries of special-purpose addresses (RFC 6890 and later entries).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

_Network = IPv4Network | IPv6Network


def _parse_networks(*texts: str) -> tuple[_Network, ...]:
    return tuple(map(ip_network, texts))


# The only IPv6 block assigned to public hosts. Mapped, compatible, NAT64, local, site-local,
# link-local and multicast addresses lie outside, and so does the metadata service fd00:ec2::254.
_GLOBAL_UNICAST = ip_network("2000::/3")
_BLOCKED_NETWORKS = _parse_networks(
    "0.0.0.0/8",  # this network; 0.0.0.0 reaches this machine
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT, also used inside clouds
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local: cloud metadata services
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
    "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: embeds an IPv4 address
    "3fff::/20",  # documentation
)
_LOOPBACK = _parse_networks("127.0.0.0/8", "::1/128")
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)


def is_public(address: str) -> bool:
    """Return True for a public address. False for invalid or scoped ones (`fe80::1%eth0`)."""
    found = _parse_address(address)
    if found is None or _is_in_any(found, _BLOCKED_NETWORKS):
        return False
    return found.version == 4 or found in _GLOBAL_UNICAST


def is_loopback(address: str) -> bool:
    found = _parse_address(address)
    return found is not None and _is_in_any(found, _LOOPBACK)


def is_allowed(address: str, *, is_loopback_allowed: bool) -> bool:
    """Return True for a public address, and for loopback if `is_loopback_allowed` (local stack)."""
    return is_public(address) or (is_loopback_allowed and is_loopback(address))


def is_ip_literal(host: str) -> bool:
    """Return True if `host` is an IP address in any notation, such as 0x7f000001, and no name."""
    return ":" in host or _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]) is not None


def _parse_address(address: str) -> IPv4Address | IPv6Address | None:
    if "%" in address:
        return None
    try:
        return ip_address(address)
    except ValueError:
        return None


def _is_in_any(address: IPv4Address | IPv6Address, networks: Iterable[_Network]) -> bool:
    return any(address in network for network in networks)
