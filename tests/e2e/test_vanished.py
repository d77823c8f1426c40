"""Programs that take fade's breakpoints out: they behave as alone, and no call is missing without a word."""
import json
import re
import signal
import subprocess

import pytest

import harness
from vanishing import ROUNDS, Vanishing

WATCHED = ("hipMalloc", "hipDeviceSynchronize")


def window(detail):
    """The time in which calls are missing, in ns; no end where they are missing to the end."""
    begin, end = re.search(r"(?:from|after) ([0-9.]+) s(?: to ([0-9.]+) s)?", detail).groups()
    return float(begin) * 1e9, float(end) * 1e9 if end else None


@pytest.mark.parametrize("how", ["wiped", "mapped", "rewritten"])
def test_breakpoints_are_set_again_and_the_time_without_them_is_told(build, tmp_path, how):
    alone = Vanishing(build, tmp_path / "alone", how, supervised=False).end()
    program = Vanishing(build, tmp_path / how, how)
    program.await_rows()
    status, out, err = program.end()
    assert (status, out) == alone[:2] and "took out breakpoints" in err
    (at, value, detail), = program.rows()
    begin, end = window(detail)
    database = harness.Database(program.path)
    assert value >= len(WATCHED) and "stand again" in detail
    # Rounds before and after are there; of those at once some may be.
    for name in WATCHED:
        assert 2 * ROUNDS <= program.calls(name) <= 3 * ROUNDS
        assert database.value(f"SELECT count(*) FROM calls WHERE name = '{name}' AND start >= {at}") == ROUNDS
        assert database.value(
            f"SELECT count(*) FROM calls WHERE name = '{name}' AND start >= {at} AND result = 0") == ROUNDS
    # The calls of which some are missing lie between the last one before and the first one after.
    last, first = (database.value(f"SELECT {which}(start) FROM calls WHERE start {side} {at}")
                   for which, side in (("max", "<"), ("min", ">=")))
    assert begin <= last + 1e9 and abs(end - at) < 5e6 and end <= first + 5e6


def test_other_code_is_left_alone_and_the_function_is_told(build, tmp_path):
    alone = Vanishing(build, tmp_path / "alone", "replaced", supervised=False).end()
    program = Vanishing(build, tmp_path / "run", "replaced")
    program.await_rows()
    assert program.end()[:2] == alone[:2]
    (at, value, detail), = program.rows()
    assert value == 1 and "hipMalloc" in detail and "other code" in detail
    begin, end = window(detail)
    assert begin <= at and end is None
    assert (program.calls("hipMalloc"), program.calls("hipDeviceSynchronize")) == (ROUNDS, 3 * ROUNDS)


def test_reports_say_that_calls_are_missing(build, tmp_path):
    program = Vanishing(build, tmp_path / "run", "wiped")
    program.await_rows()
    program.end()
    # noqa: E731
    asked = lambda *words: subprocess.run([build.fade_query, program.path, *words], capture_output=True, text=True)
    summary = asked("summary", "--format", "table").stdout
    assert "the program took them out" in summary and "no calls dropped" not in summary
    check = asked("check", "--fail-on", "dropped", "--format", "json")
    assert check.returncode == 1 and "calls were not recorded" in json.loads(check.stdout)[0]["detail"]


# Threads are in the calls while their breakpoints go and come. Bytes of the text are never seen half written: "wiped"
# takes whole pages.
@pytest.mark.parametrize("how", ["wiped", "mapped"])
def test_threads_call_on_while_breakpoints_go_and_come(build, tmp_path, how):
    program = Vanishing(build, tmp_path / "run", how, threads=4)
    for times in range(1, 5):
        program.await_rows(times)
        program.process.stdin.write("again\n")
        program.process.stdin.flush()
    program.await_rows(5)
    assert program.end()[:2] == (5, "gone\ndone\n")
    assert all("stand again" in detail for _, _, detail in program.rows())


def test_a_killed_fade_leaves_a_program_that_goes_on(build, tmp_path):
    program = Vanishing(build, tmp_path / "run", "rewritten")
    program.await_rows()
    program.process.send_signal(signal.SIGKILL)
    program.process.wait(timeout=60)
    out, _ = program.process.communicate("go\ngo\n", timeout=60)
    assert out == "gone\ndone\n"
