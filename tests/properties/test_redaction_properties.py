"""No part of a secret is stored, wherever it stands in a text."""

from __future__ import annotations

import json
import string

from duecourse.domain.failures.failure import MESSAGE_LIMIT, SUMMARY_LIMIT, TRACEBACK_LIMIT, Failure
from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, SEAM_MARGIN, redact
from hypothesis import assume, example, given
from hypothesis import strategies as st

READABLE = 6  # of so many characters in a row one could tell the secret
LETTERS = string.ascii_letters + string.digits
# Nowhere else in a text is there a character of the random part.
RANDOM = st.text("QXZJqxzj79", min_size=32, max_size=90)
LONG_RANDOM = st.text("QXZJqxzj79", min_size=400, max_size=900)
SHAPES = (
    *(
        "sk-{}",
        "AKIA{}",
        "sk-proj-{}",
        "sk-ant-api03-{}",
        "sk_live_{}",
        "rk_live_{}",
        "ghp_{}",
        "gho_{}",
    ),
    *(
        "ghs_{}",
        "github_pat_{}",
        "glpat-{}",
        "AIza{}",
        "ya29.{}",
        "xoxb-1-{}",
        "xoxp-{}",
        "xapp-{}",
    ),
    *("hf_{}", "npm_{}", "123456:AA{}", "/bot123456:{}/", "eyJ{}.{}.{}", "://{}@host/"),
    *("://user:{}@host", "://u:a/{}@host", "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.{}"),
)
NAMED = (
    *("password={}", "password = {}", "PASSWORD: {}", "passwd={}", "pwd={};", "passphrase: {}"),
    *('"password": "{}"', '"password": "a {} b {}"', "'api_key': '{}'", r"\"api_key\": \"{}\""),
    *(r"\"secret\": \"a {}\"", r"\\\"token\\\": \\\"a {}\\\"", "api_key={}", "x-api-key: {}"),
    *("API key provided: {}", "client_secret={}", "refresh_token={}", "access_key={}"),
    *(
        "private_key: {}",
        "AccountKey={}==",
        "SharedAccessKey={}=",
        "?sig={}&",
        "X-Amz-Signature={}",
    ),
    *("aws_secret_access_key = {}", "SecretAccessKey: {}", "aws_session_token={}"),
    *("<SessionToken>{}</SessionToken>", "Bearer {}", "Authorization: Basic {}"),
    *("Authorization: Bearer {}", "Authorization: Custom {}", '"Authorization": "Bearer {}"'),
    *("Cookie: a={}; b={}\n", "Set-Cookie: a={}; Path=/; b={}\n", r"\"Cookie\": \"a={}; b={}\""),
    *("Authorization: AWS4-HMAC-SHA256 Credential={}, Signature={}\n",),
)
LINES = "\n".join(["{}"] * 12)
KEYS = (
    f"-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{LINES}\n-----END PRIVATE KEY-----\n",
    f"-----BEGIN PRIVATE KEY-----\n{LINES}\n".replace("\n", "\\n"),
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{LINES}\n",
    f"\n{LINES}\n-----END PRIVATE KEY-----",
)
ALL_FORMS = (*SHAPES, *NAMED, *KEYS)
FILLERS = ["-", "- ", "word ", 'ok, "a": 1;', "line\n", "\\", "\\n", "é ", "/", "w"]


@st.composite
def secrets(draw: st.DrawFn, forms: tuple[str, ...] = ALL_FORMS) -> tuple[str, str]:
    """Return the random part of a secret, and a text that contains it."""
    form, random = draw(st.sampled_from(forms)), draw(RANDOM | LONG_RANDOM)
    gap = "" if form in SHAPES else draw(st.sampled_from([" ", "\n", ", ", "{", "("]))
    end = draw(st.sampled_from(["", " ", "\n", '"', "'", ", ", ".", ")"]))
    if form == "AKIA{}":
        random = random.upper()
    if form in KEYS:
        random = random[:64]
        end = draw(st.sampled_from(["", "\n", '"', "'"]))
    return random, gap + form.replace("{}", random) + end


