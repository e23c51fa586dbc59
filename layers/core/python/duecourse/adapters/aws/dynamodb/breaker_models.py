"""The items of circuit breakers, in the state table."""

from __future__ import annotations

from pynamodb.attributes import (
    JSONAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.models import Model

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem

_PREFIX = "breaker#"


class BreakerItem(StoredItem):
    """The circuit breaker of one provider."""

    class Meta(StateItem.Meta):
        """The state table, whatever it is bound to."""

    key = UnicodeAttribute(hash_key=True)
    value = JSONAttribute()
    version = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    @property
    def provider(self) -> str:
        return self.key.removeprefix(_PREFIX)

    @property
    def label(self) -> str:
        return f"circuit breaker {self.provider}"


class BreakerNamesItem(Model):
    """The providers that have a circuit breaker."""

    class Meta(StateItem.Meta):
        """The state table, whatever it is bound to."""

    key = UnicodeAttribute(hash_key=True)
    names: UnicodeSetAttribute = UnicodeSetAttribute(null=True)


def breaker_key(provider: str) -> str:
    return f"{_PREFIX}{provider}"
