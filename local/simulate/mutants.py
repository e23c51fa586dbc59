"""Planted bugs: each is one edit of the product's code, and the simulation has to find it.

`make simulate-mutants` runs them. A new one needs a name, a line that says what is wrong, and an
edit whose old text occurs exactly once in its module.
"""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.budget_mutants import BUDGET_MUTANTS
from local.simulate.journal_mutants import JOURNAL_MUTANTS
from local.simulate.mutant import Mutant
from local.simulate.outgoing_mutants import OUTGOING_MUTANTS
from local.simulate.promise_mutants import PROMISE_MUTANTS
from local.simulate.recovery_mutants import RECOVERY_MUTANTS
from local.simulate.run_mutants import RUN_MUTANTS
from local.simulate.store_mutants import STORE_MUTANTS

MUTANTS: Mapping[str, Mutant] = {
    **RECOVERY_MUTANTS,
    **OUTGOING_MUTANTS,
    **PROMISE_MUTANTS,
    **STORE_MUTANTS,
    **JOURNAL_MUTANTS,
    **RUN_MUTANTS,
    **BUDGET_MUTANTS,
}
