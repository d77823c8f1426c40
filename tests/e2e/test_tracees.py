"""Invariant 1 and 6: a program behaves as if fade were not there, and every call is counted once."""
import pytest

import harness
from same_behaviour import PAIRS, check_behaviour_and_counts


@pytest.mark.parametrize("case, runtime", PAIRS)
def test_same_behaviour_and_nothing_lost(case, runtime, build, tmp_path):
    # It is about turns at stops; frequent calls have none.
    engine = ("--engine", "breakpoints") if case.line.startswith("compete") else ()
    check_behaviour_and_counts(case, runtime, build, tmp_path, options=("-e", harness.EVERYTHING, *engine))
