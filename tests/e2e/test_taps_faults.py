"""Taps where something fails: the program behaves as alone, its calls are counted, and the recording says what
breakpoints record."""
import contextlib
import errno
import signal
import subprocess
import time

import pytest

import harness
from attaching import Target, mappings
from taps import TAPS, stops
from vanishing import Vanishing

CALLS = {"memfd_create": 319, "mmap": 9, "mprotect": 10, "madvise": 28}
ROUNDS = 300  # of tap_faults, twice
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def notes(database):
    return "\n".join(detail for detail, in database.rows("SELECT detail FROM lifecycle WHERE kind = 'note'"))


def run_both(build, line, folder, runtime="v6"):
    """Alone and under fade: the same. What fade said at the end, and the recording."""
    alone = harness.run_alone(build, line, runtime, folder)
    command = [build.fade_run, *TAPS, "-o", folder / "run.db", "--", *build.command(line)]
    watched = harness.run(command, build.environment(runtime), folder / "supervised")
    assert (watched.status, watched.stdout) == (alone.status, alone.stdout), watched.stderr
    assert watched.total == alone.total
    return watched, harness.Database(folder / "run.db")


def all_is_counted(watched, database):
    for source in ("call_stats", "calls"):
        assert not harness.differences(watched.total, harness.summed(database.counts(source))), source
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.rows("SELECT DISTINCT state FROM calls") == [("returned",)]


def is_said(watched, database, text):
    assert text in notes(database)
    assert text in " ".join(watched.stderr.decode().split())


# ---------------------------------------------------------------- memory
@pytest.mark.parametrize("limit, why", [
    ("as", "mmap: Cannot allocate memory"),
    ("memlock", "mmap: Resource temporarily unavailable"),
    ("nofile", "memfd_create: Too many open files"),
])
def test_a_limit_that_forbids_rings_leaves_breakpoints(limit, why, build, tmp_path):
    watched, database = run_both(build, f"tap_faults {limit}", tmp_path)
    all_is_counted(watched, database)
    is_said(watched, database,
            f"calls are recorded with breakpoints, not with taps: no memory for records can be shared with the "
            f"process: {why}")


@pytest.mark.parametrize("limit", ["data", "fsize"])
def test_limits_that_rings_do_not_count_for_change_nothing(limit, build, tmp_path):
    watched, database = run_both(build, f"tap_faults {limit}", tmp_path)
    all_is_counted(watched, database)
    assert not notes(database)
    assert stops(database, "hipDeviceSynchronize") < ROUNDS


def test_limit_of_file_size_that_fade_shares(build, tmp_path):
    """The memory file counts as a file of fade's."""
    command = ["sh", "-c", 'ulimit -f 20000; exec "$@"', "-", build.fade_run, *TAPS,
               "-o", tmp_path / "run.db", "--", *build.command("tap_faults none")]
    watched = harness.run(command, build.environment("v6"), tmp_path / "supervised")
    assert watched.status == 7
    database = harness.Database(tmp_path / "run.db")
    all_is_counted(watched, database)
    is_said(watched, database, "no memory for records can be shared with the process: ftruncate: File too large")


def test_a_program_that_locks_its_memory_does_not_get_all_of_the_rings(build, tmp_path):
    watched, database = run_both(build, "tap_faults locked", tmp_path)
    all_is_counted(watched, database)
    assert not notes(database)
    assert stops(database, "hipDeviceSynchronize") < ROUNDS
    alone, under_fade = (int((tmp_path / folder / "locked").read_text()) for folder in ("alone", "supervised"))
    assert under_fade < alone + (8 << 10)


# ---------------------------------------------------------------- system calls that a filter forbids
@pytest.mark.parametrize("error", [0, errno.EPERM])
@pytest.mark.parametrize("call", CALLS)
def test_filter_before_the_first_call(call, error, build, tmp_path):
    watched, database = run_both(build, f"tap_faults filter {error} {CALLS[call]}", tmp_path)
    all_is_counted(watched, database)
    is_said(watched, database,
            "not with taps: no system call can be made in the process: it has installed a seccomp filter")


@pytest.mark.parametrize("error", [0, errno.EPERM])
@pytest.mark.parametrize("call", CALLS)
def test_filter_between_calls(call, error, build, tmp_path):
    """The rings are there, so nothing needs to be asked of the kernel."""
    watched, database = run_both(build, f"tap_faults later {error} {CALLS[call]}", tmp_path)
    all_is_counted(watched, database)
    assert not notes(database)
    assert stops(database, "hipDeviceSynchronize") < ROUNDS


