"""The black box: what is told of programs that die or hang, that they die as without fade, and that healthy ones are
not accused."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import harness
from attaching import is_untouched, Look, start, until  # noqa: F401  (fixture)

IN_A_CALL = {"FADE_STANDIN_DELAY": "hipStreamSynchronize:100s"}
DEATHS = {"in": IN_A_CALL, "out": {}, "null": {}, "again": {}, "thread": IN_A_CALL,
          "leave": IN_A_CALL, "deep": {}, "kill": {}, "child": {}}


@pytest.fixture
def record(build, tmp_path):
    """Runs the tracee under fade-run; the recording and how that ended."""
    def run(line, *options, **environment):
        ran = harness.run_supervised(build, f"crash {line}", "v6", tmp_path,
                                     options=("-e", harness.EVERYTHING, *options), **environment)
        return harness.Database(tmp_path / "run.db"), ran
    return run


@pytest.fixture
def page(build):
    """fade-query postmortem as on a terminal."""
    def show(database, columns=80, *options):
        ran = subprocess.run([build.fade_query, database, "postmortem", "--format", "table", *options],
                             capture_output=True, text=True, timeout=60,
                             env={**os.environ, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8",
                                  "FADE_CONFIG": "/dev/null"})
        assert ran.returncode == 0, ran.stderr
        return ran.stdout
    return show


def only(database):
    names = ("kind", "what", "signal", "code_name", "address", "cause", "sender_name",
             "exit_code", "tid", "pid", "call", "calls_running", "threads", "device_bytes", "advice")
    row, = database.rows(f"SELECT {', '.join(names)} FROM postmortems")
    return dict(zip(names, row))


def waiting_thread(database):
    row, = database.rows(
        "SELECT call, args, age_ns, doing, cause FROM postmortem_threads WHERE call = 'hipStreamSynchronize'")
    return row


@contextlib.contextmanager
def running(build, folder, line, *options, **environment):
    """fade-run on a program that does not end by itself."""
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *build.command(line)]
    process = subprocess.Popen(command, env=build.environment("v6", **environment),
                               cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        for pid in reversed(harness.descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)


def rows_while_written(path, sql):
    """Of a recording that may not be there yet."""
    with contextlib.suppress(Exception):
        return harness.Database(path).rows(sql)
    return []


# ---------------------------------------------------------------- they die as they would without fade
@pytest.mark.parametrize("how", DEATHS)
def test_the_program_ends_as_alone(build, tmp_path, how):
    alone, supervised = (runner(build, f"crash {how}", "v6", tmp_path, **DEATHS[how])
                         for runner in (harness.run_alone, harness.run_supervised))
    assert (alone.status, alone.stdout) == (supervised.status, supervised.stdout)
    assert alone.total == supervised.total


def test_a_core_is_written_as_alone(build, tmp_path):
    """The kernel's word on it: the parent of a child that dies sees whether it dumped core."""
    script = ("import os, resource, sys\nresource.setrlimit(resource.RLIMIT_CORE, (-1, -1))\npid = "
              "os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])\nprint(os.waitpid(pid, 0)[1])")
    command = ["/usr/bin/python3", "-c", script, str(build.tracees / "steps"), "abort"]
    seen = []
    for name, fade in (("alone", []), ("supervised", [build.fade_run, "-q", "-o", tmp_path / "run.db", "--"])):
        seen.append(harness.run([*fade, *command], build.environment("v6"), tmp_path / name).stdout)
    assert seen[0] == seen[1] and int(seen[0]) & 0x7f == signal.SIGABRT


# ---------------------------------------------------------------- what is told of each death
def test_a_fault_inside_a_call(record, page):
    database, _ = record("in")
    found = only(database)
    assert (found["kind"], found["signal"], found["code_name"],
            found["call"]) == ("signal", signal.SIGSEGV, "SEGV_MAPERR", "hipMemcpy")
    assert 64 <= found["address"] < 64 + 4096
    assert found["what"] == "died of SIGSEGV: nothing is mapped at that address" and "hipMemcpy" in found["advice"]
    assert found["device_bytes"] == 1 << 20
    args, doing, library, cause = database.rows("SELECT args, doing, library, cause FROM postmortem_threads")[0]
    assert json.loads(args)["dst"] == "0x40" and json.loads(args)["sizeBytes"] == 4096
    # where its symbols are stripped, memmove has no name
    assert doing == "running" and cause == 1 and "libc" in library
    assert database.rows("SELECT state FROM calls WHERE name = 'hipMemcpy' AND duration IS NULL") == [("open",)]
    last = database.rows(
        "SELECT name, state FROM postmortem_calls WHERE state <> 'running' ORDER BY call_id DESC LIMIT 2")
    assert last == [("hipMalloc", "returned"), ("hipFree", "returned")]


