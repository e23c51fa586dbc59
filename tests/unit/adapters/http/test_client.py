"""The outgoing HTTP client: requests, responses, timeouts, TLS and errors."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.domain.http.exchange import HttpResponse, NoResponseError, NotSentError
from duecourse.domain.http.url import Url, parse_url
from duecourse.domain.origin import Effect

from tests.support.receiver import Receiver

LONG = timedelta(seconds=5)
SHORT = timedelta(seconds=0.2)
BOUND = 2.0  # seconds: far more than SHORT, far less than a receiver that drips goes on
LIMIT = 1_000
SECRET_PATH = "/hook/s3cret?token=t0ken"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def resolve_to_loopback(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - every name resolves to the loopback
    return ["127.0.0.1"]


def raise_unknown_name(host: str, port: int) -> Sequence[str]:  # noqa: ARG001
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


LOCAL_CLIENT = SsrfSafeHttpClient(
    is_loopback_allowed=True, resolve=resolve_to_loopback, body_limit=LIMIT
)


def post(
    url: str,
    body: bytes = b"{}",
    headers: Mapping[str, str] | None = None,
    *,
    http_client: SsrfSafeHttpClient = LOCAL_CLIENT,
    timeout: timedelta = LONG,
) -> HttpResponse:
    return http_client.post(url, body, headers or {}, timeout=timeout)


def post_not_sent(
    url: str, *, http_client: SsrfSafeHttpClient = LOCAL_CLIENT, timeout: timedelta = LONG
) -> NotSentError:
    with pytest.raises(NotSentError) as error:
        post(url, http_client=http_client, timeout=timeout)
    return error.value


def post_without_response(receiver: Receiver, *, timeout: timedelta = LONG) -> NoResponseError:
    with pytest.raises(NoResponseError) as error:
        post(receiver.url(SECRET_PATH, host="hooks.example"), timeout=timeout)
    return error.value


# Requests and responses.


def test_body_and_headers_arrive(receiver: Receiver) -> None:
    post(receiver.url("/hook?a=1#part"), b"\x00\xff", {"X-Colour": "blue"})
    (request,) = receiver.requests
    assert (request.method, request.path, request.body) == ("POST", "/hook?a=1", b"\x00\xff")
    assert request.headers["x-colour"] == "blue"


def test_patch_sends_a_patch_request(receiver: Receiver) -> None:
    LOCAL_CLIENT.patch(receiver.url("/hook"), b"{}", {"X-Colour": "blue"}, timeout=LONG)
    (request,) = receiver.requests
    assert (request.method, request.path, request.body) == ("PATCH", "/hook", b"{}")
    assert request.headers["x-colour"] == "blue"


def test_the_host_header_is_the_host_of_the_url(receiver: Receiver) -> None:
    post(receiver.url(host="Hooks.example."))
    assert receiver.requests[0].headers["host"] == f"hooks.example:{receiver.port}"


def test_response_header_names_are_lower_case(receiver: Receiver) -> None:
    receiver.answer(503, b"busy", headers={"Retry-After": "7"})
    answer = post(receiver.url())
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (503, b"busy", "7")


def test_a_chunked_response_is_assembled(receiver: Receiver) -> None:
    receiver.send_raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    assert post(receiver.url()).body == b"abcde"


def test_a_response_without_a_length_ends_with_the_connection(receiver: Receiver) -> None:
    receiver.send_raw(b"HTTP/1.0 200 OK\r\n\r\nall of it")
    assert post(receiver.url()).body == b"all of it"


def test_informational_responses_are_skipped(receiver: Receiver) -> None:
    receiver.send_raw(
        b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nX-Early: yes\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    )
    answer = post(receiver.url())
    assert (answer.status, answer.body, "x-early" in answer.headers) == (200, b"ok", False)


def test_endless_informational_responses_are_no_response(receiver: Receiver) -> None:
    receiver.send_raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20)
    assert post_without_response(receiver).code == "not_http"


def test_a_redirect_is_returned_and_not_followed(receiver: Receiver) -> None:
    receiver.redirect(receiver.url("/elsewhere"))
    assert post(receiver.url()).status == 302
    assert len(receiver.requests) == 1


def test_proxies_of_the_environment_are_ignored(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url())
        post(receiver.url())
        assert proxy.connections == 0


@pytest.mark.allow_hosts(["127.0.0.1", "127.9.9.9"])
def test_the_first_address_that_accepts_is_used(receiver: Receiver) -> None:
    http_client = SsrfSafeHttpClient(
        is_loopback_allowed=True, resolve=lambda *_: ["127.9.9.9", "127.0.0.1"]
    )
    assert post(receiver.url(host="hooks.example"), http_client=http_client).status == 200
    assert receiver.connections == 1


# URLs that are refused before anything is looked up.


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example",
        "//hooks.example/",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "gopher://hooks.example/",
        "https:hooks.example",
        "https:///hook",
        "https://",
        "https://user@hooks.example/",
        "https://user:s3cret@hooks.example/",
        "https://hooks.example@127.0.0.1/",
        "https://hooks.example\\@127.0.0.1/",
        "https://hooks.example/a b",
        " https://hooks.example/",
        "https://hooks.example/\r\nX-Injected: yes",
        "https://hooks.example/\t",
        "https://hooks.example/\x00",
        "https://hooks.example/\x7f",
        "https://hööks.example/",
        "https://hooks.example/ü",
        "https://127。0。0。1/",
        "https://hooks.example:0/",
        "https://hooks.example:65536/",
        "https://hooks.example:-1/",
        "https://hooks.example:443x/",
        "https://hooks.example:/",
        "https://hooks..example/",
        "https://.hooks.example/",
        "https://-hooks.example/",
        "https://hooks.example../",
        "https://hooks%2eexample/",
        "https://[::1/",
        "https://::1/",
        "https://[::1]hooks.example/",
        "https://[::1%25eth0]/",
        "https://[hooks.example]/",
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 127 + "example/",
        "https://hooks.example/" + "a" * 2_000,
    ],
)
def test_an_ambiguous_url_is_rejected(url: str) -> None:
    http_client = SsrfSafeHttpClient(is_loopback_allowed=True, resolve=raise_unknown_name)
    assert post_not_sent(url, http_client=http_client).code == "bad_url"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://hooks.example", Url("https", "hooks.example", 443, "/")),
        ("HTTPS://Hooks.Example./A?b=C", Url("https", "hooks.example", 443, "/A?b=C")),
        ("http://hooks.example:8080?x", Url("http", "hooks.example", 8080, "/?x")),
        ("https://[2606:4700::1111]:8443/", Url("https", "2606:4700::1111", 8443, "/")),
        ("https://a_b.xn--hks-rla.example/", Url("https", "a_b.xn--hks-rla.example", 443, "/")),
    ],
)
def test_a_url_is_parsed(text: str, url: Url) -> None:
    assert parse_url(text) == url


@pytest.mark.parametrize(
    ("text", "authority"),
    [
        ("https://hooks.example:443/", "hooks.example"),
        ("https://hooks.example:80/", "hooks.example:80"),
        ("https://[2606:4700::1111]/", "[2606:4700::1111]"),
        ("https://[2606:4700::1111]:1/", "[2606:4700::1111]:1"),
    ],
)
def test_the_default_port_is_omitted(text: str, authority: str) -> None:
    assert parse_url(text).authority == authority


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "b\r\nX-Injected: yes"},
        {"X-A": "b\r\n folded"},
        {"X-A": "b\nc"},
        {"X-A": "b\x00"},
        {"X-A": "☃"},
        {"X A": "b"},
        {"X-A:": "b"},
        {"": "b"},
        {"Ü": "b"},
        {"host": "elsewhere.example"},
        {"Content-length": "1"},
        {"Transfer-Encoding": "chunked"},
    ],
)
def test_a_header_that_would_change_the_request_is_rejected(
    receiver: Receiver, headers: Mapping[str, str]
) -> None:
    with pytest.raises(NotSentError) as error:
        post(receiver.url(), headers=headers)
    assert error.value.code == "bad_header"
    assert receiver.connections == 0


# What goes wrong before anything was sent.


def test_an_unknown_host_name_is_reported() -> None:
    error = post_not_sent(
        "https://hooks.example/", http_client=SsrfSafeHttpClient(resolve=raise_unknown_name)
    )
    assert (error.code, error.effect) == ("ENOTFOUND", Effect.NONE)
    assert str(error) == "the host hooks.example was not found"


def test_a_temporary_dns_failure_is_retryable() -> None:
    def busy(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, f"{host}:{port}")

    assert (
        post_not_sent("https://hooks.example/", http_client=SsrfSafeHttpClient(resolve=busy)).code
        == "EAI_AGAIN"
    )


def test_a_host_name_without_an_address_is_reported() -> None:
    http_client = SsrfSafeHttpClient(resolve=lambda *_: [])
    assert post_not_sent("https://hooks.example/", http_client=http_client).code == "ENOTFOUND"


def test_a_closed_port_refuses_the_connection() -> None:
    with Receiver() as receiver:
        url = receiver.url()
    error = post_not_sent(url)
    assert (error.code, str(error)) == ("ECONNREFUSED", "no connection to 127.0.0.1: ECONNREFUSED")


def test_name_resolution_respects_the_timeout() -> None:
    answered = Event()

    def slow(host: str, port: int) -> Sequence[str]:  # noqa: ARG001
        answered.wait(30)
        return ["127.0.0.1"]

    began = time.monotonic()
    error = post_not_sent(
        "https://hooks.example/", http_client=SsrfSafeHttpClient(resolve=slow), timeout=SHORT
    )
    answered.set()
    assert error.code == "ETIMEDOUT"
    assert time.monotonic() - began < BOUND


@pytest.mark.parametrize("timeout", [timedelta(0), timedelta(seconds=-1)])
def test_nothing_is_sent_after_the_timeout(receiver: Receiver, timeout: timedelta) -> None:
    assert post_not_sent(receiver.url(), timeout=timeout).code == "ETIMEDOUT"
    assert receiver.connections == 0


def test_connecting_respects_the_timeout() -> None:
    """No server accepts, and the backlog of one is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(address)
        began = time.monotonic()
        error = post_not_sent(f"http://127.0.0.1:{address[1]}/", timeout=SHORT)
        for caller in waiting:
            caller.close()
    assert error.code == "ETIMEDOUT"
    assert time.monotonic() - began < BOUND


