"""What kind of failure it was, in terms that a person can act on, and what makes it go away.

The category of a failure belongs to its policy and decides on retries. The kind is the same in all
policies.
"""

from __future__ import annotations

from enum import StrEnum


class ClearsBy(StrEnum):
    """What has to happen before the same work can succeed."""

    WAITING = "waiting"
    CODE_CHANGE = "code_change"  # or another configuration, dependency or address
    PERSON = "person"  # somebody has to grant access or renew a key
    MONEY = "money"
    NEVER = "never"  # the same request is refused every time


class Kind(StrEnum):
    """The kind of a failure. Values that only newer code knows are read as UNKNOWN."""

    AUTH = "auth"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    INVALID_REQUEST = "invalid_request"
    CONFLICT = "conflict"  # it exists already, or somebody else changes or locks it
    QUOTA = "quota"  # the account at a provider is used up
    BUDGET = "budget"  # a budget of Duecourse is used up
    RATE_LIMIT = "rate_limit"
    NETWORK = "network"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    DISK = "disk"
    CAPACITY = "capacity"  # open files, processes, connections, room in a cluster
    SYNTAX = "syntax"
    TYPE = "type"
    IMPORT = "import"  # a missing module, package, header or program
    LINT = "lint"
    ASSERTION = "assertion"
    CRASH = "crash"
    CONTENT_POLICY = "content_policy"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - not a secret
    BAD_JSON = "bad_json"
    DATA = "data"
    CONFIG = "config"
    UNKNOWN = "unknown"

    @property
    def clears_by(self) -> ClearsBy | None:
        """Return what makes such a failure go away; None if that is unknown."""
        return _CLEARS_BY.get(self)

    @classmethod
    def parse(cls, text: str | None) -> Kind | None:
        """Read a stored kind. Newer code may have stored one that is unknown here."""
        if text is None:
            return None
        return cls(text) if text in cls._value2member_map_ else cls.UNKNOWN


_CLEARS_BY = {
    Kind.AUTH: ClearsBy.PERSON,
    Kind.PERMISSION: ClearsBy.PERSON,
    Kind.NOT_FOUND: ClearsBy.CODE_CHANGE,
    Kind.INVALID_REQUEST: ClearsBy.NEVER,
    Kind.CONFLICT: ClearsBy.WAITING,
    Kind.QUOTA: ClearsBy.MONEY,
    Kind.BUDGET: ClearsBy.WAITING,
    Kind.RATE_LIMIT: ClearsBy.WAITING,
    Kind.NETWORK: ClearsBy.WAITING,
    Kind.SERVER_ERROR: ClearsBy.WAITING,
    Kind.TIMEOUT: ClearsBy.WAITING,
    Kind.MEMORY: ClearsBy.WAITING,
    Kind.DISK: ClearsBy.WAITING,
    Kind.CAPACITY: ClearsBy.WAITING,
    Kind.SYNTAX: ClearsBy.CODE_CHANGE,
    Kind.TYPE: ClearsBy.CODE_CHANGE,
    Kind.IMPORT: ClearsBy.CODE_CHANGE,
    Kind.LINT: ClearsBy.CODE_CHANGE,
    Kind.ASSERTION: ClearsBy.CODE_CHANGE,
    Kind.CRASH: ClearsBy.CODE_CHANGE,
    Kind.CONTENT_POLICY: ClearsBy.NEVER,
    Kind.TOKEN_LIMIT: ClearsBy.NEVER,
    Kind.BAD_JSON: ClearsBy.WAITING,
    Kind.DATA: ClearsBy.CODE_CHANGE,
    Kind.CONFIG: ClearsBy.CODE_CHANGE,
}


def kind_to_json(kind: Kind | None, *, prefix: str = "") -> dict[str, str | None]:
    """Return the kind and what it clears by, as they stand beside a category in JSON.

    Both are null for what was stored before there were kinds.
    """
    clears_by = kind.clears_by if kind else None
    return {
        f"{prefix}kind": str(kind) if kind else None,
        f"{prefix}clears_by": str(clears_by) if clears_by else None,
    }
