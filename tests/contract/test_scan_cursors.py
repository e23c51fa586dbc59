"""The scan cursors: up to which due time the scanner has scanned."""

from __future__ import annotations

from duecourse.adapters.aws.dynamodb.scan_cursors import DynamoScanCursors

from tests.support.builders.moments import HOUR, MILLISECOND, NOW


def test_there_are_no_cursors_before_the_first_scan(cursors: DynamoScanCursors) -> None:
    assert cursors.load() == {}


def test_cursors_are_loaded_as_they_were_saved(cursors: DynamoScanCursors) -> None:
    saved = {0: NOW, 1: NOW + MILLISECOND, 63: NOW + HOUR}
    cursors.save(saved)
    assert cursors.load() == saved


def test_saved_cursors_replace_all_earlier_ones(cursors: DynamoScanCursors) -> None:
    cursors.save({0: NOW, 1: NOW})
    cursors.save({0: NOW + HOUR})
    assert cursors.load() == {0: NOW + HOUR}
