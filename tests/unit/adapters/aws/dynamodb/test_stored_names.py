"""The names under which version 0.1 stored attributes are still the stored names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from duecourse.adapters.aws.dynamodb import models, tracking_models

# What version 0.1 wrote, model by model.
NAMES = json.loads(Path(__file__).with_name("stored_names.json").read_text())


@pytest.mark.parametrize("model", NAMES)
def test_every_stored_name_is_still_read(model: str) -> None:
    found = getattr(models, model, None) or getattr(tracking_models, model)
    names = {attribute.attr_name for attribute in found.get_attributes().values()}
    assert set(NAMES[model]) - names == set()
