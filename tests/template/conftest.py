from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """As CloudFormation gets it: what SAM makes of the source is tested, not what it says."""
    return load_template()