@pytest.mark.parametrize("call, error", [("memfd_create", 0), ("memfd_create", errno.EPERM), ("madvise", errno.EPERM)])
def test_filter_that_the_program_is_started_with(call, error, build, tmp_path):
    watched, database = run_both(build, f"tap_faults started {error} {CALLS[call]}", tmp_path)
    all_is_counted(watched, database)
    is_said(watched, database, f"not with taps: its seccomp filter forbids {call}")


def test_filter_that_cannot_be_seen(build, tmp_path):
    """The kernel shows filters only to root without a filter of its own."""
    line = f"tap_faults started 0 {CALLS['memfd_create']}"
    command = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", build.fade_run,
               *TAPS, "-o", tmp_path / "run.db", "--", *build.command(line)]
    watched = harness.run(command, build.environment("v6"), tmp_path / "supervised")
    assert (watched.status, watched.stdout) == (7, b"before\nafter\n")
    database = harness.Database(tmp_path / "run.db")
    all_is_counted(watched, database)
    is_said(watched, database, "not with taps: what its seccomp filter forbids cannot be seen")


# ---------------------------------------------------------------- the clock
def test_a_clock_that_cannot_be_used_is_named(build, tmp_path):
    (tmp_path / "clock").write_text("hpet\n")
    mount = ["unshare", "-m", "sh", "-c", f'mount --bind "$0" {CLOCK} && "$@"', tmp_path / "clock"]
    if subprocess.run([*mount, "true"], capture_output=True).returncode:
        pytest.skip("no other file can be mounted over the kernel's clock source")
    command = [build.fade_run, *TAPS, "-o", tmp_path / "run.db", "--", *build.command("tap_faults none")]
    watched = harness.run([*mount, *command], build.environment("v6"), tmp_path / "supervised")
    assert watched.status == 7
    all_is_counted(watched, harness.Database(tmp_path / "run.db"))
    assert "the kernel's clock source is hpet, not tsc or kvm-clock; calls were recorded with breakpoints" in " ".join(
        watched.stderr.decode().split())


# ---------------------------------------------------------------- programs that spoil what fade needs
@pytest.mark.parametrize("how", ["zeros", "noise"])
def test_rings_that_the_program_writes_over(how, build, tmp_path):
    """Records that fade had not read are lost, and that is said. From then on breakpoints record."""
    watched, database = run_both(build, f"tap_faults {how}", tmp_path)
    is_said(watched, database,
            "calls are recorded with breakpoints, not with taps: the program has written over fade's memory")
    assert database.rows("SELECT n, reason FROM drops") == [(1, "the program has written over fade's memory")]
    for name in ("hipMalloc", "hipMemset", "hipFree"):
        assert ROUNDS <= database.value(f"SELECT count(*) FROM calls WHERE name = '{name}'") <= 2 * ROUNDS
    assert database.value("SELECT count(*) FROM calls WHERE failed") == 0
    begins = [begin for begin, in database.rows("SELECT start FROM calls ORDER BY id")]
    assert begins == sorted(begins)


def test_rings_that_the_program_unmaps(build, tmp_path):
    """It dies of that as soon as it calls, and the recording ends in order."""
    watched = harness.run_supervised(build, "tap_faults unmapped", "v6", tmp_path, options=TAPS)
    assert (watched.status, watched.stdout) == (-signal.SIGSEGV, b"before\n")
    database = harness.Database(tmp_path / "run.db")
    assert database.rows("SELECT clean FROM sessions") == [(1,)]
    assert database.rows("SELECT exit_signal FROM processes") == [(signal.SIGSEGV,)]
    assert database.value("SELECT count(*) FROM calls WHERE name = 'hipMemset'") == ROUNDS


@pytest.mark.parametrize("how", ["wiped", "mapped", "rewritten"])
def test_text_that_the_program_puts_back(how, build, tmp_path):
    alone = Vanishing(build, tmp_path / "alone", how, supervised=False).end()
    program = Vanishing(build, tmp_path / how, how, options=("--engine", "taps"))
    program.await_rows()
    status, out, err = program.end()
    assert (status, out) == alone[:2] and "took out breakpoints" in err
    (at, value, detail), = program.rows()
    assert value > 0 and "stand again" in detail
    database = harness.Database(program.path)
    assert database.value(f"SELECT count(*) FROM calls WHERE name = 'hipDeviceSynchronize' AND start >= {at}") == 10
    assert database.rows("SELECT DISTINCT state FROM calls") == [("returned",)]


