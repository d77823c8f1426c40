"""--gpu-times: every work of the GPU has the time that the stand-in gave it, and belongs to the call that put it to
run."""

import collections
import subprocess
import time

import pytest

import attaching
import harness
from attaching import attach  # noqa: F401
from gpu_works import environment, length_of, recorded, works_of
from taps import stops

ENGINES = ["breakpoints", "taps", "auto"]


def works_told(database):
    """The same of a recording. Calls of a thread are numbered as they come."""
    (boot,) = database.rows("SELECT boot_ns FROM session_")[0]
    numbers, works = {}, collections.defaultdict(list)
    last = collections.Counter()
    for tid, call in database.rows(
        "SELECT DISTINCT c.tid, w.call FROM gpu_work w JOIN calls c ON c.id = w.call ORDER BY w.call"
    ):
        last[tid] += 1
        numbers[call] = tid, last[tid]
    for call, kind, name, stream, start, end, size in database.rows(
        "SELECT call, kind, name, stream, start, end, coalesce(bytes, 0) FROM gpu_work WHERE kind <> 'barrier'"
    ):
        works[numbers[call]].append((kind, name, stream, start + boot, end + boot, size))
    return {key: sorted(value) for key, value in works.items()}


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_launches_of_four_threads_are_tied_rightly(build, tmp_path, engine):
    database, works = recorded(build, "gpu_work 2500 4 8", tmp_path, "--engine", engine)
    assert sum(map(len, works.values())) > 17_000
    assert works_told(database) == works
    assert database.value("SELECT count(*) FROM gpu_work WHERE call IS NULL OR device IS NOT 0 OR tid IS NULL") == 0
    seen, timed, untimed, *rest = database.rows(
        "SELECT seen, timed, untimed, unread, untied, untold FROM gpu_coverage"
    )[0]
    assert (seen, timed, untimed) == (sum(map(len, works.values())),) * 2 + (0,) and rest == [0, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("runtime", ["v5", "v7"])
def test_other_releases(build, tmp_path, runtime, engine):
    database, works = recorded(build, "gpu_work 600 2 4", tmp_path, "--engine", engine, runtime=runtime)
    assert works_told(database) == works


ASKED = ("hsa_queue_add_write_index_screlease", "hsa_amd_profiling_get_dispatch_time")


@pytest.mark.parametrize("runtime", ["v5", "v6"])
def test_taps_record_them_without_stops(build, tmp_path, runtime):
    database, works = recorded(build, "gpu_work 2000 1 2", tmp_path, "--engine", "taps", runtime=runtime)
    copies = "hsa_amd_memory_async_copy" + ("_on_engine" if runtime == "v6" else "")
    assert len(works) > 2000
    for name in ASKED + ((copies,) if runtime == "v6" else ()) + ("hsa_amd_profiling_get_async_copy_time",):
        assert stops(database, name) < 30, name


def is_tied_rightly(database, works):
    """Each row with a call has a time of the truth, and all that the truth says of it. Returns the number of rows."""
    truth = {
        (start, end): (tid, name, stream) for (tid, _), of in works.items() for _, name, stream, start, end, _ in of
    }
    (boot,) = database.rows("SELECT boot_ns FROM session_")[0]
    rows = database.rows(
        "SELECT w.start, w.end, c.tid, w.name, w.stream FROM gpu_work w JOIN calls c ON c.id = w.call WHERE w.kind <> "
        "'barrier'"
    )
    tids = {tid for tid, _ in works}  # without children of forks, which leave no truth
    rows = [row for row in rows if row[2] in tids]
    for start, end, *told in rows:
        assert truth[start + boot, end + boot] == tuple(told)
    return len(rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_packet_that_was_overwritten_ties_no_time_wrongly(build, tmp_path, engine):
    """A queue of AMD's has 16384 places. One of 4 goes round long before the rings of taps are read."""
    database, works = recorded(build, "gpu_work 2000 4 8", tmp_path, "--engine", engine, FADE_STANDIN_QUEUE="4")
    tied = is_tied_rightly(database, works)
    unread, untied, untimed = database.rows("SELECT unread, untied, untimed FROM gpu_coverage")[0]
    kernels = database.value("SELECT count(*) FROM gpu_work WHERE kind <> 'barrier'")
    assert kernels == sum(map(len, works.values())) and kernels - tied == untied <= unread + untimed
    assert untimed <= kernels / 10


@pytest.mark.parametrize("engine", ENGINES)
def test_packets_of_a_thread_of_the_runtime_are_kept_without_a_call(build, tmp_path, engine):
    database, works = recorded(build, "gpu_work 600 2 4", tmp_path, "--engine", engine, AMD_DIRECT_DISPATCH="0")
    (boot,) = database.rows("SELECT boot_ns FROM session_")[0]
    times = sorted(time[3:5] for of in works.values() for time in of)
    told = database.rows("SELECT start, end FROM gpu_work WHERE kind <> 'barrier' ORDER BY start, end")
    assert [(start + boot, end + boot) for start, end in told] == times
    seen, timed, uncalled = database.rows("SELECT seen, timed, uncalled FROM gpu_coverage")[0]
    assert seen == timed == uncalled == len(times)
    assert database.value("SELECT count(*) FROM gpu_work WHERE call IS NOT NULL") == 0


FORKS = """import ctypes, os
hip = ctypes.CDLL(os.environ["HIP"])
module, function = ctypes.c_void_p(), ctypes.c_void_p()
assert hip.hipModuleLoadData(ctypes.byref(module), b"image") == 0
assert hip.hipModuleGetFunction(ctypes.byref(function), module, b"of_both") == 0
def launch(count):
    for _ in range(count):
        assert hip.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, None, None) == 0
launch(300)
for _ in range(3):
    child = os.fork()
    if child == 0:
        launch(5)
        os._exit(0)
    launch(100)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("runtime", ["v5", "v6"])
def test_children_of_forks_do_not_disturb(build, tmp_path, engine, runtime):
    (tmp_path / "forks.py").write_text(FORKS)
    library = next((build.runtimes / runtime).glob("libamdhip64.so.?"))
    variables = environment(build, runtime, tmp_path / "truth", HIP=str(library))
    command = [build.fade_run, "-q", "--gpu-times", "--engine", engine, "-o", tmp_path / "run.db", "--"]
    ran = harness.run([*command, "/usr/bin/python3", tmp_path / "forks.py"], variables, tmp_path / "run", timeout=300)
    assert (ran.status, ran.stdout) == (0, b"done\n"), ran.stderr
    database = harness.Database(tmp_path / "run.db")
    assert is_tied_rightly(database, works_of(tmp_path / "truth")) == 600


@pytest.mark.parametrize("runtime", ["v5", "v6"])
def test_a_killed_fade_leaves_the_program_as_it_is(build, tmp_path, runtime):
    variables = environment(build, runtime, tmp_path / "truth")
    command = [build.fade_run, "-q", "--gpu-times", "--force", "--engine", "taps", "-o", tmp_path / "run.db", "--"]
    truth = tmp_path / "truth"
    for seconds in (0, 0.05, 0.2, 0.4, 0.8):
        truth.unlink(missing_ok=True)
        fade = subprocess.Popen(
            [*map(str, command), *build.command("gpu_work 20000 4 8")],
            env=variables,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        while not truth.exists():  # the program runs
            time.sleep(0.01)
        time.sleep(seconds)
        fade.kill()
        said = fade.stdout.read()  # until the program has ended, too
        fade.wait()
        assert said == "done\n"


def test_calls_put_to_run_what_their_names_say(build, tmp_path):
    database, _ = recorded(build, "gpu_work 200 1 2", tmp_path)
    kinds = database.rows("SELECT DISTINCT c.name, w.kind FROM gpu_work w JOIN calls c ON c.id = w.call ORDER BY 1")
    assert kinds == [
        ("hipGraphLaunch", "kernel"),
        ("hipLaunchKernel", "kernel"),
        ("hipMemcpy", "copy"),
        ("hipMemcpyAsync", "copy"),
        ("hipMemset", "fill"),
        ("hipMemsetAsync", "fill"),
    ]
    assert database.value("SELECT count(DISTINCT queue) FROM gpu_work WHERE kind = 'kernel'") > 1


def test_sums_are_those_of_the_rows(build, tmp_path):
    database, _ = recorded(build, "gpu_work 500 2 4", tmp_path)
    rows = database.rows(
        "SELECT kind, name, device, count(*), sum(duration), min(duration), max(duration), sum(bytes), min(start), "
        "max(end) "
        "FROM gpu_work GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    assert rows == database.rows(
        "SELECT kind, name, device, sum(n), sum(total_ns), min(min_ns), max(max_ns), sum(bytes), min(first), max(last) "
        "FROM gpu_stats GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    assert database.rows("SELECT sum(n), sum(ns) FROM gpu_seconds") == database.rows(
        "SELECT count(*), sum(duration) FROM gpu_work"
    )


def test_without_rows_the_sums_stay(build, tmp_path):
    database, works = recorded(build, "gpu_work 100 1 2", tmp_path, "--detail", "stats")
    assert database.value("SELECT count(*) FROM gpu_work") == 0
    assert database.value("SELECT sum(n) FROM gpu_stats") == sum(map(len, works.values()))


def test_without_the_option_nothing_of_it_is_watched(build, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", *build.command("gpu_work 50 1 2")]
    assert harness.run(command, environment(build, "v6", tmp_path / "truth"), tmp_path / "run").status == 0
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM functions WHERE name LIKE 'hsa%'") == 0
    assert database.value("SELECT count(*) FROM gpu_coverage") == 0
    assert (tmp_path / "truth").read_text() == ""


def test_work_of_calls_that_are_not_watched_is_kept_without_a_call(build, tmp_path):
    database, works = recorded(build, "gpu_work 100 1 2", tmp_path, "-e", "mem")
    assert database.value("SELECT count(*) FROM gpu_work WHERE kind <> 'barrier'") == sum(map(len, works.values()))
    assert database.value("SELECT count(*) FROM gpu_work WHERE call IS NOT NULL") == 0


# ---------------------------------------------------------------- running programs


def test_attach_says_how_to_start_a_program_that_tells_no_times(build, tmp_path):
    program = subprocess.Popen(["sleep", "60"])
    try:
        command = [
            build.folder / "cli" / "attach" / "fade-attach",
            "--gpu-times",
            "-o",
            tmp_path / "run.db",
            str(program.pid),
        ]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    finally:
        program.kill()
        program.wait()
    assert answer.returncode == 2 and not (tmp_path / "run.db").exists()
    assert "GPU_FORCE_QUEUE_PROFILING=1" in answer.stderr and "fade-run --gpu-times -- COMMAND" in answer.stderr


WAITS = """import ctypes, os, sys
hip = ctypes.CDLL(os.environ["HIP"])
module, function = ctypes.c_void_p(), ctypes.c_void_p()
assert hip.hipModuleLoadData(ctypes.byref(module), b"image") == 0
assert hip.hipModuleGetFunction(ctypes.byref(function), module, b"before_attach") == 0
print("ready", flush=True)
sys.stdin.readline()
for _ in range(500):
    assert hip.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, None, None) == 0
assert hip.hipDeviceSynchronize() == 0
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("runtime", ["v5", "v6"])
def test_a_program_that_was_started_with_the_variables_tells_its_times_after_an_attach(
    build, attach, tmp_path, engine, runtime
):
    (tmp_path / "waits.py").write_text(WAITS)
    library = next((build.runtimes / runtime).glob("libamdhip64.so.?"))
    more = {"GPU_FORCE_QUEUE_PROFILING": "1", "HIP": str(library)}
    variables = environment(build, runtime, tmp_path / "truth", **more)
    target = attaching.Target(["/usr/bin/python3", tmp_path / "waits.py"], variables, tmp_path / "target")
    try:
        assert target.hear() == "ready"
        attachment = attach("--gpu-times", "--engine", engine, target).has_come()
        target.tell("go")
        assert target.hear() == "done"
        database = attachment.leave()
        target.tell("end")
        target.process.wait(60)
    finally:
        target.kill()
    works = works_of(tmp_path / "truth")
    assert sum(map(len, works.values())) == 500
    assert database.value("SELECT count(*) FROM gpu_work WHERE kind = 'kernel' AND call IS NOT NULL") == 500
    assert engine != "taps" or stops(database, "hsa_queue_add_write_index_screlease") < 30
    assert database.value("SELECT sum(busy_ns) FROM gpu_busy") == length_of(
        (start, end) for of_call in works.values() for _, _, _, start, end, _ in of_call
    )
    assert "The recording began" in database.value("SELECT text FROM gpu_doubts")
