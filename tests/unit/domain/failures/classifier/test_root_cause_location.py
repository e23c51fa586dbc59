"""Finding the source location in a chain of exceptions."""

from __future__ import annotations

import pytest
from duecourse.domain.failures.classifier.log_lines import parse_lines
from duecourse.domain.failures.classifier.source_location import (
    choose_location,
    find_source_matches,
)

JAVA_CHAIN = """java.lang.RuntimeException: java.sql.SQLException: no driver
\tat com.quay.App.main(App.java:9)
Caused by: java.sql.SQLException: no driver
\tat java.sql/java.sql.DriverManager.getConnection(DriverManager.java:708)
\tat com.quay.Buoy.open(Buoy.java:15)
\t... 1 more
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JAVA_CHAIN, "Buoy.java:15"),
        (JAVA_CHAIN.replace("com.quay.Buoy", "org.postgresql.Driver"), "App.java:9"),
        (JAVA_CHAIN + "java.lang.Error: x\n\tat com.quay.Next.run(Next.java:3)", "Buoy.java:15"),
        ("Error: a\n    at f (a.js:1:1)\n  [cause]: Error: b\n    at g (b.js:2:2)", "b.js:2"),
    ],
)
def test_the_own_code_nearest_to_the_root_cause_wins(text: str, expected: str) -> None:
    location = choose_location(find_source_matches(parse_lines(text)))
    assert location is not None
    assert f"{location.file}:{location.line}" == expected
