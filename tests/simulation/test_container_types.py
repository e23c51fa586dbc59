"""The containers of a simulation read stored runs into their own enums, not the process's."""

from __future__ import annotations

from local.simulate.module_copy import ModuleCopy


def test_a_copy_resolves_annotations_to_its_own_types() -> None:
    copy = ModuleCopy()
    stored_run = copy.load("duecourse.domain.requests.stored_run")
    run = copy.load("duecourse.domain.tasks.run")
    hints = stored_run.get_type_hints(run.Run)
    assert hints["status"] is run.RunStatus
