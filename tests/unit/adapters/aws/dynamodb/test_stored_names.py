"""The names under which attributes were ever stored are still the stored names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from duecourse.adapters.aws.dynamodb import journal_models, models, tracking_models

# What version 0.1 and the versions since wrote, model by model. Only `blocked` of a tracker is not
# read any more: tasks and subjects themselves know on which day a budget last blocked them.
MODULES = (models, journal_models, tracking_models)
NAMES = json.loads(Path(__file__).with_name("stored_names.json").read_text())


@pytest.mark.parametrize("model", NAMES)
def test_every_stored_name_is_still_read(model: str) -> None:
    [found] = [getattr(module, model) for module in MODULES if model in vars(module)]
    names = {attribute.attr_name for attribute in found.get_attributes().values()}
    assert set(NAMES[model]) - names == set()