def is_readable(random: str, text: str | None) -> bool:
    parts = {random[at : at + READABLE] for at in range(len(random) - READABLE + 1)}
    return any(part in (text or "") for part in parts)


def leaks(random: str, failure: Failure) -> list[str]:
    stored_values = {**failure.to_json(), "summary": failure.summary}
    reloaded = Failure.from_json(json.loads(json.dumps(failure.to_json())))
    stored_values |= {f"{name} again": value for name, value in reloaded.to_json().items()}
    return [name for name, value in stored_values.items() if is_readable(random, str(value))]


def failure_with_text(text: str) -> Failure:
    return Failure.create(text, type=text, code=text, phase=text, traceback=text)


@given(secret=secrets(), before=st.text(max_size=60), after=st.text(max_size=60))
def test_no_part_of_a_secret_is_stored(secret: tuple[str, str], before: str, after: str) -> None:
    random, text_with_secret = secret
    assume(not is_readable(random, f"{before}\n{after}"))
    # Text right after the secret, in its line, may count as part of the secret.
    assert leaks(random, failure_with_text(f"{before}\n{text_with_secret}{after}")) == []


@given(secret=secrets(SHAPES), before=st.text(LETTERS + "_-.:/ ", max_size=60))
def test_a_token_shape_is_redacted_inside_a_word(secret: tuple[str, str], before: str) -> None:
    random, text_with_secret = secret
    assume(not is_readable(random, before))
    assert leaks(random, failure_with_text(before + text_with_secret)) == []


@given(random=RANDOM, length=st.integers(35), end=st.sampled_from(["", "\n", '"', "...", " [cut]"]))
def test_a_truncated_private_key_is_redacted(random: str, length: int, end: str) -> None:
    key = KEYS[1].replace("{}", random[:64])[:length]
    assert leaks(random, failure_with_text(f"Error: {key}{end}")) == []


seams = st.sampled_from(
    [
        *(
            MAX_REDACTED_LENGTH // 2,
            MAX_REDACTED_LENGTH // 2 - SEAM_MARGIN,
            MAX_REDACTED_LENGTH // 2 + SEAM_MARGIN,
        ),
        *(
            MAX_REDACTED_LENGTH,
            MESSAGE_LIMIT // 2,
            TRACEBACK_LIMIT // 2,
            SUMMARY_LIMIT // 2,
            250,
            100,
        ),
    ]
)


@given(
    secret=secrets(),
    filler=st.sampled_from(FILLERS),
    seam=seams,
    shift=st.integers(-1_000, 100),
    length=st.sampled_from(
        [MAX_REDACTED_LENGTH - 900, MAX_REDACTED_LENGTH + 1, 3 * MAX_REDACTED_LENGTH]
    ),
)
@example(
    ("QXZJ" * 8, " password=" + "QXZJ" * 8),
    "- ",
    MAX_REDACTED_LENGTH // 2,
    -20,
    3 * MAX_REDACTED_LENGTH,
)
def test_no_truncation_reveals_part_of_a_secret(
    secret: tuple[str, str], filler: str, seam: int, shift: int, length: int
) -> None:
    random, text_with_secret = secret
    many = filler * (length // len(filler))
    at = max(0, seam + shift)
    for text in (many[:at] + text_with_secret + many[at:], many + text_with_secret + many[:at]):
        assert leaks(random, failure_with_text(text)) == []


@given(secret=secrets(), before=st.text(max_size=300), after=st.text(max_size=300))
def test_redaction_is_idempotent(secret: tuple[str, str], before: str, after: str) -> None:
    for text in (before, f"{before}\n{secret[1]}{after}"):
        redacted = redact(text, MESSAGE_LIMIT)
        assert redact(redacted, MESSAGE_LIMIT) == redacted
