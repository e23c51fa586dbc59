"""A random secret in any known shape does not survive, whatever text is around it."""

from __future__ import annotations

import string

from duecourse.domain.text.redaction import redact
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.support.secret_file_shapes import FILES
from tests.support.secret_shapes import COMMANDS, HEADERS_AND_URLS
from tests.support.token_shapes import TOKENS, WORD

LIMIT = 16_000
READABLE = 5  # of so many characters in a row one could tell the secret
# A digit first: no word of a sentence, which would not be taken for a secret, begins with one.
PASSWORDS = st.tuples(
    st.sampled_from(string.digits), st.text(WORD + "_!#+*~$", min_size=7, max_size=60)
).map("".join)


@st.composite
def shaped_secrets(draw: st.DrawFn) -> tuple[str, str]:
    """Return a secret, and a text that contains it."""
    if draw(st.booleans()):
        shape, secret = (
            draw(st.sampled_from((*COMMANDS, *FILES, *HEADERS_AND_URLS))),
            draw(PASSWORDS),
        )
    else:
        shape, characters, length = draw(st.sampled_from(TOKENS))
        secret = draw(st.text(characters, min_size=length, max_size=length))
    return secret, shape.replace("{}", secret)


def is_readable(secret: str, text: str) -> bool:
    return any(secret[at : at + READABLE] in text for at in range(len(secret) - READABLE + 1))


surroundings = st.text(max_size=60) | st.sampled_from(
    ["Error: it's", 'say "', "a\\", "--token", "$ "]
)


@given(secret=shaped_secrets(), before=surroundings, after=surroundings)
@example(secret=("00000+00", "cargo login 012345678900000+00"), before="", after="")
@example(secret=("000+0000", "https://x.test/with/key/000+0000"), before="", after="")
@example(secret=("000ERROR", "tool --password 000ERROR"), before="", after="")
def test_no_shape_lets_a_secret_survive(secret: tuple[str, str], before: str, after: str) -> None:
    random, text = secret
    shape = text.replace(random, "")
    assume(not is_readable(random, f"{before}\n{shape}\n{after}"))
    redacted = redact(f"{before}\n{text}\n{after}", LIMIT)
    assert not is_readable(random, redacted)
    assert redact(redacted, LIMIT) == redacted
