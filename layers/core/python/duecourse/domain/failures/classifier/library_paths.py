"""Tells the user's own code from libraries, package caches, language runtimes and bundles."""

from __future__ import annotations

import re
from functools import cache

from duecourse.domain.failures.classifier.source_match import MatchStyle, SourceMatch

# Files of language runtimes, package managers, toolchains and bundlers.
_LIBRARY_FILES = (
    r"^<|^/usr/(?:local/)?(?:lib|include|share|s?bin)/|^/nix/store/(?!\w{1,40}-source/)",
    # Directories that package managers and toolchains fill
    r"(?:^|[\\/])(?:site-packages|dist-packages|node_modules|bower_components|gems|vendor"
    r"|vendor_ruby|site_perl|pkg[\\/]mod|registry[\\/]src|\.cargo|\.rustup|\.pub-cache|\.m2|\.nuget"
    r"|\.konan|\.gradle[\\/]caches|\.julia[\\/]packages|\.terraform[\\/]modules|\.vite[\\/]deps"
    r"|\.yarn|Pods|Carthage|third_party|renv[\\/]library|libsanitizer"
    r"|compiler-rt|_actions|wwwroot[\\/]lib|helm\.sh|k8s\.io|golang\.org)[\\/]|@v\d{1,4}\.",
    r"^(?:\./)?(?:deps|external)/|(?:^|[\\/])(?:\.build|SourcePackages|git)[\\/]checkouts[\\/]",
    # Python: /usr/lib/python3.11/ and C:\Python311\Lib\, but not a user's own Lib/ or python/
    r"[\\/]lib(?:64)?[\\/]python\d?(?:\.\d{1,2})?[\\/]|[\\/]python3?\d{0,2}\.zip[\\/]",
    r"[\\/](?:[Pp]ython[\d.-]{0,8}|x64|x86|\d[\d.]{0,10}|\w{0,4}conda\d?|envs[\\/][\w.-]{1,60}"
    r"|\.?venv)[\\/]Lib[\\/]|[\\/][Pp]ython\d[\d.-]{0,8}[\\/]lib[\\/]",
    r"[\\/](?:x64|\.?venv|\.local|virtualenvs[\\/][\w.-]{1,60})[\\/](?:bin|Scripts)[\\/]",
    r"^(?:concurrent[\\/]futures|asyncio|importlib)[\\/]|^/opt/python/|^/var/runtime/",
    # Packages whose frames error trackers shorten to `django/db/utils.py`
    r"^(?:django|rest_framework|flask|werkzeug|jinja2|fastapi|starlette|uvicorn|gunicorn|celery"
    r"|kombu|sqlalchemy|psycopg2?|requests|urllib3|httpx|httpcore|aiohttp|botocore|boto3|pydantic"
    r"|numpy|pandas|redis|pymongo|openai|anthropic|_pytest|pluggy)[\\/].{1,200}\.pyx?$",
    # Go; a user's own internal/ is told apart by its packages
    r"/usr/(?:local/)?go/src/|/go\d[\d.]*/src/|/go/\d[\d.]{0,12}/(?:x64|libexec)/src/"
    r"|[\\/]Go[\\/]src[\\/]",
    r"^internal/(?:poll|runtime|abi|bytealg|reflectlite|syscall|testlog|cpu|race|singleflight"
    r"|godebug|oserror|fmtsort|goos)/",
    # Rust, Haskell, Ruby, Zig, Perl, Erlang, Swift, C#
    r"/rustc/|^library/(?:core|std|alloc)/|(?:^|/)lib(?:core|std|alloc)/|^libraries/",
    r"[\\/]lib[\\/](?:ruby|zig|perl\d?|erlang)[\\/]|/share/perl|^Swift/|^swift/stdlib|^/_/",
    # C and C++
    r"\.\./(?:sysdeps|csu|nptl|stdlib|libio)/|/glibc-|[\\/]VC[\\/]Tools[\\/]MSVC",
    # Julia, which names its own files like `./math.jl`
    r"[\\/]julia[\\/](?:base|stdlib)[\\/]|^\./[a-z_]{1,40}\.jl$",
    # Dart
    r"^dart:|^package:(?:flutter\w{0,30}|test|test_api|matcher|stack_trace|async|http|dio|provider"
    r"|riverpod|bloc|mockito|mocktail|shelf|firebase_\w{1,30}|get|collection|stream_channel)/",
    # Node
    r"^node:|^internal[\\/](?:modules|process|main|timers|util|streams|bootstrap|fs|errors|url|net"
    r"|dns|crypto|child_process|event_target|test_runner|deps|per_context|worker|source_map)\b"
    r".{0,80}\.js$",
    r"^(?:events|util|fs|net|tls|dns|timers|module|node|child_process|_http_\w{1,20}"
    r"|_stream_\w{1,20}|_tls_\w{1,20}|bootstrap_node|assert|vm|zlib|stream|domain|next_tick"
    r"|task_queues|https?|buffer|crypto|dgram|path|querystring|readline|repl|string_decoder|url"
    r"|cluster|console)\.js$",
    # What a bundler or minifier wrote: its lines are not those of the source
    r"(?:^|[\\/])\.(?:next|nuxt|output|svelte-kit|parcel-cache)[\\/]|\.(?:min|bundle)\.[cm]?js$",
    r"[.-][0-9a-f]{8,40}(?:\.chunk|\.bundle|\.min)?\.[cm]?js$",
    r"(?:^|[\\/])(?:(?:chunk-)?vendors?(?:[.~-][\w.~-]{0,60})?|polyfills[\w.-]{0,40})\.js$",
)
# The standard library, as `go build -trimpath` names it. Only in stack frames: in the output of a
# compiler, `net/server.go` is a file of the user.
_TRIMMED_GO = re.compile(
    r"(?:runtime|net|sync|reflect|testing|os|io|bufio|encoding|database/sql|context|syscall|time"
    r"|fmt|errors|strings|bytes|sort|strconv|regexp|crypto|html|text|log|math|path)/[\w./-]{1,80}\.go$"
)
# Packages of Java, Kotlin, Scala and Groovy.
_JVM_PACKAGE = (
    r"(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|android|androidx"
    r"|dalvik|reactor|sbt|okhttp3|okio|retrofit2|rx|akka|play|cats|zio|junit|spock|feign|lombok"
    r"|org\.(?:junit|gradle|apache|springframework|hibernate|mockito|testng|assertj|eclipse|codehaus"
    r"|jetbrains|hamcrest|opentest4j|jboss|slf4j|postgresql|mariadb|h2|scalatest|specs2|aspectj|jooq"
    r"|flywaydb|quartz|glassfish|thymeleaf|powermock|spockframework|objectweb|reactivestreams"
    r"|bouncycastle|elasticsearch|neo4j|redisson|scalacheck|scalamock|xerial|jsoup|xnio)"
    r"|io\.(?:netty|kotest|ktor|micronaut|quarkus|vertx|grpc|reactivex|micrometer|opentelemetry|mockk"
    r"|undertow|lettuce|restassured|cucumber|projectreactor|r2dbc|swagger|kubernetes|fabric8)"
    r"|com\.(?:google\.(?:common|gson|inject|protobuf|truth|cloud|api)|fasterxml|mysql|zaxxer|android"
    r"|amazonaws|mongodb|squareup|intellij|netflix|microsoft|oracle|ibm|typesafe|datastax|jayway)"
    r"|net\.(?:bytebuddy|sf|jodah|ltgt)|redis\.clients|software\.amazon|worker\.org\.gradle)[./]"
)
_ELIXIR_APPLICATION = (
    r"(?:elixir|stdlib|kernel|ex_unit|mix|iex|eex|logger|erts|compiler|crypto|ssl|inets|sasl|phoenix\w*"
    r"|ecto\w*|plug\w*|cowboy|cowlib|ranch|bandit|thousand_island|absinthe\w*|postgrex|db_connection"
    r"|myxql|jason|poison|tesla|hackney|httpoison|finch|mint|req|oban|broadway\w*|gen_stage|telemetry\w*"
    r"|swoosh|bamboo|mox|floki|nimble_\w+|decimal|gettext|guardian|redix|ex_aws\w*|sentry|timex)"
    r"(?: [\w.-]{1,30})?$"
)
_JULIA_MODULE = r"(?:Base|Core|Test|Pkg|Distributed|Statistics|LinearAlgebra)(?:\.[\w.]{1,60})?$"
# How a class loader or module is written before a class: `app//`, `java.base@17.0.9/`.
_CLASS_LOADER = re.compile(r"(?:[\w.@-]{0,60}/){1,2}")


@cache
def _library_file() -> re.Pattern[str]:
    return re.compile("|".join(_LIBRARY_FILES))


@cache
def _library_frame() -> re.Pattern[str]:
    return re.compile("|".join((_JVM_PACKAGE, _ELIXIR_APPLICATION, _JULIA_MODULE)))


def is_library(match: SourceMatch) -> bool:
    """Return whether the place belongs to a library, a runtime or a bundle, not to the user."""
    if match.style is MatchStyle.FRAME and _TRIMMED_GO.match(match.file):
        return True
    if _library_file().search(match.file):
        return True
    loader = _CLASS_LOADER.match(match.frame)
    return bool(_library_frame().match(match.frame, loader.end() if loader else 0))
