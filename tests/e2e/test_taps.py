"""The engine of taps: programs behave as if fade were not there, every call is counted once, and few calls stop."""
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

import harness
from attaching import Target, attach, differing_text, mappings, until  # noqa: F401 (a fixture)
from same_behaviour import PAIRS, check_behaviour_and_counts
from taps import TAPS, stops

TURNS = int(os.environ.get("FADE_TURNS", "2000"))


@pytest.mark.parametrize("case, runtime", PAIRS)
def test_same_behaviour_and_nothing_lost(case, runtime, build, tmp_path):
    # Calls without stops are made in a few ms, so the system alone shares them out among threads.
    holds = () if case.line.startswith("compete") else None
    check_behaviour_and_counts(case, runtime, build, tmp_path, options=TAPS, holds=holds)


# ---------------------------------------------------------------- what is recorded
@pytest.mark.parametrize("threads, rounds", [(1, 5000), (4, 5000), (64, 200), (400, 20)])
def test_calls_of_all_threads_are_counted_with_few_stops(threads, rounds, build, tmp_path):
    supervised = harness.run_supervised(build, f"threads {threads} {rounds}", "v6", tmp_path, options=TAPS)
    database = harness.Database(tmp_path / "run.db")
    assert not harness.differences(supervised.total, harness.summed(database.counts("calls")))
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.value(
        "SELECT count(*) FROM calls WHERE name = 'hipDeviceSynchronize' AND state = 'returned'") == threads * rounds
    if threads <= 250:  # more have no ring: breakpoints record them
        assert stops(database, "hipDeviceSynchronize") <= 4 * threads + 16


def test_a_ring_that_is_read_in_time_stops_no_thread(build, tmp_path):
    """A ring holds 2,048 calls, here of 40 ms. It is read each 10 ms."""
    calls = 60_000
    harness.run_supervised(build, f"paced {calls} 20", "v6", tmp_path, options=TAPS)
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM calls WHERE name = 'hipGetDevice'") == calls
    assert stops(database, "hipGetDevice") <= 8  # 30 if the thread had to stop for room; a busy machine may be late


def test_ids_are_in_order_of_entry_whatever_saw_the_call(build, tmp_path):
    harness.run_supervised(build, "threads 8 300", "v6", tmp_path, options=TAPS)
    database = harness.Database(tmp_path / "run.db")
    begins = [begin for begin, in database.rows("SELECT start FROM calls ORDER BY id")]
    assert len(begins) == 8 * 300 * 6 and begins == sorted(begins)


def test_a_call_keeps_its_time_while_fade_works_on_a_stop_of_another_thread(build, tmp_path):
    """fade takes a stack at each stop of hipMalloc, and other threads call without stops meanwhile."""
    for number in range(5):
        folder = tmp_path / str(number)
        harness.run_supervised(build, "threads 3 1000", "v6", folder, options=(*TAPS, "--stacks", "alloc"))
        database = harness.Database(folder / "run.db")
        # The system may take the CPU from a thread while it writes a record.
        assert database.value("SELECT count(*) FROM calls WHERE duration = 0") <= 2
        begins = [begin for begin, in database.rows("SELECT start FROM calls ORDER BY id")]
        assert begins == sorted(begins)


def test_results_arguments_and_out_values_are_those_of_breakpoints(build, tmp_path):
    def told(name, options):
        harness.run_supervised(build, "errors", "v6", tmp_path / name, options=options)
        database = harness.Database(tmp_path / name / "run.db")
        return database.rows(
            "SELECT name, result_name, failed, state, json_extract(args, '$.deviceId'), caller FROM calls ORDER BY id")

    assert told("taps", TAPS) == told("breakpoints", ("-e", harness.EVERYTHING))


@pytest.mark.parametrize("line", ["errors", "threads 2 3"])
def test_stacks_are_taken_as_with_breakpoints(line, build, tmp_path):
    def with_stack(name, options):
        harness.run_supervised(build, line, "v6", tmp_path / name, options=options)
        database = harness.Database(tmp_path / name / "run.db")
        return database.rows(
            "SELECT name, failed, count(*), count(stack) FROM calls GROUP BY name, failed ORDER BY 1, 2")

    assert with_stack("taps", TAPS) == with_stack("breakpoints", ("-e", harness.EVERYTHING))


