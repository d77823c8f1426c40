"""Ranges that programs mark with roctx and NVTX, the steps made from them, waits, and times without calls."""
import re
import subprocess
import sys

import pytest

import attaching
import harness
from attaching import attach  # noqa: F401 (fixture)

ROCTX, SDK, NVTX = "libroctx64.so.4", "librocprofiler-sdk-roctx.so.1", "libnvToolsExt.so.1"

# As torch.cuda.nvtx does on ROCm: torch/csrc calls roctx of the library it is linked with; here ctypes does.
TORCH_LIKE = """
import contextlib, ctypes, sys, threading
hip, roctx = ctypes.CDLL("libamdhip64.so.6"), ctypes.CDLL(sys.argv[1])
roctx.roctxRangeStartA.restype = ctypes.c_uint64
roctx.roctxRangeStop.argtypes = [ctypes.c_uint64]

class nvtx:
    range_push = staticmethod(lambda message: roctx.roctxRangePushA(message.encode()))
    range_pop = staticmethod(lambda: roctx.roctxRangePop())
    range_start = staticmethod(lambda message: roctx.roctxRangeStartA(message.encode()))
    range_end = staticmethod(lambda handle: roctx.roctxRangeStop(handle))
    mark = staticmethod(lambda message: roctx.roctxMarkA(message.encode()))

    @staticmethod
    @contextlib.contextmanager
    def range(message, *args, **kwargs):
        nvtx.range_push(message.format(*args, **kwargs))
        try:
            yield
        finally:
            nvtx.range_pop()

def malloc(size):
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer

def backward(grad):
    assert hip.hipMemset(grad, 0, ctypes.c_size_t(64)) == 0

grad = malloc(1024)
epoch = nvtx.range_start("epoch 0 größe")
for step in range(5):
    with nvtx.range("train_step {}", step):
        with nvtx.range("forward"):
            batch = malloc(4096)
            for _ in range(3):
                assert hip.hipMemcpy(batch, bytes(256), ctypes.c_size_t(256), 1) == 0
        with nvtx.range("backward"):
            thread = threading.Thread(target=backward, args=(grad,))
            thread.start()
            thread.join()
        if step == 3:
            for _ in range(4):
                assert hip.hipDeviceSynchronize() == 0
        if step != 4:
            assert hip.hipFree(batch) == 0
nvtx.mark("saved")
nvtx.range_end(epoch)
"""


@pytest.fixture
def marked(build, tmp_path):
    """Runs a command with the stand-ins of the marker libraries under fade-run; gives the database and what the
    libraries counted."""
    def run(command, *options, folder="markers", name="run.db", status=0, **environment):
        env = build.environment("v6", **environment)
        env["LD_LIBRARY_PATH"] = f"{build.runtimes / folder}:{build.runtimes / 'markers'}:{env['LD_LIBRARY_PATH']}"
        words = [build.fade_run, "-q", *options, "-o", tmp_path / name, "--", *command]
        ran = harness.run(words, env, tmp_path / f"in-{name}")
        assert ran.status == status, ran.stderr
        return harness.Database(tmp_path / name), ran
    return run


@pytest.fixture
def ranges(build, marked):
    return lambda words, *options, **more: marked([build.tracees / "ranges", *words.split()], *options, **more)


@pytest.fixture
def torch_like(marked):
    return lambda *options, **more: marked([sys.executable, "-c", TORCH_LIKE, ROCTX], *options, **more)