# What goes wrong once something may have been sent.


def test_a_closed_connection_has_an_unknown_effect(receiver: Receiver) -> None:
    receiver.drop_connection()
    error = post_without_response(receiver)
    assert (error.code, error.effect) == ("ECONNRESET", Effect.UNKNOWN)


def test_a_silent_receiver_is_waited_for_until_the_timeout(receiver: Receiver) -> None:
    receiver.never_reply()
    began = time.monotonic()
    assert post_without_response(receiver, timeout=SHORT).code == "ETIMEDOUT"
    assert SHORT.total_seconds() <= time.monotonic() - began < BOUND


@pytest.mark.parametrize("part", ["drip_headers", "drip_body"])
def test_a_slow_response_respects_the_timeout(receiver: Receiver, part: str) -> None:
    getattr(receiver, part)()
    began = time.monotonic()
    assert post_without_response(receiver, timeout=SHORT).code == "ETIMEDOUT"
    assert time.monotonic() - began < BOUND


@pytest.mark.parametrize(
    ("begins", "drop"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nz\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: z\r\n"),
    ],
)
def test_an_endless_response_respects_the_timeout(
    receiver: Receiver, begins: bytes, drop: bytes
) -> None:
    receiver.drip(begins, drop)
    assert post_without_response(receiver, timeout=SHORT).code == "ETIMEDOUT"


