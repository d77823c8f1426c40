"""A call that a signal meets at its breakpoint, and that is tried again, is one call. Longer: FADE_SIGNAL_RUNS=1000."""
import os

import pytest

import harness

RUNS = int(os.environ.get("FADE_SIGNAL_RUNS", "30"))
KINDS = [(runtime, more) for runtime in ("v5", "v6", "hard") for more in ("", " onstack")]


@pytest.mark.parametrize("runtime, more", KINDS)
def test_a_call_that_a_signal_interrupts_at_its_entry_is_counted_once(build, tmp_path, runtime, more):
    for number in range(max(1, RUNS // len(KINDS))):
        folder = tmp_path / str(number)
        ran = harness.run_supervised(build, f"signals_at_calls 2000{more}", runtime, folder)
        assert (ran.status, ran.stdout) == (0, b"received 2000\n")
        assert harness.Database(folder / "run.db").counts("call_stats") == ran.counts, number
