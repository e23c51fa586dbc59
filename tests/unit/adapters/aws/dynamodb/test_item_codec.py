"""Items converted without a model equal those that PynamoDB converts."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.item_codec import ItemCodec
from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.models import Model


class Sample(Model):
    class Meta:
        table_name = "sample"

    id = UnicodeAttribute(hash_key=True)
    number = NumberAttribute(null=True)
    document = JSONAttribute(null=True)


CODEC = ItemCodec(Sample)


@pytest.mark.parametrize("number", [0, 7, -7, 10**30, 0.5, -1.25, 1e-7])
def test_numbers_are_stored_and_read_as_pynamodb_does(number: float) -> None:
    stored: Any = Sample(id="a", number=number).serialize()

    assert CODEC.encode({"id": "a", "number": number}) == stored
    assert CODEC.decode(stored)[0]["number"] == number
    assert type(CODEC.decode(stored)[0]["number"]) is type(number)


@pytest.mark.parametrize("document", [{}, [1, "ä"], {"a": {"b": None}}, "text\nwith a line"])
def test_documents_are_stored_and_read_as_pynamodb_does(document: Any) -> None:
    stored: Any = Sample(id="a", document=document).serialize()

    assert CODEC.encode({"id": "a", "document": document}) == stored
    assert CODEC.decode(stored)[0]["document"] == document


def test_a_control_character_in_a_stored_document_is_read() -> None:
    assert CODEC.decode({"document": {"S": '"a\tb"'}})[0]["document"] == "a\tb"


@pytest.mark.parametrize("text", ["", "x", "1,5"])
def test_a_broken_number_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra"):
        CODEC.decode({"number": {"N": text}})
