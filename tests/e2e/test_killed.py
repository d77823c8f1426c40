"""Invariant 5: what the program does after the death of fade-run, with breakpoints still in its text."""
import subprocess
import time

import pytest

import harness


def run_orphaned(build, folder, line, runtime):
    """The program under fade-run, which is killed after the first calls."""
    folder.mkdir()
    command = [build.fade_run, "-q", "-e", harness.EVERYTHING, "-o", folder / "run.db", "--", *build.command(line)]
    process = subprocess.Popen(command, env=build.environment(runtime), cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while process.poll() is None and sum(harness.summed(harness.read_counts(folder)).values()) < 30:
        assert time.monotonic() < end, "the program made no calls"
        time.sleep(0.005)
    process.kill()
    stdout = process.stdout.read()  # the pipe closes when the program has ended too
    process.wait()
    return stdout, harness.read_counts(folder)


@pytest.mark.parametrize("runtime", ["v6", "v5"])
@pytest.mark.parametrize("how", ["nothing", "block", "handler", "once", "ignored", "children"])
def test_the_program_ends_as_if_nothing_had_been(build, tmp_path, how, runtime):
    alone = harness.run_alone(build, f"orphaned {how}", runtime, tmp_path)
    stdout, counts = run_orphaned(build, tmp_path / "orphaned", f"orphaned {how}", runtime)
    assert stdout == alone.stdout
    assert sorted(map(sorted, (c.items() for c in counts.values()))) == \
        sorted(map(sorted, (c.items() for c in alone.counts.values())))
