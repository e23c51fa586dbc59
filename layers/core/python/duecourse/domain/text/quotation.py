"""Quote untrusted text in a prompt, so that no line of it can pass for one of ours."""

from __future__ import annotations

from duecourse.domain.text.formatting import remove_controls

MARK = "> "
_LINE_BREAK = "\n"


def quote(label: str, text: str) -> str:
    """Return `label`, which is ours, and below it `text` with a mark before each of its lines."""
    # `splitlines` knows every character that ends a line, also those that few programs show as one.
    lines = [f"{MARK}{remove_controls(line)}" for line in text.splitlines() or [""]]
    return _LINE_BREAK.join([label, *lines])


def unquote(text: str) -> str:
    """Return what `quote` returned as people read it: the label, and after it the text."""
    label, mark, quoted = text.partition(f"{_LINE_BREAK}{MARK}")
    return f"{label} {quoted.replace(f'{_LINE_BREAK}{MARK}', _LINE_BREAK)}" if mark else text