@pytest.mark.parametrize("threads", [1, 4])
def test_every_nth_call_of_a_thread_has_a_stack_and_the_others_no_stop(threads, build, tmp_path):
    """Six functions take turns, and the sizes of their records differ."""
    calls = 6 * 5000 * threads
    harness.run_supervised(build, f"threads {threads} 5000", "v6", tmp_path, options=(*TAPS, "--stacks", "sample=100"))
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM calls") == calls
    assert 0.95 * calls / 100 <= database.value("SELECT count(stack) FROM calls") <= 1.02 * calls / 100 + threads
    assert database.value("SELECT sum(stops) FROM overhead WHERE name LIKE 'hip%'") < calls / 20


class Switch:
    """The first word of a tapped function's pad: a jump to the tap, or the first instruction of the breakpoint's
    pad."""
    JUMP, BREAKPOINT = b"\xe9", b"\x4c\x89\x5c\x24\xf8"

    def __init__(self, memory, function):
        self.memory = memory
        entry = os.pread(memory.fileno(), 9, function)
        at = next((lead for lead in (1, 2, 4) if entry[lead:lead + 1] == self.JUMP), None)
        self.pad = at and function + at + 5 + int.from_bytes(entry[at + 1:at + 5], "little", signed=True)
        word = os.pread(memory.fileno(), 8, self.pad) if self.pad else b""
        self.is_tapped = word[:1] == self.JUMP
        self.tap, self.rest = word[:5], word[5:]

    def turn(self):
        self.is_tapped = not self.is_tapped
        os.pwrite(self.memory.fileno(), (self.tap if self.is_tapped else self.BREAKPOINT) + self.rest, self.pad)


def switches_of(target, build, *names):
    library = build.runtimes / "v6" / "libamdhip64.so.6"
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    offsets = {words[2].split("@")[0]: int(words[0], 16) for words in map(str.split, symbols.splitlines())
               if len(words) == 3}
    base = min(begin for begin, *_, path in mappings(target.pid) if os.path.basename(path) == library.name)
    memory = open(target.proc("mem"), "r+b", buffering=0)
    switches = [Switch(memory, base + offsets[name]) for name in names]
    assert all(switch.is_tapped for switch in switches)
    return switches


@pytest.mark.parametrize("threads", [1, 4, 64])
def test_functions_change_the_engine_at_any_moment(threads, build, tmp_path):
    """As a promotion does it, but thousands of times, and under the calls of all threads."""
    command = [build.fade_run, "-qq", *TAPS, "-o", tmp_path / "run.db", "--", *build.command(f"steady {threads}")]
    target = Target(command, build.environment("v6"), tmp_path / "target")
    chance = random.Random(threads)
    try:
        assert target.hear() == "ready"
        target.pid = until(lambda: next(iter(harness.descendants(target.process.pid)[1:]), None), "the program")
        assert target.ask("go") == "going"
        target.calls_on(100 * threads)
        switches = switches_of(target, build, "hipMemcpy", "hipMemset", "hipGetDevice",
                               "hipDeviceSynchronize", "hipFree")
        for _ in range(TURNS):
            chance.choice(switches).turn()
            time.sleep(chance.choice((0, 0, 0.0001, 0.001)))
        assert target.ask("quiet").startswith("quiet ")
        assert target.end()[1] == 7
    finally:
        target.kill()
    database = harness.Database(tmp_path / "run.db")
    assert not harness.differences(target.counts(), harness.summed(database.counts("calls")))
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.rows("SELECT DISTINCT state FROM calls") == [("returned",)]
    begins = [begin for begin, in database.rows("SELECT start FROM calls ORDER BY id")]
    assert begins == sorted(begins)


@pytest.mark.parametrize("runtime", ["v5", "v6", "hard"])
def test_signal_handlers_see_no_address_of_a_tap(runtime, build, tmp_path):
    ran = harness.run_supervised(build, "where_signals_meet 3000", runtime, tmp_path, options=TAPS)
    assert (ran.status, ran.stdout) == (0, b"received 3000, 0 outside\n"), ran.stderr
    database = harness.Database(tmp_path / "run.db")
    assert not harness.differences(ran.total, harness.summed(database.counts("calls")))
    assert database.rows("SELECT DISTINCT state FROM calls") == [("returned",)]
    assert database.value("SELECT count(*) FROM calls WHERE failed AND name <> 'hipSetDevice'") == 0


