"""Invariant 5: fade may die at any moment, and the programs it watches do not notice. The long version:
tests/chaos/long.sh"""
import os
import pathlib
import sys
import types

import pytest

import thorough

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))

import chaos  # noqa: E402  (needs the path above)
from life import Life  # noqa: E402
from rows import ROWS, Row  # noqa: E402
from target import Lost, Target  # noqa: E402

# Each time every second row, with a kill each: neighbours are alike.
SOME = ROWS if thorough.ALL else ROWS[::2]
KILLS = int(os.environ.get("FADE_CHAOS_KILLS", "150" if thorough.ALL else len(SOME)))


def test_no_program_is_lost(build):
    """On failure run again what it says: the same seed kills at the same moments, as far as these are given in
    calls."""
    if b"__asan_init" in build.fade_run.read_bytes() or not (build.tracees / "libchaos_killer.so").exists():
        pytest.skip("a sanitised fade cannot be preloaded into")
    told = []
    outcomes = chaos.run(str(build.folder), KILLS, seed=1, jobs=max(2, os.cpu_count() or 2), rows=SOME, say=told.append)
    told.append(chaos.table(outcomes, SOME))
    print("\n".join(told))
    total = chaos.summed(outcomes, "all")
    assert (total.lost, total.wrong) == (0, 0), "\n".join(told)
    assert total.kills >= KILLS and total.repaired > 0


def test_a_missing_runtime_is_said(tmp_path):
    with pytest.raises(SystemExit, match="not built: the runtimes v6"):
        chaos.run(str(tmp_path), 1, seed=1, jobs=1, rows=ROWS[:1])


# ---------------------------------------------------------------- what is said of a program

PROGRAM = """#!/usr/bin/python3
import os, signal, struct, sys, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
with open(f"counts.{os.getpid()}.0", "wb") as counts:
    counts.write(struct.pack("<112sQQ", b"hipMemset", 0, 0))
print("ready", os.getpid(), flush=True)
signal.sigwait([signal.SIGUSR1])
"""
SAYS = """print('{"hipMalloc": 0, "hipMemcpy": 0, "hipMemset": 0, "hipDeviceSynchronize": 0, "hipFree": 0,'
      ' "hipLaunchHostFunc": 0, "hipStreamQuery": 0, "wrong": 0}', flush=True)
"""


def target_that(does, folder):
    """A target with modes of a program that executes itself; `does`: Python, after it was asked to end."""
    (folder / "v7").mkdir()
    (folder / "v7" / "libamdhip64.so.7").touch()
    (folder / "chaos").write_text(PROGRAM + does)
    (folder / "chaos").chmod(0o755)
    build = types.SimpleNamespace(tracees=folder, runtimes=folder, environment=lambda runtime: dict(os.environ))
    target = Target(build, Row("v6", "se", 1), folder / "target")
    assert target.wait_ready()
    return target


def test_words_before_a_slow_end_are_heard(tmp_path):
    target = target_that(SAYS + "time.sleep(2.5)", tmp_path)
    target.end()
    target.kill()


@pytest.mark.parametrize("does, said", [
    ("signal.signal(signal.SIGTRAP, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTRAP)", "died of SIGTRAP"),
    ("os._exit(3)", "ended with status 3"), ("os._exit(0)", "without a word")])
def test_a_lost_program_leaves_evidence(does, said, tmp_path):
    target = target_that(does, tmp_path)
    with pytest.raises(Lost, match=said) as lost:
        target.end()
    life = Life(None, target.row, 0, 1, tmp_path, tmp_path, None)
    life.target = target
    life.report("lost", lost.value)
    target.kill()
    for words in ("wait status 0x", "State:\tZ (zombie)", "asked to end", "closed its output", "no tally"):
        assert words in life.outcome.text