# ---------------------------------------------------------------- a fade that is late
@pytest.fixture
def calling(build, tmp_path):
    """Four threads that call under fade-run until they are told to stop."""
    command = [build.fade_run, "-qq", *TAPS, "-o", tmp_path / "run.db", "--", *build.command("steady 4")]
    target = Target(command, build.environment("v6"), tmp_path / "target")
    assert target.hear() == "ready"
    assert target.ask("go") == "going"
    target.calls_on(2000)
    yield target
    with contextlib.suppress(ProcessLookupError):
        target.process.send_signal(signal.SIGCONT)
    target.kill()


def test_threads_wait_while_fade_is_stopped_and_nothing_is_lost(calling, tmp_path):
    calling.process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    full = calling.counts()
    time.sleep(2)
    assert calling.counts() == full
    calling.process.send_signal(signal.SIGCONT)
    calling.calls_on(2000)
    assert calling.ask("quiet").startswith("quiet ")
    assert calling.end()[1] == 7
    database = harness.Database(tmp_path / "run.db")
    assert not harness.differences(calling.counts(), harness.summed(database.counts("calls")))
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.rows("SELECT DISTINCT state FROM calls") == [("returned",)]
    begins = [begin for begin, in database.rows("SELECT start FROM calls ORDER BY id")]
    assert begins == sorted(begins)


def test_a_recording_that_is_full_still_counts_all_calls(build, tmp_path):
    watched = harness.run_supervised(build, "threads 4 5000", "v6", tmp_path, options=(*TAPS, "--max-size", "3M"))
    assert watched.status == 0
    database = harness.Database(tmp_path / "run.db")
    assert not harness.differences(watched.total, harness.summed(database.counts("call_stats")))


# ---------------------------------------------------------------- unwinders that come late
@pytest.mark.parametrize("library", ["shared", pytest.param("own", marks=pytest.mark.xfail(
    strict=True,
    reason="a limit, see fade-run(1): an unwinder that no library exports cannot be told of the frames of taps"))])
def test_exceptions_of_a_library_that_comes_late_pass_through_calls(library, build, tmp_path):
    watched, database = run_both(build, f"late_unwinder {{tracees}}/libunwinder_{library}.so 20", tmp_path)
    assert watched.stdout == b"caught 20\n"
    assert database.value("SELECT count(*) FROM calls WHERE name = 'hipLaunchHostFunc'") == 120
    assert stops(database, "hipLaunchHostFunc") < 60


def test_an_unwinder_comes_and_goes_under_the_calls_of_threads(build, tmp_path):
    """It is not called before the loader has relocated it, nor after it has gone."""
    watched = harness.run_supervised(build, "late_unwinder churn 300", "v6", tmp_path, options=TAPS)
    assert (watched.status, watched.stdout) == (0, b"churned\n"), watched.stderr
    all_is_counted(watched, harness.Database(tmp_path / "run.db"))


# ---------------------------------------------------------------- many threads, and children
def test_more_threads_than_rings_are_counted_and_named(build, tmp_path):
    watched, database = run_both(build, "threads 1000 3 together", tmp_path)
    all_is_counted(watched, database)
    is_said(watched, database, "calls of some threads are recorded with breakpoints, not with taps: ")


def rings_of(pid):
    return [inode for *_, inode, path in mappings(pid) if "fade taps" in path]


def test_a_child_has_the_rings_of_its_parent_until_it_gets_its_own(build, tmp_path):
    """A signal handler may fork in the middle of a tap, and the child then goes on writing."""
    command = [build.fade_run, "-qq", *TAPS, "-o", tmp_path / "run.db", "--", *build.command("tap_children")]
    target = Target(command, build.environment("v6"), tmp_path / "target")
    try:
        parent, child = map(int, target.hear().split())
        assert len(rings_of(parent)) == 1 and rings_of(child) == rings_of(parent)
        assert target.ask("call") == "called"
        assert len(rings_of(child)) == 1 and rings_of(child) != rings_of(parent)
        assert target.end()[1] == 7
    finally:
        target.kill()
