"""No address of our own is reached from a worker, in whatever way it is written or arrived at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from duecourse.adapters.http.client import Resolve, SsrfSafeHttpClient
from duecourse.domain.http.exchange import NotSentError
from duecourse.domain.http.ip_rules import is_allowed, is_ip_literal, is_public

from tests.support.receiver import Receiver

SECOND = timedelta(seconds=1)
LOCAL_V4 = ["127.0.0.1", "127.255.255.255"]
INNER = [
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
OUTER = [
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
NO_ADDRESS = [
    "",
    "localhost",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.1",
    "[::1]",
    "8.8.8.8 ",
]


@pytest.mark.parametrize("address", [*LOCAL_V4, "::1", *INNER, *NO_ADDRESS])
def test_what_is_not_of_the_public_internet_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTER)
def test_the_public_internet_may_be_reached(address: str) -> None:
    assert is_public(address)
    assert is_allowed(address, is_loopback_allowed=False)


@pytest.mark.parametrize("address", [*LOCAL_V4, "::1"])
def test_this_machine_is_reached_only_where_that_is_allowed(address: str) -> None:
    assert is_allowed(address, is_loopback_allowed=True)
    assert not is_allowed(address, is_loopback_allowed=False)


@pytest.mark.parametrize("address", [*INNER, *NO_ADDRESS])
def test_where_this_machine_may_be_reached_nothing_else_may(address: str) -> None:
    assert not is_allowed(address, is_loopback_allowed=True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "8.8.8.8", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "::1", "0x"]
)
def test_an_address_is_known_as_one_however_it_is_written(host: str) -> None:
    assert is_ip_literal(host)


@pytest.mark.parametrize("host", ["localhost", "hooks.example", "1.example", "0x7f.example", "a1"])
def test_a_name_is_not_taken_for_an_address(host: str) -> None:
    assert not is_ip_literal(host)


# From here on, a poster tries to get there, and the receiver counts who arrives.


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def leads_to(*addresses: str) -> Resolve:
    def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - whatever is asked
        return addresses

    return resolve


def refused(poster: SsrfSafeHttpClient, url: str) -> str:
    with pytest.raises(NotSentError) as error:
        poster.post(url, b"{}", {}, timeout=SECOND)
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
def test_no_way_of_writing_it_leads_to_this_machine(
    receiver: Receiver, scheme: str, host: str
) -> None:
    url = receiver.url("/hook", host=host).replace("http", scheme)
    assert refused(SsrfSafeHttpClient(), url) == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", *INNER])
def test_a_name_that_leads_to_an_inner_address_is_refused(receiver: Receiver, address: str) -> None:
    url = f"https://hooks.example:{receiver.port}/"
    assert refused(SsrfSafeHttpClient(resolve=leads_to(address)), url) == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize("addresses", [("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "8.8.8.8")])
def test_one_bad_address_among_good_ones_is_one_too_many(
    receiver: Receiver, addresses: Sequence[str]
) -> None:
    url = f"https://hooks.example:{receiver.port}/"
    assert refused(SsrfSafeHttpClient(resolve=leads_to(*addresses)), url) == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize("address", INNER)
def test_a_stack_that_may_reach_itself_reaches_nothing_else(address: str) -> None:
    poster = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=leads_to(address))
    assert refused(poster, "https://hooks.example/") == "address_refused"


@pytest.mark.parametrize("addresses", [("8.8.8.8",), ("127.0.0.1", "8.8.8.8")])
def test_what_is_not_encrypted_goes_no_further_than_this_machine(addresses: Sequence[str]) -> None:
    poster = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=leads_to(*addresses))
    assert refused(poster, "http://hooks.example/") == "address_refused"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_an_inner_address_is_not_followed(receiver: Receiver, status: int) -> None:
    with Receiver() as inner:
        receiver.redirect(inner.url("/latest/meta-data"), status)
        poster = SsrfSafeHttpClient(is_loopback_allowed=True)
        answer = poster.post(receiver.url(), b"{}", {}, timeout=5 * SECOND)
        assert answer.status == status
        assert inner.connections == 0


class Rebinding:
    """A name that leads somewhere harmless when it is checked, and elsewhere ever after."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002 - whatever is asked
        self.asked += 1
        return [self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]]


@pytest.mark.allow_hosts(["127.0.0.1", "127.9.9.9"])
def test_a_name_that_changes_after_the_check_changes_nothing(receiver: Receiver) -> None:
    """Only the address that was checked is connected to. Nobody listens there."""
    resolve = Rebinding("127.9.9.9", "127.0.0.1")
    poster = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve)
    assert refused(poster, receiver.url(host="hooks.example")).startswith("E")
    assert resolve.asked == 1
    assert receiver.connections == 0


def test_a_name_that_turns_inward_after_the_check_is_not_followed(receiver: Receiver) -> None:
    resolve = Rebinding("127.0.0.1", "169.254.169.254")
    poster = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=resolve)
    poster.post(receiver.url(host="hooks.example"), b"{}", {}, timeout=5 * SECOND)
    assert resolve.asked == 1
    assert receiver.connections == 1


def test_a_name_is_looked_up_anew_for_every_request(receiver: Receiver) -> None:
    poster = SsrfSafeHttpClient(
        is_loopback_allowed=True, resolve=Rebinding("127.0.0.1", "169.254.169.254")
    )
    url = receiver.url(host="hooks.example")
    assert poster.post(url, b"{}", {}, timeout=5 * SECOND).status == 200
    assert refused(poster, url) == "address_refused"
    assert receiver.connections == 1


def test_a_connection_that_is_made_is_counted(receiver: Receiver) -> None:
    """Else the tests above would hold for a receiver that hears nothing."""
    poster = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=leads_to("127.0.0.1"))
    poster.post(receiver.url(host="hooks.example"), b"{}", {}, timeout=5 * SECOND)
    assert receiver.connections == 1
