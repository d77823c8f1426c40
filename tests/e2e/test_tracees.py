"""Invariant 1 and 6: a program behaves as if fade were not there, and every call is counted once."""
import pytest

from same_behaviour import PAIRS, check_behaviour_and_counts


@pytest.mark.parametrize("case, runtime", PAIRS)
def test_same_behaviour_and_nothing_lost(case, runtime, build, tmp_path):
    check_behaviour_and_counts(case, runtime, build, tmp_path)
