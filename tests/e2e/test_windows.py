"""Rows of calls at chosen times: --schedule, --window, --trigger. Sums are those of all calls, at any time."""

import subprocess
import sys

import pytest

import harness
from daemons import daemon, wait_until  # noqa: F401 (fixture)

ROCTX = "libroctx64.so.4"

# Copies for so many seconds, with trouble in the middle.
WORK = """
import ctypes, os, signal, sys, time
hip = ctypes.CDLL("libamdhip64.so.6")
signal.signal(signal.SIGUSR2, lambda *_: None)
pointer = ctypes.c_void_p()
assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096)) == 0

def copies(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert hip.hipMemcpy(pointer, bytes(64), ctypes.c_size_t(64), 1) == 0
        time.sleep(0.005)

copies(float(sys.argv[2]))
if sys.argv[1] == "error":
    hip.hipMemcpy(None, None, ctypes.c_size_t(64), 77)
elif sys.argv[1] == "signal":
    os.kill(os.getpid(), signal.SIGUSR2)
elif sys.argv[1] == "memory":
    assert hip.hipMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(64 << 20)) == 0
copies(float(sys.argv[3]))
"""


@pytest.fixture
def recorded(build, tmp_path):
    """Runs a command under fade-run; gives the database and what the stand-in counted."""

    def run(command, *options):
        env = build.environment("v6")
        env["LD_LIBRARY_PATH"] = f"{build.runtimes / 'markers'}:{env['LD_LIBRARY_PATH']}"
        words = [build.fade_run, "-q", *options, "-o", tmp_path / "run.db", "--", *command]
        ran = harness.run(words, env, tmp_path / "in")
        assert ran.status == 0, ran.stderr
        return harness.Database(tmp_path / "run.db"), ran

    return run


def steps(build, n):
    return [build.tracees / "ranges", ROCTX, "push=step", "launch=3", "pop", f"again={n}"]


def work(trouble, before, after):
    return [sys.executable, "-c", WORK, trouble, str(before), str(after)]


def check_counts(database, ran):
    counted = dict(database.rows("SELECT name, sum(calls) FROM call_stats WHERE name LIKE 'hip%' GROUP BY name"))
    assert counted == {name: n for name, n in ran.total.items() if name in counted and n}
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0


def rows_outside(database):
    return database.value(
        "SELECT count(*) FROM calls c WHERE NOT EXISTS (SELECT 1 FROM detail_times d WHERE c.\"end\" >= d.start AND "
        'c.start <= d."end")'
    )


def remark(build, tmp_path, report):
    told = subprocess.run(
        [build.fade_query, tmp_path / "run.db", report, "--format", "table"], capture_output=True, text=True, check=True
    )
    return " ".join((told.stdout + told.stderr).split())


@pytest.mark.parametrize("engine", ["breakpoints", "taps", "auto"])
def test_a_schedule_stores_rows_of_active_steps_alone(recorded, build, tmp_path, engine):
    options = ("--step", "range:step", "--schedule", "skip=3,wait=5,warmup=1,active=2,repeat=2", "--engine", engine)
    database, ran = recorded(steps(build, 40), *options, "-e", "all,hot")
    check_counts(database, ran)
    launches = "SELECT count(*) FROM calls WHERE name = 'hipLaunchKernel'"
    assert database.value("SELECT sum(calls) FROM call_stats WHERE name = 'hipLaunchKernel'") == 120
    assert database.value(launches) == 2 * 2 * 3
    assert database.value("SELECT count(*) FROM steps") == 40
    active = [
        idx
        for idx, in database.rows(
            'SELECT DISTINCT s.idx FROM steps s JOIN calls c ON c.name = \'hipLaunchKernel\' AND c.start > s.start AND '
            'c."end" < s."end" ORDER BY 1'
        )
    ]
    assert active == [10, 11, 18, 19]
    assert database.value("SELECT count(*) FROM detail_times") == 2
    assert rows_outside(database) == 0


def test_reports_say_which_rows_there_are(recorded, build, tmp_path):
    recorded(steps(build, 10), "--step", "range:step", "--schedule", "wait=5,active=2,repeat=1")
    for report in ("calls", "launches"):
        assert "calls have rows only at 1 time" in remark(build, tmp_path, report), report
        assert "(--schedule wait=5,active=2,repeat=1)" in remark(build, tmp_path, report), report
    assert "--schedule" not in remark(build, tmp_path, "top"), "sums are complete"