def test_a_receiver_that_does_not_read_respects_the_timeout() -> None:
    """The body is larger than the socket buffers."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        began = time.monotonic()
        with pytest.raises(NoResponseError) as error:
            post(url, bytes(16 * 1024 * 1024), timeout=SHORT)
    assert error.value.code == "ETIMEDOUT"
    assert time.monotonic() - began < BOUND


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n",
    ],
)
def test_an_incomplete_response_is_no_response(receiver: Receiver, raw: bytes) -> None:
    receiver.send_raw(raw)
    assert post_without_response(receiver).code == "answer_cut_off"


@pytest.mark.parametrize(
    "raw",
    [
        *(b"SSH-2.0-OpenSSH_9.6\r\n", b"\x15\x03\x01\x00\x02", b"HTTP/1.1 abc\r\n\r\n", b"\r\n"),
        b"HTTP/1.1 999 Whatever\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_response_that_is_not_http_is_reported(receiver: Receiver, raw: bytes) -> None:
    receiver.send_raw(raw)
    assert post_without_response(receiver).code == "not_http"


def test_a_response_of_the_maximum_size_is_accepted(receiver: Receiver) -> None:
    receiver.answer(200, b"z" * LIMIT)
    assert len(post(receiver.url()).body) == LIMIT


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + b"z" * 1_001,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"z" * 1_001,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n"
        + b"z" * 1_001
        + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" + b"z" * 300_000,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"z" * 60_000) for n in range(9)),
    ],
)
def test_a_response_above_the_maximum_size_is_rejected(receiver: Receiver, raw: bytes) -> None:
    receiver.send_raw(raw)
    assert post_without_response(receiver).code == "answer_too_large"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nabcd", 201),
        (b"HTTP/1.1 500 Oh\r\n\r\n" + b"z" * (LIMIT + 1), 500),
        (b"HTTP/1.1 200 OK\r\nContent-Le", None),
        (b"HTTP/1.1 999 Whatever\r\n\r\n", None),
        (b"", None),
    ],
    ids=["cut short", "too large", "cut in its headers", "no status", "nothing"],
)
def test_an_incomplete_response_error_has_the_status(
    receiver: Receiver, raw: bytes, status: int | None
) -> None:
    receiver.send_raw(raw)
    assert post_without_response(receiver).status == status


def test_a_body_timeout_error_has_the_status(receiver: Receiver) -> None:
    receiver.drip_body()
    error = post_without_response(receiver, timeout=SHORT)
    assert (error.code, error.status) == ("ETIMEDOUT", 200)


@pytest.mark.parametrize("behaviour", ["drop_connection", "truncate_body", "drip_body"])
def test_an_error_names_the_host_and_nothing_secret(receiver: Receiver, behaviour: str) -> None:
    getattr(receiver, behaviour)()
    told = str(post_without_response(receiver, timeout=SHORT))
    assert "hooks.example" in told
    assert "s3cret" not in told
    assert "t0ken" not in told


def test_the_error_for_a_rejected_url_does_not_quote_it() -> None:
    assert "s3cret" not in str(post_not_sent("https://user:s3cret@hooks.example/"))


# TLS.


class Authority:
    """A certificate authority that only `trust` makes a client accept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def receiver(self, *names: str) -> Receiver:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certified(*names))
        return Receiver(tls=context)

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._folder / "receiver.pem")

    def _certified(self, *names: str) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
        certificate = (
            x509.CertificateBuilder(subject, subject, key.public_key(), 1)
            .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
            .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
            .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), False)
            .sign(key, hashes.SHA256())
        )
        pem = self._folder / "receiver.pem"
        pem.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return pem


