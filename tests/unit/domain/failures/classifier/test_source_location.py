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
        ("[vite:vue] src/App.vue (33:5): Element is missing end tag.", "src/App.vue:33"),
        ("lua5.4: tide.lua:5: attempt to index a nil value", "tide.lua:5"),
        (
            "Error: failed to parse quay/a.yaml: error converting YAML to JSON: yaml: line 31: x",
            "quay/a.yaml:31",
        ),
        (
            "Location   : sql/V2__tide.sql (/srv/sql/V2__tide.sql)\nLine       : 8\nStatement  : x",
            "sql/V2__tide.sql:8",
        ),
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
        ("a.ts\n  4:7  warning  x  y\n  12:15  error  x  no-undef", "a.ts:12"),
        ("::error file=a.ts,line=3,col=5::x", "a.ts:3"),
        ("== [a.sql] FAIL\nL:   4 | P:   1 | PRS | x", "a.sql:4"),
        ("    at f (webpack://quay/./src/a.js:19:21)", "./src/a.js:19"),
        ("    at f (http://localhost:5173/src/a.tsx?t=1741688095120:21:9)", "src/a.tsx:21"),
        ("a.rb:4:in `f': x (NameError)\n\tfrom b.rb:7:in `g'", "a.rb:4"),
    ],
)
def test_a_location_is_found_in_any_language(text: str, expected: str) -> None:
    assert locate(text) == expected


def test_the_last_own_python_frame_of_the_last_traceback_is_found() -> None:
    chain = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2, in f\n    y\n'
        '  File "/v/lib/python3.11/site-packages/z/c.py", line 3, in g\n    z\nValueError'
    )
    assert locate(chain) == "b.py:2"


def test_a_chain_that_ends_in_a_library_falls_back_to_the_traceback_before() -> None:
    chain = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/v/lib/python3.11/site-packages/z/c.py", line 3, in g\n    z\nValueError'
    )
    assert locate(chain) == "a.py:1"


def test_the_first_failed_test_of_pytest_is_found() -> None:
    text = (
        "____ test_a ____\n\n>       f()\n\ntests/test_a.py:4: \n_ _ _ _\n\n    def f():\n"
        ">       raise Full\nE       Full\n\nsrc/a.py:9: Full\n____ test_b ____\n\n"
        ">       assert 0\nE       assert 0\n\ntests/test_b.py:7: AssertionError"
    )
    assert locate(text) == "src/a.py:9"


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
        "see a.ts:1\nor b.ts:9",  # ambiguous
        "connect ECONNREFUSED 127.0.0.1:5432",
        "https://packages.example.org:443/x timed out",
        "Error: 401 Unauthorized. See docs/setup.md:14 for how to sign in",
        "Makefile:62: recipe for target 'x' failed",
        "    at node:internal/main/run_main_module:28:49",
        "it failed",
        "",
    ],
)
def test_an_ambiguous_or_missing_location_is_none(text: str) -> None:
    assert locate(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a.c:1:2: warning: x\n",
        "A.cs(8,13): warning CS0168: x [A.csproj]",
        "src/a.ts:10:5 - warning TS6133: x",
        "  /srv/a.py:10:5 - warning: x (reportUnused)",
        "[WARNING] /srv/A.java:[50,18] x is deprecated",
        "::warning file=a.ts,line=3::x",
        "warning: x\n --> src/a.rs:2:7",
        "Warning: x\n\n  with aws_a.b,\n  on a.tf line 3, in resource:",
        "PHP Deprecated:  x in /srv/a.php on line 9",
        "a.py:3:0: W0611: Unused import os (unused-import)",
        "a.py:3: DeprecationWarning: x",
        "a.ts\n  12:7  warning  x  no-unused-vars",
        'File "a.ml", line 2, characters 4-9:\nWarning 32 [unused-value]: x',
        "psql:a.sql:40: NOTICE:  x",
        "CMake Deprecation Warning at CMakeLists.txt:1 (x):",
        "In file included from a.h:3,",
    ],
)
def test_the_place_of_a_warning_is_not_a_location(text: str) -> None:
    assert locate(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '  File "/usr/lib/python3.11/json/x.py", line 9, in g\n    x',
        '  File "C:\\Python311\\Lib\\json\\x.py", line 9, in g\n    x',
        "main.f()\n\t/usr/local/go/src/net/http/server.go:9 +0x1d",
        "internal/poll.f()\n\tinternal/poll/fd_unix.go:9 +0x1d",
        "thread 'main' panicked at /rustc/79e97/library/core/src/a.rs:5:5:\nx",
        "\tat app//org.hamcrest.MatcherAssert.assertThat(MatcherAssert.java:20)",
        "\tat java.base@17.0.9/java.util.A.b(A.java:9)",
        "    (ecto 3.10.3) lib/ecto/repo.ex:229: Ecto.Repo.execute/4",
        "#0      f (package:flutter/src/widgets/framework.dart:9:27)",
        "   at Xunit.Assert.Equal() in /_/src/xunit.assert/A.cs:line 96",
        "    at t (https://a.example/static/js/main.4f3a9c1b.chunk.js:2:18734)",
        "Swift/ContiguousArrayBuffer.swift:600: Fatal error: x",
    ],
)
def test_a_place_in_a_library_is_not_a_location(text: str) -> None:
    assert locate(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("internal/tide/a.go:31:6: x", "internal/tide/a.go:31"),
        ("\t/srv/quay/internal/poll/a.go:31 +0x1d", "/srv/quay/internal/poll/a.go:31"),
        ("net/server.go:3:1: undefined: x", "net/server.go:3"),
        ('  File "/srv/Lib/a.py", line 9, in g', "/srv/Lib/a.py:9"),
        ('  File "/srv/python/a.py", line 9, in g', "/srv/python/a.py:9"),
        ("\tat app//com.quay.A.b(A.java:20)", "A.java:20"),
    ],
)
def test_own_code_in_a_directory_named_like_a_library_is_found(text: str, expected: str) -> None:
    assert locate(text) == expected


def test_the_first_of_several_errors_is_found() -> None:
    assert locate("a.ts(1,2): error TS1: x\na.ts(9,2): error TS2: y") == "a.ts:1"


def test_a_panic_in_a_library_is_located_by_its_backtrace() -> None:
    text = (
        "thread 'main' panicked at /rustc/79e97/library/core/src/a.rs:5:5:\nx\nstack backtrace:\n"
        "   0: std::a\n             at /rustc/79e97/library/std/src/b.rs:7:5\n"
        "   1: quay::c\n             at ./src/c.rs:64:18"
    )
    assert locate(text) == "./src/c.rs:64"


def test_a_stack_trace_logged_as_a_warning_is_located() -> None:
    assert locate('WARNING  x failed\nWARNING    File "a.py", line 3, in f') == "a.py:3"


def test_two_errors_on_one_line_are_one_location() -> None:
    assert locate("a.ts(8,2): error TS1: x\na.ts(8,9): error TS2: y") == "a.ts:8"
