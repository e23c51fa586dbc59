"""Finding the source location in compiler output and stack traces."""

from __future__ import annotations

import pytest
from duecourse.domain.failures.classifier.log_lines import parse_lines
from duecourse.domain.failures.classifier.source_location import (
    choose_location,
    find_source_matches,
)


def locate(text: str) -> str | None:
    location = choose_location(find_source_matches(parse_lines(text)))
    return f"{location.file}:{location.line}" if location else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('file.ts(45,12): error TS2304: Cannot find name "foo"', "file.ts:45"),
        ("src/a.ts:2:17 - error TS2304: x", "src/a.ts:2"),
        ("[tsl] ERROR in E:\\web\\App.tsx(47,19)", "E:\\web\\App.tsx:47"),
        ("a.c:2:10: fatal error: x.h: No such file or directory", "a.c:2"),
        ("a.c:2:10: schwerer Fehler: x.h: fehlt", "a.c:2"),
        ("Main.java:3: エラー: シンボルを見つけられません", "Main.java:3"),
        ("[ERROR] /srv/a/Quay.java:[50,18] error: cannot find symbol", "/srv/a/Quay.java:50"),
        ("e: C:\\my apps\\Main.kt: (8, 9): x", "C:\\my apps\\Main.kt:8"),
        ("e: file:///srv/Main.kt:8:9 Unresolved reference", "/srv/Main.kt:8"),
        (
            "error[E0308]: x\n --> src/main.rs:2:7\nnote: here\n --> src/main.rs:9:1",
            "src/main.rs:2",
        ),
        ("..\\tide.cpp(6862): error: Value of: 2", "..\\tide.cpp:6862"),
        ("CMake Error at CMakeLists.txt:3 (add_executable):", "CMakeLists.txt:3"),
        ("Error: Unsupported argument\n\n  on net/main.tf line 26, in x:", "net/main.tf:26"),
        ("./tide.go:42:9: undefined: x", "./tide.go:42"),
        ("tide.sh: line 3: syntax error", "tide.sh:3"),
        ("thread 'main' panicked at src/main.rs:14:27:\nx", "src/main.rs:14"),
        ("--- FAIL: T\n    a_test.go:7: x\n\tError Trace:\t/go/a_test.go:7", "a_test.go:7"),
        ("     # ./spec/a_spec.rb:174\nrspec ./spec/a_spec.rb:168 # x", "./spec/a_spec.rb:174"),
        ("E   x\n\ntests/test_a.py:88: AssertionError", "tests/test_a.py:88"),
        (" ❯ src/a.test.ts:18:24", "src/a.test.ts:18"),
        ("/srv/tide.nim(53, 14) Error: undeclared identifier: 'x'", "/srv/tide.nim:53"),
        ("     2>D:\\a\\Quay.xaml.cs(13,33): error CS1061: x", "D:\\a\\Quay.xaml.cs:13"),
        ("quay/Berth.cpp|24|error: x|", "quay/Berth.cpp:24"),
        ("%Error: rtl/gate.v:33:12: syntax error", "rtl/gate.v:33"),
        ("(in test file tests/moor.bats, line 21)", "tests/moor.bats:21"),
        ("   Loc: [../tests/tst_quay.cpp(48)]", "../tests/tst_quay.cpp:48"),
        ("Failure ('test-tide.R:120:5'): the tide rises", "test-tide.R:120"),
        (
            "FAILED: template: quay/templates/pod.yaml:38:24: executing x",
            "quay/templates/pod.yaml:38",
        ),
        ('{"stack":"main.f()\\n\\t/srv/tide.go:88 +0x1d"}', "/srv/tide.go:88"),
        ('["  File \\"/var/task/tide.py\\", line 14, in f\\n"]', "/var/task/tide.py:14"),
        (
            "lua: tide.lua:7: x\n\ttide.lua:7: in function 'f'\n\ttide.lua:12: in main chunk",
            "tide.lua:7",
        ),
        (
            "   at A.B(String x) in /src/A.cs:line 77\n   at C.D() in /src/C.cs:line 1",
            "/src/A.cs:77",
        ),
        ("PHP Fatal error:  x in /srv/a.php on line 8", "/srv/a.php:8"),
        ("a.rb:4:in `f': x (NameError)\n\tfrom b.rb:7:in `g'", "a.rb:4"),
    ],
)
def test_a_location_is_found_in_any_language(text: str, expected: str) -> None:
    assert locate(text) == expected


def test_the_last_python_frame_of_the_last_traceback_is_found() -> None:
    chain = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2, in f\n    y\n'
        '  File "/v/lib/python3.11/site-packages/z/c.py", line 3, in g\n    z\nValueError'
    )
    assert locate(chain) == "/v/lib/python3.11/site-packages/z/c.py:3"


def test_frames_of_the_python_library_are_skipped() -> None:
    text = (
        '  File "a.py", line 1, in f\n    x\n  File "/usr/lib/python3.11/json/x.py", line 9, in g'
    )
    assert locate(text) == "a.py:1"


def test_the_first_frame_outside_libraries_is_found() -> None:
    text = (
        "Error: Cannot find module 'x'\n"
        "    at Module._load (internal/modules/cjs/loader.js:507:25)\n"
        "    at load (/srv/node_modules/y/index.js:3:1)\n"
        "    at Object.<anonymous> (/srv/users.js:8:12)\n"
        "    at main (/srv/main.js:1:1)"
    )
    assert locate(text) == "/srv/users.js:8"


def test_java_frames_of_libraries_are_skipped() -> None:
    text = "x\n\tat java.base/java.util.A.b(A.java:9)\n\tat com.quay.C.d(C.java:12)"
    assert locate(text) == "C.java:12"


@pytest.mark.parametrize(
    "text",
    [
        "a.ts(1,2): error TS1: x\na.ts(9,2): error TS2: y",  # ambiguous
        "connect ECONNREFUSED 127.0.0.1:5432",
        "https://packages.example.org:443/x timed out",
        "Makefile:62: recipe for target 'x' failed",
        "    at node:internal/main/run_main_module:28:49",
        "it failed",
        "",
    ],
)
def test_an_ambiguous_or_missing_location_is_none(text: str) -> None:
    assert locate(text) is None


def test_two_errors_on_one_line_are_one_location() -> None:
    assert locate("a.ts(8,2): error TS1: x\na.ts(8,9): error TS2: y") == "a.ts:8"
