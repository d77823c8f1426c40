"""Invariant 5: fade may die at any moment, and the programs it watches do not notice. The long version: tests/chaos/long.sh"""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))

import chaos  # noqa: E402  (needs the path above)
from rows import ROWS  # noqa: E402

KILLS = int(os.environ.get("FADE_CHAOS_KILLS", "300"))


def test_no_program_is_lost(build):
    """On failure run again what it says: the same seed kills at the same moments, as far as these are given in calls."""
    if b"__asan_init" in build.fade_run.read_bytes() or not (build.tracees / "libchaos_killer.so").exists():
        pytest.skip("a sanitised fade cannot be preloaded into")
    told = []
    outcomes = chaos.run(str(build.folder), KILLS, seed=1, jobs=max(2, os.cpu_count() or 2), rows=ROWS, say=told.append)
    told.append(chaos.table(outcomes, ROWS))
    print("\n".join(told))
    total = chaos.summed(outcomes, "all")
    assert (total.lost, total.wrong) == (0, 0), "\n".join(told)
    assert total.kills >= KILLS and total.repaired > 0