def test_a_fault_outside_of_calls(record):
    database, _ = record("out")
    found = only(database)
    assert (found["signal"], found["address"], found["call"], found["calls_running"]) == (signal.SIGSEGV, 8, None, 0)
    symbol, library, last = database.rows("SELECT symbol, library, last_call FROM postmortem_threads")[0]
    assert library.endswith("/crash") and last == "hipMalloc" and re.match(r"(fault_outside|main)\+0x", symbol)


def test_a_call_of_a_null_pointer_shows_who_called(record):
    """What is not code has no frame rule: the walk goes on from the return address that the call left."""
    found = only((database := record("null")[0]))
    assert (found["signal"], found["address"]) == (signal.SIGSEGV, 0)
    labels = [label for label, in database.rows(
        "SELECT f.label FROM postmortem_threads t JOIN stack_frames f ON f.stack = t.stack WHERE t.cause = 1 ORDER BY "
        "f.depth")]
    assert len(labels) > 3 and labels[1].startswith("call_nothing") and labels[2].startswith("main"), labels


def test_a_handler_that_raises_its_signal_again_hides_nothing(record):
    """As Python's faulthandler does: what the first one said counts."""
    found = only(record("again")[0])
    assert (found["signal"], found["code_name"], found["address"],
            found["cause"]) == (signal.SIGSEGV, "SEGV_MAPERR", 8, None)
    assert found["what"] == "died of SIGSEGV: nothing is mapped at that address"


def test_faulthandler_and_the_stack_agree(build, tmp_path):
    script = ("import ctypes, faulthandler\nhip = ctypes.CDLL('libamdhip64.so.6')\nfaulthandler.enable()\ndef "
              "crash():\n    hip.hipMemcpy(ctypes.c_void_p(64), bytes(4096), ctypes.c_size_t(4096), 0)\ncrash()\n")
    (tmp_path / "crashes.py").write_text(script)
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "/usr/bin/python3", tmp_path / "crashes.py"]
    ran = harness.run(command, build.environment("v6"), tmp_path / "supervised")
    assert ran.status == -signal.SIGSEGV
    said = re.findall(r'File "(.*)", line (\d+) in (.*)', ran.stderr.decode())
    database = harness.Database(tmp_path / "run.db")
    assert (only(database)["call"], only(database)["code_name"]) == ("hipMemcpy", "SEGV_MAPERR")
    assert 64 <= only(database)["address"] < 64 + 4096
    frames = database.rows(
        "SELECT f.kind, f.label, f.file, f.line FROM postmortem_threads t JOIN stack_frames f ON f.stack = t.stack "
        "ORDER BY f.depth")
    assert [(file, str(line), label) for kind, label, file, line in frames if kind == "python"] == said
    assert len(said) == 2
    assert "<signal handler called>" in [label for _, label, *_ in frames]


def test_abort_in_a_thread_while_another_is_in_a_call(record):
    database, _ = record("thread", **IN_A_CALL)
    found = only(database)
    assert (found["signal"], found["cause"], found["calls_running"], found["threads"]) == (signal.SIGABRT, "self", 1, 3)
    assert found["tid"] != found["pid"]
    call, args, age, doing, cause = waiting_thread(database)
    assert cause == 0 and doing == "clock_nanosleep" and age > 0 and "stream" in json.loads(args)
    assert database.value("SELECT doing FROM postmortem_threads WHERE tid = pid") == "futex"


def test_an_exit_while_another_thread_is_in_a_call(record):
    database, ran = record("leave", **IN_A_CALL)
    found = only(database)
    assert ran.status == 7 and (found["kind"], found["exit_code"], found["signal"]) == ("exit", 7, None)
    assert found["what"] == "ended with exit status 7 while 1 call was running" and found["tid"] == found["pid"]
    assert waiting_thread(database)[4] == 0
    assert database.rows("SELECT state FROM calls WHERE name = 'hipStreamSynchronize'") == [("open",)]


def test_a_stack_overflow_is_called_by_its_name(record):
    found = only(record("deep")[0])
    assert (found["signal"], found["cause"]) == (signal.SIGSEGV, "stack") and "overflowed" in found["what"]


def test_who_killed_itself(record):
    found = only(record("kill")[0])
    assert (found["signal"], found["cause"], found["what"]) == (signal.SIGKILL, "self", "killed itself with SIGKILL")


def test_the_death_of_a_child(record):
    database, ran = record("child")
    found = only(database)
    assert ran.status == 3 and found["call"] == "hipMemcpy"
    assert found["pid"] != database.value("SELECT pid FROM processes ORDER BY id LIMIT 1")


