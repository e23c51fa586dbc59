"""A zone named after a time: asked back, since times are read in the person's own."""

from __future__ import annotations

from duecourse.domain.when.words import AskBackError, Words

_SHORT_NAMES = (
    "utc gmt cet cest eet eest bst ist msk est edt cst cdt mst mdt pst pdt et pt jst aest aedt sgt"
    " hst akst akdt ast adt nst ndt nzst nzdt acst acdt awst kst hkt pht wib sast brt pkt trt gst"
    " npt zulu"
)
_AREA_NAMES = (
    "africa america antarctica arctic asia atlantic australia europe indian pacific etc us canada"
    " brazil chile mexico"
)
_PLACE_NAMES = (
    "london berlin york india tokyo paris madrid rome moscow dubai sydney singapore delhi mumbai"
    " beijing shanghai kong chicago denver angeles francisco seattle boston toronto lisbon dublin"
    " vienna zurich amsterdam istanbul kyiv warsaw uk us european german germany french france"
    " british english indian japan japanese china chinese russian spanish italian polish turkish"
    " israel brazil mexico canada their his her server standard daylight summer winter"
)
_ABBREVIATIONS = frozenset(_SHORT_NAMES.split())
_REGIONS = ("eastern", "pacific", "central", "mountain")
_AREAS = frozenset(_AREA_NAMES.split())
_PLACES = frozenset(_PLACE_NAMES.split())
_MOST_AHEAD = 14  # hours that a zone may be ahead of UTC
_BEFORE = ("(", "[", ",", "<")


def refuse_zone(words: Words) -> None:
    """`UTC`, `(CET)`, `+0100`, `Europe/London`, `Pacific`, `London time`"""
    ahead = 1 if words.peek().text in _BEFORE else 0
    if any(words.comes(ahead, read) for read in (_name, _place, _offset)):
        raise AskBackError(
            "I read times in your own zone, which /timezone sets. What time is it there?"
        )


def _name(words: Words) -> bool | None:
    word, sign = words.peek(), words.peek(1)
    if word.text in _AREAS and sign.is_glued and sign.text == "/" and words.peek(2).is_glued:
        return True
    is_z = word.text == "z" and (word.is_glued or not sign.is_glued)
    return is_z or word.text in _ABBREVIATIONS or word.text in _REGIONS or None


def _place(words: Words) -> bool | None:
    """`London time`, `New York time`"""
    is_place = any(words.peek(ahead).text in _PLACES for ahead in (0, 1))
    return (is_place and "time" in (words.peek(1).text, words.peek(2).text)) or None


def _offset(words: Words) -> bool | None:
    """`+0100`, `+02:00`, `+1`, `-0500`; but `-5 degrees` are the person's own words."""
    sign, hours = words.peek(), words.peek(1)
    if sign.text == "+" and sign.is_glued:
        return True
    if sign.text not in ("+", "-") or not hours.is_glued or not hours.is_number:
        return None
    is_padded = len(hours.text) == 2 and (hours.text[0] == "0" or words.peek(2).text == ":")
    is_ahead = sign.text == "+" and len(hours.text) <= 2 and int(hours.text) <= _MOST_AHEAD
    return len(hours.text) == 4 or is_padded or is_ahead or None