@pytest.fixture
def query(build, tmp_path):
    def ask(*words, name="run.db"):
        done = subprocess.run([build.fade_query, tmp_path / name, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


def nothing_odd(database):
    return database.rows("SELECT kind, n FROM range_faults "
                         "UNION ALL SELECT text, 1 FROM findings WHERE finding = 'unbalanced-ranges'") == []


# ---------------------------------------------------------------- ranges
@pytest.mark.parametrize("library", [ROCTX, SDK, NVTX])
def test_every_marker_call_is_seen_once(ranges, library):
    database, ran = ranges(f"{library} push=outer push=inner launch=2 pop mark=here pop start=s stop again=20",
                           "-e", "all,hot")
    assert harness.differences(ran.total, database.counts("call_stats")[next(iter(ran.counts))]) == []
    assert database.rows("SELECT name, kind, sum(n) FROM range_stats GROUP BY name ORDER BY name") == [
        ("here", "mark", 20), ("inner", "range", 20), ("outer", "range", 20), ("s", "start-stop", 20)]
    assert nothing_odd(database)


def test_calls_belong_to_their_ranges(ranges):
    database, _ = ranges(f"{ROCTX} launch push=step launch=2 push=copying copy pop launch=3 pop launch")
    found = database.rows("SELECT range_name, name, count(*) FROM range_calls GROUP BY range_name, name ORDER BY 1, 2")
    assert found == [("copying", "hipFree", 1), ("copying", "hipMalloc", 1), ("copying", "hipMemcpy", 1),
                     ("step", "hipFree", 1), ("step", "hipLaunchKernel", 5), ("step", "hipMalloc", 1),
                     ("step", "hipMemcpy", 1)]


def test_a_library_that_hands_on_to_another_counts_once(ranges):
    database, _ = ranges(f"{ROCTX} push=a push=b pop pop again=3", folder="markers_forward")
    assert database.value("SELECT count(*) FROM modules WHERE role = 'roctx'") == 2
    assert database.rows("SELECT name, n FROM range_stats ORDER BY name") == [("a", 3), ("b", 3)]
    assert nothing_odd(database)


def test_threads_nest_by_themselves(ranges):
    database, _ = ranges(f"{ROCTX} push=main threads=8 in_thread start=across stop pop")
    assert database.rows(
        "SELECT name, depth, count(DISTINCT tid), count(*) FROM ranges WHERE name <> 'across' GROUP BY name, depth "
        "ORDER BY name") == [
        ("main", 0, 1, 1), ("worker", 0, 8, 8)]
    assert database.rows("SELECT tid <> end_tid, ended_by FROM ranges WHERE name = 'across'") == [(1, "program")]
    assert nothing_odd(database)


def test_what_a_fork_takes_along_is_its_parents(ranges):
    database, _ = ranges(f"{ROCTX} push=parent fork pop")
    assert database.rows("SELECT name, ended_by FROM ranges ORDER BY id") == [("parent", "program"),
                                                                              ("of the child", "thread")]
    assert database.rows("SELECT kind, n FROM range_faults") == [("push not seen", 1)]


def test_an_exec_ends_what_is_open(build, ranges):
    database, _ = ranges(f"{ROCTX} push=before start=too exec={build.tracees}/plain")
    assert set(database.rows("SELECT name, ended_by FROM ranges")) == {("before", "exec"), ("too", "exec")}


def test_a_death_ends_what_is_open(ranges):
    database, _ = ranges(f"{ROCTX} push=doing start=too launch kill", status=-9)
    assert database.rows("SELECT name, ended_by FROM ranges") == [("doing", "thread"), ("too", "process")]


def test_unbalanced_pops_are_counted(ranges):
    database, _ = ranges(f"{ROCTX} pop push=a pop pop push=left")
    assert database.rows("SELECT kind, n FROM range_faults") == [("pop without push", 2)]
    assert database.rows("SELECT severity, text FROM findings WHERE finding = 'unbalanced-ranges'") == [
        ("info", "2 ranges were closed that were not open: pop without push.")]
    assert database.rows("SELECT name, ended_by FROM ranges ORDER BY id") == [("a", "program"), ("left", "thread")]


def test_names_of_nvtx(ranges):
    database, _ = ranges(f"{NVTX} wide=größe attributes pop pop", LC_ALL="C.UTF-8", LANG="C.UTF-8")
    assert database.rows("SELECT name FROM ranges ORDER BY id") == [("größe",), ("(name not read)",)]


def test_marks_are_no_use_of_the_gpu(ranges):
    database, _ = ranges(f"{ROCTX} push=cpu pop mark=x")
    assert database.value("SELECT verdict FROM session_verdicts") == "LOADED_UNUSED"
    assert database.rows("SELECT DISTINCT category FROM function_categories WHERE name LIKE 'roctx%'") == [("MARKER",)]


def test_ranges_can_be_left_out(ranges):
    database, _ = ranges(f"{ROCTX} push=a launch pop", "-e", "all,-marker")
    assert database.counts("call_stats") and database.rows("SELECT * FROM ranges") == []


def test_coming_in_the_middle_of_a_range(build, tmp_path, attach):
    program = ("import ctypes, sys\nhip, roctx = ctypes.CDLL('libamdhip64.so.6'), ctypes.CDLL(sys.argv[1])\n"
               "roctx.roctxRangePushA(b'before')\nprint('ready', flush=True)\n"
               "for line in sys.stdin:\n    roctx.roctxRangePop()\n    roctx.roctxRangePushA(b'step')\n    "
               "hip.hipDeviceSynchronize()\n"
               "    roctx.roctxRangePop()\n    roctx.roctxRangePushA(b'left open')\n    print('done', flush=True)\n")
    environment = build.environment("v6")
    environment["LD_LIBRARY_PATH"] = f"{build.runtimes / 'markers'}:{environment['LD_LIBRARY_PATH']}"
    target = attaching.Target([sys.executable, "-c", program, ROCTX], environment, tmp_path / "target")
    try:
        assert target.hear() == "ready"
        attachment = attach(target, "--step", "range:step").has_come()
        assert target.ask("go") == "done"
        database = attachment.leave()
        assert target.end()[1] == 0
    finally:
        target.kill()
    assert database.rows("SELECT name, ended_by FROM ranges ORDER BY id") == [("step", "program"),
                                                                              ("left open", "recording")]
    assert database.rows("SELECT kind, n FROM range_faults") == [("push not seen", 1)]
    assert database.rows("SELECT idx, calls, complete FROM steps") == [(1, 1, 1)]


# ---------------------------------------------------------------- as torch.cuda.nvtx
def test_a_python_program_marks_as_torch_does(torch_like, query):
    database, ran = torch_like()
    seen = {name: n for names in database.counts("call_stats").values() for name, n in names.items()
            if name.startswith("roctx")}
    assert seen == {name: n for name, n in ran.total.items() if name.startswith("roctx")}
    assert database.rows("SELECT name, depth FROM ranges WHERE name LIKE 'train_step%' ORDER BY id") == [
        (f"train_step {n}", 0) for n in range(5)]
    assert database.rows(
        "SELECT r.name, count(*) FROM ranges r JOIN ranges p ON p.id = r.parent_id WHERE p.name LIKE 'train_step%' "
        "GROUP BY 1") == [("backward", 5), ("forward", 5)]
    assert database.rows("SELECT kind, name FROM ranges WHERE kind <> 'range' ORDER BY id") == [
        ("start-stop", "epoch 0 größe"), ("mark", "saved")]
    assert "backward\trange\t5" in query("ranges")
    assert nothing_odd(database)


def test_steps_of_ranges(torch_like, query):
    # without the group of markers: steps need it
    database, _ = torch_like("--step", "range:train_step*", "-e", "mem,copy,sync")
    found = database.rows(
        "SELECT idx, name, complete, calls, copies, copied_bytes, growth_bytes, errors FROM steps ORDER BY idx")
    # malloc, 3 copies, memset in another thread, free
    usual = [(n + 1, f"train_step {n}", 1, 6, 3, 768, 0, 0) for n in range(5)]
    usual[3] = (4, "train_step 3", 1, 10, 3, 768, 0, 0)
    usual[4] = (5, "train_step 4", 1, 5, 3, 768, 4096, 0)
    assert found == usual
    assert database.rows(
        "SELECT c.category, sum(c.calls) FROM step_calls c JOIN steps s ON s.id = c.step_id WHERE s.idx = 4 GROUP BY "
        "1 ORDER BY 1") == [
        ("COPY", 4), ("MEMORY", 2), ("SYNC", 4)]
    assert query("steps", "--columns", "step,calls").splitlines()[1:] == ["1\t6", "2\t6", "3\t6", "4\t10", "5\t5"]
    assert re.search(r"5 steps of thread .*: train_step 0 and 4 other names", query("steps", "--format", "table"))


def test_a_slow_step_is_told_with_what_differed(build, ranges, query):
    slow = "push=step launch pop " * 6 + "push=step sync pop " + "push=step launch pop " * 3
    ranges(f"{ROCTX} {slow}", "--step", "range:step", FADE_STANDIN_DELAY="hipDeviceSynchronize:1500ms")
    assert "7\tSYNC\t1\t0" in query("steps", "--slow", "--columns", "step,category,calls,usual_calls",
                                    "--sort", "-more_ns", "--limit", "1")
    page = " ".join(query("steps", "--format", "table").split())
    assert "10 steps of thread" in page and re.search(r"steps? took more than 1\.5 times the median: step 7 \(", page)
    assert re.search(r"differs step 7, against step \d+: \d\S* s more in calls of category SYNC", page)


def test_steps_between_calls(ranges):
    database, _ = ranges(f"{ROCTX} launch sync launch=2 sync launch=3 copy sync launch",
                         "--step", "hipDeviceSynchronize",
                         FADE_STANDIN_DELAY="hipDeviceSynchronize:20ms")
    assert database.rows("SELECT idx, name, launches, copies, waited_ns > 0 FROM steps") == [
        (1, "hipDeviceSynchronize", 2, 0, 1), (2, "hipDeviceSynchronize", 3, 1, 1)]
    database, _ = ranges(f"{ROCTX} launch sync again=9", "--step", "hipDeviceSynchronize/4",
                         "-e", "kernel", name="every.db")
    assert database.rows("SELECT idx, launches FROM steps") == [(1, 4), (2, 4)]


def test_steps_that_cannot_be_understood_start_nothing(build, tmp_path):
    command = [build.fade_run, "--step", "hipDeviceSyncronize", "-o", tmp_path / "run.db",
               "--", build.tracees / "ranges", ROCTX]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert ran.status == 2 and b"did you mean 'hipDeviceSynchronize'?" in ran.stderr
    assert ran.stdout == b"" and not (tmp_path / "run.db").exists()


def test_without_steps_the_page_says_how_to_have_some(ranges, query):
    ranges(f"{ROCTX} push=train_step launch pop again=5")
    page = " ".join(query("steps", "--format", "table").split())
    assert "No steps were recorded" in page and "--step 'range:train_step'" in page


# ---------------------------------------------------------------- waits and idle times
def test_waits_by_who_called(build, ranges, query):
    database, _ = ranges(f"{ROCTX} sync copy again=5", FADE_STANDIN_DELAY="hipDeviceSynchronize:20ms")
    name, kind, caller, calls, blocked = database.rows(
        "SELECT name, kind, caller_library, calls, blocked_ns FROM waits ORDER BY blocked_ns DESC")[0]
    assert (name, kind, caller, calls) == ("hipDeviceSynchronize", "sync", str(build.tracees / "ranges"), 5)
    assert blocked >= 100e6
    assert database.rows("SELECT name, calls FROM waits WHERE kind = 'copy'") == [("hipMemcpy", 5)]
    assert query("waits").splitlines()[1].startswith("hipDeviceSynchronize\tsync\t")
    assert query("waits", "--by-line").splitlines()[0].startswith("line\t")


def test_waits_by_line_leave_nothing_out(torch_like, query):
    """By default few calls have a stack: what the others waited is told, too."""
    for options in ((), ("-k", "all")):
        database, _ = torch_like(*options, name=f"{len(options)}.db",
                                 FADE_STANDIN_DELAY="hipDeviceSynchronize:1ms,hipMemcpy:1ms")
        rows = [row.split("\t") for row in query("waits", "--by-line", "--columns", "line,name,calls,blocked_ns",
                                                 name=f"{len(options)}.db").splitlines()[1:]]
        assert sum(int(row[3]) for row in rows) == database.value("SELECT sum(blocked_ns) FROM waits") > 0
        assert sorted((row[1], int(row[2])) for row in rows if row[0].startswith("(no stack")) == (
            [] if options else [("hipDeviceSynchronize", 3), ("hipMemcpy", 14)])


def test_waits_agree_with_the_calls(ranges):
    """But for what fade itself costs, which is in the times of single calls alone."""
    database, _ = ranges(f"{ROCTX} sync copy sync again=30",
                         FADE_STANDIN_DELAY="hipDeviceSynchronize:1ms,hipMemcpy:1ms")
    cost = database.value("SELECT call_ns FROM call_costs WHERE form = 'jump'")
    assert database.rows("SELECT name, calls, blocked_ns, max_ns FROM waits ORDER BY name") == database.rows(
        f"SELECT name, count(*), sum(duration - {cost}), max(duration) - {cost} FROM calls WHERE name IN "
        f"('hipDeviceSynchronize', 'hipMemcpy') GROUP BY name ORDER BY name")


def test_idle_times_are_where_no_call_is(build, marked, query):
    program = ("import ctypes, time\nhip = ctypes.CDLL('libamdhip64.so.6')\nhip.hipDeviceSynchronize()\n"
               "time.sleep(1.5)\nhip.hipDeviceReset()\n")
    database, _ = marked([sys.executable, "-c", program])
    rows = database.rows(
        "SELECT i.duration, b.name, a.name FROM idle_times i LEFT JOIN calls b ON b.id = i.before_call_id LEFT JOIN "
        "calls a ON a.id = i.after_call_id")
    between, = [row for row in rows if row[1:] == ("hipDeviceSynchronize", "hipDeviceReset")]
    assert between[0] >= 1.5e9
    assert [row for row in rows if row[1] is None and row[2] == "hipDeviceSynchronize"]  # until the first call
    # Nothing was called in any of them.
    assert database.value(
        "SELECT count(*) FROM idle_times i JOIN calls c ON c.start < i.\"end\" AND c.\"end\" > i.start") == 0
    assert "hipDeviceSynchronize" in query("idle") and "(begin)" in query("idle")
