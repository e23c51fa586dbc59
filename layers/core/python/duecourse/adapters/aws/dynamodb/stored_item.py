"""Base of all stored items: a schema version, and one way to read them.

Reading an item fails only with UnreadableItemError; the item is then recorded by `set_aside`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self, TypeVar

from pynamodb.attributes import NumberAttribute
from pynamodb.constants import NULL
from pynamodb.models import Model

from duecourse.adapters.runtime.unreadable_items import set_aside
from duecourse.domain.errors import UnreadableItemError

T = TypeVar("T")
I = TypeVar("I", bound="StoredItem")  # noqa: E741 - an item
BEFORE_VERSIONS = 0


class SchemaVersionAttribute(NumberAttribute):
    """The schema version of an item. Older versions are read, newer ones are rejected.

    Increase `current` whenever older code could misread an item, and add the previous version to
    `older_items`. An item without a version was written before versions existed. `newest`: of the
    items that need newer code than most do.
    """

    def __init__(self, current: int, *, newest: int | None = None) -> None:
        super().__init__(null=True, default_for_new=current)
        self.current = current
        self._newest = newest or current

    def deserialize(self, value: str) -> int:
        version = int(value)
        if version > self._newest:
            raise ValueError("it was written by newer code")
        return version


class StoredItem(Model):
    """Base model. Items that are only changed by counting updates have no schema version."""

    kind = "item"
    schema_version = SchemaVersionAttribute(1)
    unreadable: UnreadableItemError | None = None  # such an item has only what could be read
    is_newer = False
    unknown_attributes: Mapping[str, Any] = MappingProxyType({})  # as stored

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> Self:
        """Parse an item.

        A failure is stored in `unreadable`, so it does not end a query's iteration. `is_newer` then
        says whether newer code wrote the item.
        """
        try:
            data = cls.unpack(data)
            item: Self = super().from_raw_data(data)
        except Exception:  # noqa: BLE001 - whatever is wrong with it, `read_item` raises
            broken = [name for name in cls.get_attributes() if _is_broken(cls, name, data)]
            item = cls(_user_instantiated=False)
            item.attribute_values = _read_attributes(cls, data, without=broken)
            item.is_newer = "schema_version" in broken
            item.unreadable = UnreadableItemError(item.label, _describe_reason(broken))
        known = {attribute.attr_name for attribute in cls.get_attributes().values()}
        item.unknown_attributes = {name: data[name] for name in data if name not in known}
        return item

    @classmethod
    def unpack(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes of a stored item. Subclasses may store them in another form."""
        return data

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:
        """Return the item with its unknown attributes, so that a write of this code keeps them."""
        return {**self.unknown_attributes, **super().serialize(null_check)}

    def deserialize(self, attribute_values: dict[str, Any]) -> None:
        """Ignore the response of an update, which is stored by now even if it is unreadable."""

    @property
    def label(self) -> str:
        """Name the item for people, without any of its content."""
        keys = (getattr(self, name) for name in (self._hash_keyname, self._range_keyname) if name)
        return " ".join([self.kind, *map(str, keys)])


def read_item(item: I, read: Callable[[I], T]) -> T:
    """Return `read(item)`. Raises UnreadableItemError, and nothing else.

    The cause may quote the item's content, so it is not chained.
    """
    error = item.unreadable
    if error is None:
        try:
            return read(item)
        except UnreadableItemError:
            raise  # from a nested item, which was recorded already
        except Exception as cause:  # noqa: BLE001 - reading is pure: the item is at fault
            error = UnreadableItemError(item.label, f"{type(cause).__name__} while it was read")
    set_aside(error)
    raise error from None


def read_items(items: Iterable[I], read: Callable[[I], T]) -> Iterator[T]:
    """Yield `read(item)` for each item. Unreadable items are recorded and skipped."""
    for item in items:
        try:
            found = read_item(item, read)
        except UnreadableItemError:
            continue
        yield found


def _describe_reason(broken: Sequence[str]) -> str:
    """Return why the item is unreadable, without quoting its content."""
    if "schema_version" in broken:
        return "it was written by a newer version"
    return f"its attribute `{broken[0]}` cannot be read" if broken else "it is incomplete"


def _read_attributes(
    model: type[StoredItem], data: dict[str, Any], *, without: Sequence[str]
) -> dict[str, Any]:
    return {
        name: attribute.deserialize(attribute.get_value(stored))
        for name, attribute in model.get_attributes().items()
        if name not in without and (stored := _stored_value(model, name, data))
    }


def _is_broken(model: type[StoredItem], name: str, data: dict[str, Any]) -> bool:
    attribute, stored = model.get_attributes()[name], _stored_value(model, name, data)
    if stored is None:
        return False
    try:
        attribute.deserialize(attribute.get_value(stored))
    except Exception:  # noqa: BLE001 - of whatever kind
        return True
    return False


def _stored_value(model: type[StoredItem], name: str, data: dict[str, Any]) -> Any:
    stored = data.get(model.get_attributes()[name].attr_name)
    return None if not stored or NULL in stored else stored