def _general(name: str) -> x509.GeneralName:
    return x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def trusting(authority: Authority) -> SsrfSafeHttpClient:
    return SsrfSafeHttpClient(
        is_loopback_allowed=True, resolve=resolve_to_loopback, ssl_context=authority.trust()
    )


@pytest.mark.parametrize("host", ["hooks.example", "127.0.0.1"])
def test_a_valid_certificate_is_accepted(authority: Authority, host: str) -> None:
    with authority.receiver("hooks.example", "127.0.0.1") as receiver:
        receiver.answer(200, b"z" * 100_000)
        answer = post(receiver.url(host=host), b"z" * 100_000, http_client=trusting(authority))
        assert len(answer.body) == len(receiver.requests[0].body) == 100_000


def test_a_certificate_for_another_name_is_rejected(authority: Authority) -> None:
    with authority.receiver("127.0.0.1", "other.example") as receiver:
        error = post_not_sent(receiver.url(host="hooks.example"), http_client=trusting(authority))
        assert (error.code, error.effect) == ("tls_failed", Effect.NONE)
        assert receiver.requests == []


def test_a_certificate_of_an_unknown_authority_is_rejected(authority: Authority) -> None:
    with authority.receiver("hooks.example") as receiver:
        assert post_not_sent(receiver.url(host="hooks.example")).code == "tls_failed"
        assert receiver.requests == []


def test_nothing_is_sent_to_a_receiver_without_tls(receiver: Receiver) -> None:
    url = receiver.url().replace("http", "https")
    assert post_not_sent(url).code == "tls_failed"
    assert receiver.requests == []


def test_the_tls_handshake_respects_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        error = post_not_sent(f"https://127.0.0.1:{silent.getsockname()[1]}/", timeout=SHORT)
    assert error.code == "ETIMEDOUT"
    assert time.monotonic() - began < BOUND


def test_a_slow_tls_handshake_respects_the_timeout() -> None:
    over = Event()

    def drip(listener: socket.socket) -> None:
        with listener.accept()[0] as caller, suppress(OSError):
            caller.sendall(b"\x16\x03\x03\x40\x00")  # a long record of a handshake begins
            while not over.wait(0.01):
                caller.sendall(b"\x02")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        dripping = Thread(target=drip, args=[listener])
        dripping.start()
        began = time.monotonic()
        error = post_not_sent(f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=SHORT)
        took = time.monotonic() - began
        over.set()
        dripping.join()
    assert error.code in ("ETIMEDOUT", "tls_failed")
    assert took < BOUND


@pytest.mark.parametrize("part", ["drip_headers", "drip_body", "never_reply"])
def test_a_slow_encrypted_response_respects_the_timeout(authority: Authority, part: str) -> None:
    with authority.receiver("hooks.example") as receiver:
        getattr(receiver, part)()
        began = time.monotonic()
        with pytest.raises(NoResponseError) as error:
            post(receiver.url(host="hooks.example"), http_client=trusting(authority), timeout=SHORT)
        assert error.value.code == "ETIMEDOUT"
        assert time.monotonic() - began < BOUND
