"""The product's HTTP client and the receiver of the simulated world, with one fault at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.http.exchange import NoResponseError, NotSentError

from local.runtime.clock import LocalClock
from local.simulate.receiver import PUBLIC_ADDRESS, ReceivedRequest, Receiver
from local.simulate.receiver_connection import ReceiverSocket, parse_request

TIMEOUT = timedelta(seconds=10)


class World:
    """`fault`: the only one that strikes, with its extent. `slept`: how long the sender waited."""

    def __init__(self, fault: str = "", extent: float = 0.0) -> None:
        self.slept = 0.0
        self.receiver = Receiver(
            LocalClock(is_manual=True),
            lambda name, _point: extent if name == fault else None,
            self._sleep,
        )

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds

    def post(self, path: str = "1/200") -> int:
        from duecourse.adapters.http.client import SsrfSafeHttpClient

        client: Any = SsrfSafeHttpClient(resolve=self.receiver.resolve)
        client._connect = lambda url, addresses, _deadline: ReceiverSocket(
            self.receiver, url.host, addresses
        )
        headers = {"idempotency-key": "k"}
        url = f"https://receiver.example/{path}"
        status: int = client.post(url, b"{}", headers, timeout=TIMEOUT).status
        return status

    @property
    def arrived(self) -> list[tuple[str, bool, bool]]:
        return [(one.key, one.is_accepted, one.is_repeat) for one in self.receiver.received]


def test_the_path_tells_the_statuses() -> None:
    world = World()
    assert [world.post("1/500-200") for _ in range(3)] == [500, 200, 200]
    assert [one.is_accepted for one in world.receiver.received] == [False, True, True]
    assert {one.address for one in world.receiver.received} == {PUBLIC_ADDRESS}


@pytest.mark.parametrize(
    ("extent", "code"),
    [(0.1, "ENOTFOUND"), (0.3, "EAI_AGAIN"), (0.5, "address_refused"), (0.9, "address_refused")],
)
def test_nothing_is_sent_after_a_change_of_the_name(extent: float, code: str) -> None:
    world = World("dns-change", extent)
    with pytest.raises(NotSentError) as error_info:
        world.post()
    assert (error_info.value.code, world.arrived) == (code, [])


def test_a_receiver_that_hangs_is_given_up_after_the_timeout() -> None:
    world = World("hangs", 0.1)
    with pytest.raises(NoResponseError) as error_info:
        world.post()
    assert error_info.value.code == "ETIMEDOUT"
    assert world.slept == pytest.approx(TIMEOUT.total_seconds(), abs=1)
    assert world.arrived == [("k", True, False)]


def test_a_late_answer_is_waited_for() -> None:
    world = World("answers-late", 0.1)
    assert world.post() == 200
    assert world.slept == pytest.approx(3)


def test_an_answer_after_the_timeout_is_lost() -> None:
    world = World("answers-late", 0.9)
    with pytest.raises(NoResponseError):
        world.post()
    assert world.arrived == [("k", True, False)]


def test_a_request_that_arrives_twice_has_one_effect_and_one_answer() -> None:
    world = World("answers-twice")
    assert world.post("1/500-200") == 500
    assert world.arrived == [("k", False, False), ("k", False, True)]


@pytest.mark.parametrize(("extent", "effects"), [(0.5, []), (0.9, [("k", True, False)])])
def test_a_connection_may_break_before_or_after_the_effect(
    extent: float, effects: list[Any]
) -> None:
    world = World("errs", extent)
    with pytest.raises(NoResponseError) as error_info:
        world.post()
    assert (error_info.value.code, world.arrived) == ("ECONNRESET", effects)


def test_an_error_before_the_effect_is_answered() -> None:
    world = World("errs", 0.1)
    assert (world.post(), world.arrived) == (500, [])


def test_a_request_is_parsed() -> None:
    data = b"POST /1/200?a=b HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k: 1\r\n\r\n{}"
    expected = ReceivedRequest(
        "https://h/1/200?a=b", {"host": "h", "idempotency-key": "k: 1"}, b"{}"
    )
    assert parse_request(data, "h") == expected