@pytest.fixture
def memory_group():
    """A control group of 64 MB, of whichever version there is."""
    own = [line.split(":", 2) for line in open("/proc/self/cgroup", encoding="utf-8").read().splitlines()]
    path = next((f"/sys/fs/cgroup/memory{path}" for _, controllers, path in own if "memory" in controllers.split(",")),
                None)
    folder = pathlib.Path(path or f"/sys/fs/cgroup{own[-1][2]}") / f"fade-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as problem:
        pytest.skip(f"no control groups can be made here: {problem}")
    try:
        (folder / ("memory.limit_in_bytes" if path else "memory.max")).write_text(str(64 << 20))
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")
        yield folder
    except OSError as problem:
        pytest.skip(f"no limit of memory can be set here: {problem}")
    finally:
        until(lambda: not folder.exists() or not (folder / "cgroup.procs").read_text(), "the group to be empty")
        folder.rmdir()


def test_the_out_of_memory_killer(record, memory_group):
    """The process goes into its group after fade has seen it begin."""
    database, ran = record(f"eat {memory_group}")
    found = only(database)
    assert ran.status == -signal.SIGKILL
    assert (found["cause"], found["what"]) == ("oom", "killed by the kernel's out-of-memory killer (SIGKILL)")


@pytest.mark.parametrize("number, what", [
    (signal.SIGKILL,
     r"killed by SIGKILL(, probably from the kernel's out-of-memory killer| from outside \(sender unknown\))"),
    (signal.SIGTERM, r"died of SIGTERM: asked to end, sent by process PID \(.+\) of user UID")])
def test_a_signal_from_outside_while_a_call_runs(build, tmp_path, number, what):
    with running(build, tmp_path, "crash wait", **IN_A_CALL) as process:
        assert process.stdout.readline() == b"ready\n"
        os.kill(harness.descendants(process.pid)[1], number)
        assert process.wait(60) == -number
    database = harness.Database(tmp_path / "run.db")
    assert re.fullmatch(what.replace("PID", str(os.getpid())).replace("UID", str(os.getuid())), only(database)["what"])
    assert waiting_thread(database)[2] > 0


def test_calls_without_rows_are_told_too(record):
    database, _ = record("in", "--detail", "stats")
    assert only(database)["call"] == "hipMemcpy" and database.value("SELECT count(*) FROM calls") == 0
    assert database.value("SELECT count(*) FROM postmortem_calls WHERE state = 'returned'") == 8


def test_a_program_that_ends_well_leaves_nothing(record, page, tmp_path):
    database, _ = record("none")
    assert database.rows("SELECT * FROM postmortems") == []
    assert page(tmp_path / "run.db").startswith("No crash, kill or hang was recorded.")


# ---------------------------------------------------------------- hangs
def test_a_hang_is_looked_at_once_and_goes_on(build, tmp_path):
    database = tmp_path / "run.db"
    with running(build, tmp_path, "crash wait", "--hang-timeout", "300ms", "-e", "all", **IN_A_CALL) as process:
        until(lambda: rows_while_written(database,
                                         "SELECT 1 FROM postmortem_threads WHERE call = 'hipStreamSynchronize'"),
              "the hang")
        until(lambda: rows_while_written(database,
                                         "SELECT 1 FROM cpu_samples c, postmortems m WHERE c.start > m.start + "
                                         "1500000000"), "some looks more")
        pid = harness.descendants(process.pid)[1]
        until(lambda: open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] == "S", "sleep")
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
    rows = harness.Database(database).rows(
        "SELECT m.id, m.kind, m.threads, m.calls_running, m.quiet_ns >= 300000000, t.doing FROM postmortems m JOIN "
        "postmortem_threads t "
        "ON t.postmortem_id = m.id WHERE t.call = 'hipStreamSynchronize' ORDER BY m.id")
    assert [row[1:5] for row in rows] == [("hang", 2, 1, 1), ("signal", 2, 1, None)]
    assert rows[0][5] == "clock_nanosleep"


def test_queries_of_other_threads_are_no_progress(build, tmp_path):
    """A thread that watches others asks them all the time (RCCL's watchdog does)."""
    database = tmp_path / "run.db"
    with running(build, tmp_path, "crash asks", "--hang-timeout", "300ms", "-e",
                 "all,hot", FADE_STANDIN_FAIL="hipStreamQuery:*:600", **IN_A_CALL):
        until(lambda: rows_while_written(database,
                                         "SELECT 1 FROM postmortem_threads t JOIN postmortems m ON m.id = "
                                         "t.postmortem_id WHERE m.kind = 'hang' AND t.call = 'hipStreamSynchronize'"),
              "the hang")


@pytest.mark.parametrize("line", ["idle 5", "unwound 5", "slow 100"])
def test_what_is_no_hang(record, line):
    """Sleeping without a call, after one that was left by longjmp, and calls that end in time."""
    database, ran = record(line, "--hang-timeout", "4s")
    assert ran.stdout.endswith(b"done\n") and ran.status == 0
    assert database.rows("SELECT what FROM postmortems") == []