@pytest.mark.parametrize("engine", ["breakpoints", "taps"])
def test_a_window_stores_rows_of_a_part_of_the_time(recorded, engine):
    database, ran = recorded(work("none", 2, 0), "--window", "400ms/200ms", "--engine", engine)
    check_counts(database, ran)
    stored, made = database.value("SELECT count(*) FROM calls"), database.value("SELECT sum(calls) FROM call_stats")
    assert 0 < stored < made
    assert rows_outside(database) == 0
    assert [at // 10**8 for at, in database.rows("SELECT start FROM detail_times ORDER BY start LIMIT 2")] == [0, 4]


@pytest.mark.parametrize("trouble, trigger", [("error", "error"), ("signal", "signal=USR2"), ("memory", "memory>1M")])
def test_a_trigger_keeps_rows_before_and_after_it(recorded, trouble, trigger):
    database, ran = recorded(work(trouble, 5, 3), "--trigger", trigger, "--keep", "700ms")
    check_counts(database, ran)
    at, why = database.rows("SELECT start, detail FROM lifecycle WHERE kind = 'trigger'")[0]
    assert why.startswith(trouble)
    begin, end = database.rows('SELECT start, "end" FROM detail_times ORDER BY start')[0]
    assert (begin, end) == (at - 700_000_000, at + 700_000_000)
    kept = database.value(f"SELECT count(*) FROM calls WHERE start BETWEEN {begin} AND {end}")
    counted = database.value("SELECT sum(calls) FROM call_stats")
    assert 0 < kept < counted
    assert database.value(f"SELECT count(*) FROM calls WHERE start BETWEEN {begin} AND {at}") > 0
    assert database.value(f"SELECT count(*) FROM calls WHERE start BETWEEN {at} AND {end}") > 0
    assert database.value("SELECT min(start) FROM calls") > 10**9, "the first rows are gone"


def test_without_a_trigger_the_last_seconds_stay(recorded):
    database, ran = recorded(work("none", 4, 0), "--trigger", "error", "--keep", "500ms")
    check_counts(database, ran)
    assert database.value("SELECT count(*) FROM lifecycle WHERE kind = 'trigger'") == 0
    assert 0 < database.value("SELECT count(*) FROM calls") < database.value("SELECT sum(calls) FROM call_stats") / 1.5
    assert database.value("SELECT count(*) FROM memory_copies") <= database.value("SELECT count(*) FROM calls")
    assert database.value("SELECT count(*) FROM allocations") == 1


@pytest.mark.parametrize(
    "options, place, example",
    [
        (("--schedule", "wiat=5,active=1", "--step", "hipMalloc"), "'wiat=5'", "--schedule skip=10"),
        (("--schedule", "active=1"), "no step is defined", "--step 'range:step*'"),
        (("--window", "10s/60s"), "'10s/60s'", "--window 60s/10s"),
        (("--trigger", "memory>lots"), "'memory>lots'", "--trigger error"),
        (("--trigger", "error", "--window", "60s/10s"), "exclude each other", "one of them"),
        (("--keep", "5s"), "--keep belongs to --trigger", "--trigger error --keep"),
    ],
)
def test_what_is_not_understood_is_told_with_an_example(build, tmp_path, options, place, example):
    words = [build.fade_run, *options, "-o", tmp_path / "run.db", "--", "/bin/true"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 2
    assert place in ran.stderr and example in ran.stderr
    assert not (tmp_path / "run.db").exists()


def test_fadectl_marks_a_moment(daemon):  # noqa: F811
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid, "--trigger", "mark", "--keep", "20s")
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > 100, "recorded calls")
    daemon.json("mark", session["id"])
    ended = daemon.json("stop", session["id"])[0]
    daemon.ctl("mark", session["id"], status=4)
    database = harness.Database(f"{ended['folder']}/{ended['database']}")
    assert database.rows("SELECT kind, detail FROM lifecycle WHERE kind IN ('mark', 'trigger')") == [
        ("mark", "fadectl mark"),
        ("trigger", "mark: fadectl mark"),
    ]
    assert database.value("SELECT sum(calls) FROM call_stats") == ended["calls"]