def test_children_of_a_fork_have_taps_of_their_own(build, tmp_path):
    harness.run_supervised(build, "fork 4", "v6", tmp_path, options=TAPS)
    database = harness.Database(tmp_path / "run.db")
    calls = database.value("SELECT count(*) FROM calls WHERE name = 'hipMemset'")
    assert stops(database, "hipMemset") < calls


# ---------------------------------------------------------------- how fade goes
def kept_in_rings(pid):
    """KiB of memory in the rings of a process; None: it has no rings."""
    lines = iter(pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines())
    if not any("/memfd:fade taps" in line for line in lines):
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))


def sleeps(pid):
    """In nanosleep, clock_nanosleep, or one of them that an attachment has interrupted."""
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().split(" ")[0] in ("35", "230", "219")


class Tapped:
    """A program under fade-run that calls until it is told to stop."""

    def __init__(self, build, folder):
        self.database = folder / "run.db"
        command = [build.fade_run, "-qq", *TAPS, "-o", self.database, "--", "env",
                   "--ignore-signal=TERM", *build.command("steady 4")]
        self.target = Target(command, build.environment("v6"), folder / "target")
        assert self.target.hear() == "ready"
        self.fade = self.target.process
        self.target.pid = next(pid for pid in harness.descendants(self.fade.pid) if pid != self.fade.pid)
        assert self.target.ask("go") == "going"
        self.target.calls_on(2000)

    def runs_on(self):
        self.target.calls_on(2000)
        assert self.target.tracers() == {0}
        assert self.target.ask("quiet").startswith("quiet ")

    def end(self):
        self.target.process.stdin.close()
        until(lambda: not self.target.threads(), "the end")
        os.set_blocking(self.fade.stdout.fileno(), True)
        self.fade.stdout.close()


@pytest.fixture
def tapped(build, tmp_path):
    program = Tapped(build, tmp_path)
    yield program
    program.target.kill()


def test_the_program_lives_if_fade_is_killed(tapped):
    tapped.fade.kill()
    tapped.fade.wait()
    tapped.runs_on()
    tapped.end()


def test_nothing_is_left_in_the_text_if_fade_lets_go(tapped):
    tapped.fade.send_signal(signal.SIGTERM)
    time.sleep(0.4)  # sooner it would be one request, sent twice
    tapped.fade.send_signal(signal.SIGTERM)
    until(lambda: tapped.fade.poll() is not None, "fade-run's end")
    tapped.runs_on()
    assert differing_text(tapped.target)[0] == 0
    assert not kept_in_rings(tapped.target.pid)
    tapped.end()
    database = harness.Database(tapped.database)
    assert database.value("SELECT count(*) FROM calls WHERE state = 'returned'") > 2000
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0


# noqa: F811
def test_a_call_that_began_under_a_killed_fade_may_fail_after_the_next_one_has_gone(build, attach, tmp_path):
    """The second fade turns the taps of the first one off, so the call records nothing and asks nobody."""
    command = [build.fade_run, "-qq", *TAPS, "-o", tmp_path / "run.db", "--", *build.command("errors")]
    target = Target(command, build.environment("v6", FADE_STANDIN_DELAY="hipSetDevice:4s,hipFree:1s"),
                    tmp_path / "target")
    fade = target.process
    try:
        target.pid = until(lambda: next(iter(harness.descendants(fade.pid)[1:]), None), "the program")
        until(lambda: sleeps(target.pid), "the call")
        switches_of(target, build, "hipSetDevice")
        fade.kill()
        fade.wait()
        assert kept_in_rings(target.pid) > 0
        attach(target).has_come().leave()
        assert sleeps(target.pid), "too slow"
        calls = target.counts()["hipFree"]
        until(lambda: target.counts()["hipFree"] > calls, "the next slow call")
        assert kept_in_rings(target.pid) == 0
        until(lambda: not target.threads(), "the end")
        os.set_blocking(fade.stdout.fileno(), True)
        assert b"no error" in fade.stdout.read(), "it died"
    finally:
        target.kill()
        fade.stdout.close()
