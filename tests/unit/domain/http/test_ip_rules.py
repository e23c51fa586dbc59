"""Workers reach no internal address, however it is written, resolved or redirected to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from duecourse.adapters.http.client import Resolve, SsrfSafeHttpClient
from duecourse.domain.http.exchange import NotSentError
from duecourse.domain.http.ip_rules import is_allowed, is_ip_literal, is_public

from tests.support.receiver import Receiver

SECOND = timedelta(seconds=1)
LOOPBACK_V4 = ["127.0.0.1", "127.255.255.255"]
INTERNAL = [
    "0.0.0.0",  # noqa: S104 - refused, not bound
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::2",
    "::8.8.8.8",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:a9fe:a9fe",
    "::ffff:0:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450::1",
]
NOT_ADDRESSES = [
    "",
    "localhost",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.1",
    "[::1]",
    "8.8.8.8 ",
]


@pytest.mark.parametrize("address", [*LOOPBACK_V4, "::1", *INTERNAL, *NOT_ADDRESSES])
def test_internal_and_invalid_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_public(address)
    assert is_allowed(address, is_loopback_allowed=False)


@pytest.mark.parametrize("address", [*LOOPBACK_V4, "::1"])
def test_loopback_is_reached_only_if_allowed(address: str) -> None:
    assert is_allowed(address, is_loopback_allowed=True)
    assert not is_allowed(address, is_loopback_allowed=False)


@pytest.mark.parametrize("address", [*INTERNAL, *NOT_ADDRESSES])
def test_allowing_loopback_allows_no_other_internal_address(address: str) -> None:
    assert not is_allowed(address, is_loopback_allowed=True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "8.8.8.8", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "::1", "0x"]
)
def test_every_form_of_an_ip_literal_is_recognised(host: str) -> None:
    assert is_ip_literal(host)


@pytest.mark.parametrize("host", ["localhost", "hooks.example", "1.example", "0x7f.example", "a1"])
def test_a_host_name_is_not_an_ip_literal(host: str) -> None:
    assert not is_ip_literal(host)


# The tests below post to a receiver that counts its connections.


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def resolve_to(*addresses: str) -> Resolve:
    def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - the same for every host
        return addresses

    return resolve


def rejection_code(client: SsrfSafeHttpClient, url: str) -> str:
    with pytest.raises(NotSentError) as error:
        client.post(url, b"{}", {}, timeout=SECOND)
    return error.value.code


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "0",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "100.64.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
    ],
)
def test_no_form_of_the_loopback_address_is_reached(
    receiver: Receiver, scheme: str, host: str
) -> None:
    url = receiver.url("/hook", host=host).replace("http", scheme)
    assert rejection_code(SsrfSafeHttpClient(), url) == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", *INTERNAL])
def test_a_name_that_resolves_to_an_internal_address_is_rejected(
    receiver: Receiver, address: str
) -> None:
    url = f"https://hooks.example:{receiver.port}/"
    assert rejection_code(SsrfSafeHttpClient(resolve=resolve_to(address)), url) == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize("addresses", [("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "8.8.8.8")])
def test_one_internal_address_among_public_ones_is_rejected(
    receiver: Receiver, addresses: Sequence[str]
) -> None:
    url = f"https://hooks.example:{receiver.port}/"
    assert (
        rejection_code(SsrfSafeHttpClient(resolve=resolve_to(*addresses)), url) == "address_refused"
    )
    assert receiver.connections == 0


@pytest.mark.parametrize("address", INTERNAL)
def test_allowing_loopback_reaches_no_other_internal_address(address: str) -> None:
    client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve_to(address))
    assert rejection_code(client, "https://hooks.example/") == "address_refused"


@pytest.mark.parametrize("addresses", [("8.8.8.8",), ("127.0.0.1", "8.8.8.8")])
def test_plain_http_is_allowed_only_to_loopback(addresses: Sequence[str]) -> None:
    client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve_to(*addresses))
    assert rejection_code(client, "http://hooks.example/") == "address_refused"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_an_internal_address_is_not_followed(receiver: Receiver, status: int) -> None:
    with Receiver() as internal:
        receiver.redirect(internal.url("/latest/meta-data"), status)
        client = SsrfSafeHttpClient(is_loopback_allowed=True)
        response = client.post(receiver.url(), b"{}", {}, timeout=5 * SECOND)
        assert response.status == status
        assert internal.connections == 0


class RebindingResolver:
    """A resolver whose first answer differs from its later ones."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.lookups = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002 - the same for every host
        self.lookups += 1
        return [self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]]


@pytest.mark.allow_hosts(["127.0.0.1", "127.9.9.9"])
def test_a_name_rebound_to_loopback_after_the_check_is_not_followed(receiver: Receiver) -> None:
    """The client connects only to the address that it checked, where nothing listens."""
    resolve = RebindingResolver("127.9.9.9", "127.0.0.1")
    client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve)
    assert rejection_code(client, receiver.url(host="hooks.example")).startswith("E")
    assert resolve.lookups == 1
    assert receiver.connections == 0


def test_a_name_rebound_to_an_internal_address_after_the_check_is_not_followed(
    receiver: Receiver,
) -> None:
    resolve = RebindingResolver("127.0.0.1", "169.254.169.254")
    client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve)
    client.post(receiver.url(host="hooks.example"), b"{}", {}, timeout=5 * SECOND)
    assert resolve.lookups == 1
    assert receiver.connections == 1


def test_a_name_is_resolved_for_every_request(receiver: Receiver) -> None:
    client = SsrfSafeHttpClient(
        is_loopback_allowed=True, resolve=RebindingResolver("127.0.0.1", "169.254.169.254")
    )
    url = receiver.url(host="hooks.example")
    assert client.post(url, b"{}", {}, timeout=5 * SECOND).status == 200
    assert rejection_code(client, url) == "address_refused"
    assert receiver.connections == 1


def test_the_receiver_counts_connections(receiver: Receiver) -> None:
    """Without this, the tests above would pass with a receiver that counts nothing."""
    client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve_to("127.0.0.1"))
    client.post(receiver.url(host="hooks.example"), b"{}", {}, timeout=5 * SECOND)
    assert receiver.connections == 1
