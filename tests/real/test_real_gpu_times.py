"""--gpu-times on AMD's runtimes 6.4.3 and 7.2.4: each time in the recording is the one that the simulated card counted,
for that kernel.

Queues, packets, signals, names and questions are AMD's own. Only the last step is not: libhsakmt's model has no clock
counters, so model/clock.c answers in the runtime's place. 6.4.3 runs on the HSA runtime of 7.2.4, because its own
cannot simulate a card. 5.2.3 has no simulated card: on the HSA runtime of 7.2.4 it stops at memory and cards that it
does not know, and for a card that it knows the model lacks a request of the driver. It is only asked for times, which
it does not have: the entries of its functions have another form.
"""
import collections
import sys

import pytest

import real_runs as runs
import real_world as world

KERNEL = 2  # a type of packets
CLOCK = ("--probes", str(world.MODEL / "clock.probes"))


class Told:
    """What the card counted: of each packet with a signal its type, its kernel's object, its begin and end."""

    def __init__(self, path):
        rows = [list(map(int, line.split())) for line in path.read_text().splitlines()]
        self.packets = collections.Counter((start, end) for _, _, _, start, end in rows)
        self.kernels = {(start, end): kernel for kind, kernel, _, start, end in rows if kind == KERNEL}


@pytest.fixture(params=["breakpoints", "taps", "auto"])
def engine(request):
    return "--engine", request.param


@pytest.fixture
def timed(hip724, supervised, tmp_path):
    def run(program, *options, release=hip724):
        times = tmp_path / "times"
        watched = supervised(release, program, "--gpu-times", *CLOCK, "-E", f"HSA_MODEL_TIMES={times}", *options)
        assert watched.code == 0, watched.stderr
        return watched, Told(times)
    return run


def works(database):
    boot, = runs.rows(database, "SELECT boot_ns FROM session_")[0]
    found = runs.rows(database, """SELECT w.kind, w.name, c.name, w.start, w.end, k.object FROM gpu_work w
        JOIN gpu_work_ r ON r.id = w.id LEFT JOIN gpu_kernel_ k ON k.id = r.kernel
        LEFT JOIN calls c ON c.id = w.call ORDER BY w.id""")
    return [(kind, name, call, start + boot, end + boot, kernel) for kind, name, call, start, end, kernel in found]


@pytest.mark.parametrize("program", ["launch", "paths", "module", "train"])
def test_every_time_is_that_of_the_card(timed, engine, program):
    check_times(*timed(program, *engine))


@pytest.mark.parametrize("program", ["launch", "module"])
def test_every_time_of_643_is_that_of_the_card(hip643, timed, engine, program):
    check_times(*timed(program, *engine, release=hip643))


def check_times(watched, told):
    found = works(watched.database)
    assert found
    for kind, name, call, start, end, kernel in found:
        assert told.packets[start, end], (kind, name, call)
        assert kernel is None or told.kernels[start, end] == kernel, (kind, name, call)
        assert call is not None, (kind, name)
    assert runs.rows(watched.database, "SELECT sum(unread), sum(untied), sum(untold) FROM gpu_coverage") == [(0, 0, 0)]


def test_every_kernel_of_every_way_to_launch_has_a_time(timed, engine):
    watched, _ = timed("paths", *engine)
    ran = {fact.split()[1]: int(fact.split()[2]) for fact in watched.facts() if fact.startswith("ran ")}
    found = collections.Counter(name.split("(")[0] for kind, name, *_ in works(watched.database) if kind == "kernel")
    assert found == ran
    calls = {(call, name.split("(")[0]) for kind, name, call, *_ in works(watched.database) if kind == "kernel"}
    assert {("hipLaunchKernel", "arrows"), ("hipGraphLaunch", "captured"),
            ("hipModuleLaunchKernel", "from_file")} <= calls


def test_the_program_behaves_as_without(hip724, timed):
    watched, _ = timed("paths")
    runs.assert_same_behaviour(runs.native(hip724, "paths", GPU_FORCE_QUEUE_PROFILING="1"), watched)


def test_a_device_without_a_clock_is_said_to_have_no_times(hip724, supervised):
    """The model alone: AMD's runtime answers with nonsense, and no time is made of it."""
    watched = supervised(hip724, "launch", "--gpu-times")
    assert runs.rows(watched.database, "SELECT count(*) FROM gpu_work") == [(0,)]
    seen, timed, untold = runs.rows(watched.database, "SELECT seen, timed, untold FROM gpu_coverage")[0]
    assert seen >= 4 and timed == 0 and untold >= 4


ROUNDS = 500
ASKS = f"""import ctypes
hsa = ctypes.CDLL("libhsa-runtime64.so.1")
times = (ctypes.c_uint64 * 2)(1, 2)
answers = set()
for _ in range({ROUNDS}):
    answers.add(hsa.hsa_amd_profiling_get_async_copy_time(ctypes.c_uint64(0), times))
    answers.add(hsa.hsa_amd_profiling_get_dispatch_time(ctypes.c_uint64(0), ctypes.c_uint64(0), times))
    hsa.hsa_system_get_info(2, times)
print("fact", *answers, *times)
"""


def test_questions_to_523_are_seen_and_answered_as_without(hip523, supervised, engine, tmp_path):
    """Its HSA was not begun, so each question fails."""
    (tmp_path / "asks.py").write_text(ASKS)
    program = [sys.executable, tmp_path / "asks.py"]
    libraries = hip523.variables("asks")
    alone = runs.run(program, {**hip523.environment, **libraries})
    database = tmp_path / "asks.db"
    options = ["-q", "--gpu-times", *engine, "-E", f"LD_LIBRARY_PATH={libraries['LD_LIBRARY_PATH']}", "-o", database]
    watched = runs.run([supervised.fade_run, *options, "--", *program], hip523.environment)
    assert (watched.code, watched.stdout) == (alone.code, alone.stdout) and alone.facts(), watched.stderr
    calls = dict(runs.rows(database, "SELECT name, calls FROM overhead WHERE name LIKE 'hsa%'"))
    for name in ("hsa_amd_profiling_get_async_copy_time", "hsa_amd_profiling_get_dispatch_time", "hsa_system_get_info"):
        assert calls[name] == ROUNDS
    if "taps" in engine:
        tapped = dict(runs.rows(database, "SELECT name, tapped FROM overhead WHERE name LIKE 'hsa%'"))
        assert tapped["hsa_amd_profiling_get_dispatch_time"] > ROUNDS - 10
        assert tapped["hsa_system_get_info"] == 0


def test_taps_see_the_calls_of_724(timed):
    watched, _ = timed("train", "--engine", "taps")
    rows = runs.rows(watched.database,
                     "SELECT name, calls, tapped FROM overhead WHERE name LIKE 'hsa_queue_add%' OR name LIKE "
                     "'hsa_amd%'")
    assert rows and all(tapped > 0 and calls - tapped <= 2 for _, calls, tapped in rows), rows
