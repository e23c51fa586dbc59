"""The team of a sender: Slack's user ids are unique only in a team."""

from __future__ import annotations

from duecourse.adapters.http.json_reader import JsonReader


def first_team(*places: tuple[JsonReader, str]) -> str:
    """Return the first id that is set in these fields. Raises InvalidFieldsError without one."""
    for part, name in places:
        if found := part.optional_id(name):
            return found
    part, name = places[0]
    raise part.error_for(name, "must be the id of the sender's team")
