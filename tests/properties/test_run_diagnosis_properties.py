"""Any diagnosis is stored as JSON and read back unchanged."""

from __future__ import annotations

import json
from datetime import timedelta

from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import AdaptedDelay, RetryOutcomes
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import Location, Reading, RunDiagnosis
from hypothesis import given
from hypothesis import strategies as st

texts = st.none() | st.text(max_size=20)
counts = st.integers(0, 10**6)
shares = st.none() | st.floats(0, 1)
durations = st.timedeltas(timedelta(0), timedelta(days=30))
whole_seconds = st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds))
locations = st.none() | st.builds(Location, st.text(max_size=20), st.none() | counts)
readings = st.builds(Reading, category=texts, pattern=texts, confidence=shares, location=locations)
adaptations = st.builds(
    AdaptedDelay,
    policy_delay=whole_seconds,
    delay=whole_seconds,
    outcomes=st.builds(RetryOutcomes, counts, counts),
    reason=st.text(max_size=20),
)
diagnoses = st.builds(
    RunDiagnosis,
    confidence=shares,
    pattern=texts,
    fingerprint=texts,
    learned=st.booleans(),
    read_as=st.none() | readings,
    fix=st.text(max_size=20),
    location=locations,
    type=texts,
    code=texts,
    status=st.none() | st.integers(100, 599),
    phase=texts,
    retry_after=st.none() | durations,
    origin=st.sampled_from(Origin),
    blames_subject=st.booleans(),
    action=st.none() | st.sampled_from(Action),
    counted=st.booleans(),
    retry_count=st.none() | counts,
    delay=st.none() | durations,
    adapted=st.none() | adaptations,
    guidance_lines=st.none() | counts,
    by=texts,
    review=texts,
)


@given(diagnoses)
def test_a_diagnosis_is_read_back_unchanged(diagnosis: RunDiagnosis) -> None:
    stored = json.loads(json.dumps(diagnosis.to_stored()))
    assert RunDiagnosis.from_stored(stored) == diagnosis
    assert None not in stored.values()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
names = st.sampled_from([*RunDiagnosis.__dataclass_fields__, "delay_seconds", "colour"])


@given(st.dictionaries(names, json_values) | json_values)
def test_any_json_is_parsed_or_raises_a_value_error(stored: object) -> None:
    try:
        diagnosis = RunDiagnosis.from_stored(stored)
    except ValueError:
        return
    assert RunDiagnosis.from_stored(diagnosis.to_stored()) == diagnosis
