"""Refuse a time zone after a time: times are read in the zone of the sender."""

from __future__ import annotations

from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

_ABBREVIATION_NAMES = (
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
_ABBREVIATIONS = frozenset(_ABBREVIATION_NAMES.split())
_REGIONS = ("eastern", "pacific", "central", "mountain")
_AREAS = frozenset(_AREA_NAMES.split())
_PLACES = frozenset(_PLACE_NAMES.split())
_MAX_OFFSET_HOURS = 14  # the largest offset of a zone
_OPENING_SIGNS = ("(", "[", ",", "<")


def refuse_timezone(tokens: TokenStream) -> None:
    """Refuse `UTC`, `(CET)`, `+0100`, `Europe/London`, `Pacific`, `London time`."""
    ahead = 1 if tokens.peek().text in _OPENING_SIGNS else 0
    if any(
        tokens.can_take(ahead, read)
        for read in (_take_zone_name, _take_zone_place, _take_zone_offset)
    ):
        raise ClarificationNeededError(
            "Times are in your own time zone. Write the time there, without a zone. "
            "Change your zone: /timezone <place>"
        )


def _take_zone_name(tokens: TokenStream) -> bool | None:
    word, sign = tokens.peek(), tokens.peek(1)
    if word.text in _AREAS and sign.is_adjacent and sign.text == "/" and tokens.peek(2).is_adjacent:
        return True
    is_z = word.text == "z" and (word.is_adjacent or not sign.is_adjacent)
    return is_z or word.text in _ABBREVIATIONS or word.text in _REGIONS or None


def _take_zone_place(tokens: TokenStream) -> bool | None:
    """Match `London time`, `New York time`."""
    is_place = any(tokens.peek(ahead).text in _PLACES for ahead in (0, 1))
    return (is_place and "time" in (tokens.peek(1).text, tokens.peek(2).text)) or None


def _take_zone_offset(tokens: TokenStream) -> bool | None:
    """Match `+0100`, `+02:00`, `+1` and `-0500`, but not `-5 degrees`, which is content."""
    sign, hours = tokens.peek(), tokens.peek(1)
    if sign.text == "+" and sign.is_adjacent:
        return True
    if sign.text not in ("+", "-") or not hours.is_adjacent or not hours.is_number:
        return None
    is_padded = len(hours.text) == 2 and (hours.text[0] == "0" or tokens.peek(2).text == ":")
    is_ahead = sign.text == "+" and len(hours.text) <= 2 and int(hours.text) <= _MAX_OFFSET_HOURS
    return len(hours.text) == 4 or is_padded or is_ahead or None