def test_a_slow_call_that_is_taken_for_a_hang_ends_as_alone(build, tmp_path):
    """Its sleep goes on for the rest of its time."""
    alone = harness.run_alone(build, "crash slow 1", "v6", tmp_path)
    supervised = harness.run_supervised(build, "crash slow 1", "v6", tmp_path, options=("--hang-timeout", "100ms"),
                                        FADE_STANDIN_DELAY="hipDeviceSynchronize:600ms")
    assert (alone.status, alone.stdout, alone.total) == (supervised.status, supervised.stdout, supervised.total)
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM postmortems WHERE kind = 'hang' AND calls_running > 0") >= 1
    assert database.value("SELECT min(duration) FROM calls WHERE name = 'hipDeviceSynchronize'") >= 600_000_000


# ---------------------------------------------------------------- fade-attach --snapshot
def snapshot(build, folder, pid, *options):
    ran = subprocess.run([build.folder / "cli" / "attach" / "fade-attach", "-q", "--snapshot",
                          "-o", folder / "snap.db", *options, str(pid)], capture_output=True, text=True, timeout=120,
                         env={**{k: v for k, v in os.environ.items() if not k.startswith("FADE_")},
                              "FADE_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8"}, cwd=folder)
    return ran


def test_a_snapshot_of_a_program_that_is_blocked_in_a_call(build, tmp_path, start):
    target = start("crash wait", **IN_A_CALL)
    before = Look(target)
    ran = snapshot(build, tmp_path, target.pid)
    assert ran.returncode == 0, ran.stderr
    assert "Snapshot of " in ran.stdout and "hipStreamSynchronize" in ran.stdout
    is_untouched(target, before)
    earlier = harness.Database(tmp_path / "snap.db").rows(
        "SELECT earlier FROM postmortem_threads WHERE earlier IS NOT NULL")
    assert earlier == [("hipStreamSynchronize",)]


def test_a_snapshot_of_a_program_that_runs(build, tmp_path, start):
    target = start("steady 3")
    target.tell("go")
    target.calls_on()
    ran = snapshot(build, tmp_path, target.pid)
    assert ran.returncode == 0, ran.stderr
    database = harness.Database(tmp_path / "snap.db")
    assert database.rows("SELECT kind, threads FROM postmortems") == [("snapshot", 4)]
    target.calls_on()
    target.ask("quiet")
    assert target.end()[1] == 7


# ---------------------------------------------------------------- what cannot be asked
@pytest.mark.parametrize("program, words, status, says", [
    ("fade-run", ("--hang-timeout", "0", "true"), 2, "--hang-timeout"),
    ("fade-run", ("--hang-timeout", "soon", "true"), 2, "not a time"),
    ("fade-attach", ("--hang-timeout", "0s", "1"), 2, "--hang-timeout"),
    ("fade-attach", ("--snapshot", "--duration", "5s", "1"), 2, "--snapshot and --duration"),
    ("fade-attach", ("--snapshot", "999999999"), 4, "999999999"),
    ("fade-attach", ("--snapshot",), 2, "no process given")])
def test_what_is_refused(build, tmp_path, program, words, status, says):
    name = program.removeprefix("fade-")
    ran = subprocess.run([build.folder / "cli" / name / program, *words], capture_output=True,
                         text=True, timeout=60, cwd=tmp_path, env={**os.environ, "FADE_CONFIG": "/dev/null"})
    assert (ran.returncode, ran.stdout) == (status, "") and says in ran.stderr
    assert list(tmp_path.glob("*.db")) == []


# ---------------------------------------------------------------- how it is told
@pytest.mark.parametrize("columns", [80, 200])
def test_the_page(record, page, tmp_path, columns):
    record("thread", **IN_A_CALL)
    text = page(tmp_path / "run.db", columns)
    assert re.search(r"^crash thread \(pid \d+\) died of SIGABRT: it gave up by itself: abort\(\)", text)
    for words in ("thread ", "memory ", "1.00 MiB on device 0", "advice ", "3 threads",
                  "hipStreamSynchronize", "Stack of thread", "give_up", "The last calls"):
        assert words in text, text
    assert all(len(line) <= columns for line in text.splitlines())


def test_who_ends_is_told_where_to_look(build, tmp_path):
    command = [build.fade_run, "--summary", "-o", tmp_path / "run.db", "--", *build.command("crash in")]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert re.search(rb"crash \(pid \d+\) died of SIGSEGV in hipMemcpy", ran.stderr) and b"postmortem" in ran.stderr
    for report in ("summary", "verdict"):
        shown = subprocess.run([build.fade_query, tmp_path / "run.db", report, "--format", "table"],
                               capture_output=True, text=True, timeout=60)
        assert "died of SIGSEGV" in shown.stdout and "postmortem" in shown.stdout, shown.stdout
