"""fade-query export for trace viewers: Perfetto, chrome://tracing, and Kineto's form for TensorBoard and Holistic Trace
Analysis."""
import collections
import gzip
import json
import re
import sqlite3
import subprocess

import pytest

import harness
from attaching import until
from queries import ENVIRONMENT
from timelines import Perfetto, check_chrome, check_kineto, read_json

FORMATS = ["perfetto", "chrome", "kineto"]
CALL = ("INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) "
        "SELECT {first} + n, {ts}, {dur}, (SELECT min(id) FROM thread_), (SELECT min(id) FROM function_), NULL, NULL, "
        "NULL, NULL "
        "FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) SELECT n FROM c)")


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("timeline")
    command = [build.fade_run, "-q", "-k", "all", "--detail", "full", "--set", "device.0.multiProcessorCount=72",
               "-o", folder / "fade-demo.db", "--",
               build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "fade-demo.db"


@pytest.fixture
def export(build, tmp_path):
    def ask(*words, **more):
        return subprocess.run([build.fade_query, "export", *map(str, words)], cwd=tmp_path,
                              env=ENVIRONMENT, capture_output=True, timeout=120, **more)
    return ask


@pytest.fixture
def perfetto(export):
    def read(*words):
        done = export("--format", "perfetto", *words)
        assert done.returncode == 0, done.stderr
        return Perfetto(done.stdout)
    return read


@pytest.fixture
def events(export):
    def read(form, *words):
        done = export("--format", form, *words)
        assert done.returncode == 0, done.stderr
        trace = read_json(done.stdout)
        (check_kineto if form == "kineto" else check_chrome)(trace)
        return trace
    return read


def changed(recording, tmp_path, *statements):
    copy = tmp_path / "changed.db"
    copy.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(copy)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return copy


def call_rows(database):
    return database.rows("SELECT id, start, \"end\", name, pid, tid, result_name, failed FROM calls ORDER BY id")


# ---------------------------------------------------------------- Perfetto
def test_each_call_is_a_slice_on_its_thread(recording, perfetto):
    trace, database = perfetto(recording), harness.Database(recording)
    boot, = database.rows("SELECT boot_ns FROM sessions")[0],
    shown = {s.arguments["call"]: s for s in trace.calls()}
    rows = call_rows(database)
    assert rows and set(shown) == {row[0] for row in rows}
    for call, start, end, name, pid, tid, result, failed in rows:
        s = shown[call]
        assert (s.name, s.start - boot[0], s.end - boot[0]) == (name, start, end)
        assert trace.place(s.track) == (pid, tid)
        assert s.arguments.get("result") == result and s.arguments.get("failed", False) == bool(failed)


def test_inner_calls_are_inside(build, perfetto, tmp_path):
    assert harness.run_supervised(build, "cuda work 3", "zluda", tmp_path, options=("--detail", "full")).status == 0
    trace, database = perfetto(tmp_path / "run.db"), harness.Database(tmp_path / "run.db")
    depths = {s.arguments["call"]: s.depth for s in trace.calls()}
    parents = dict(database.rows("SELECT id, parent_id FROM calls"))
    assert any(parents.values())
    for call, parent in parents.items():
        assert depths[call] == (depths[parent] + 1 if parent else 0)


def test_arguments_callers_and_stacks(recording, perfetto):
    malloc = next(s for s in perfetto(recording).calls() if s.name == "hipMalloc")
    assert malloc.arguments["arguments"]["size"] > 0 and re.match(r"0x", malloc.arguments["arguments"]["ptr"])
    assert malloc.arguments["caller"] and "main" in malloc.arguments["stack"] and malloc.category == "hip"


def test_launches_tell_their_kernel_and_stand_on_their_stream(recording, perfetto):
    trace, database = perfetto(recording), harness.Database(recording)
    launches = {row[0]: row[1:] for row in database.rows(
        "SELECT id, name, grid_x, block_x, stream_id, start FROM launches WHERE nth = 0")}
    shown = {s.arguments["call"]: s.arguments for s in trace.calls() if "kernel" in s.arguments}
    assert launches and set(shown) == set(launches)
    for call, (kernel, grid, block, stream, _) in launches.items():
        assert shown[call]["kernel"] == kernel and json.loads(shown[call]["grid"])[0] == grid
        assert json.loads(shown[call]["block"])[0] == block
    asked = collections.Counter(i.name for i in trace.instants if trace.label(i.track).startswith("stream ")
                                and not i.name.startswith(("copy", "fill")))
    assert asked == collections.Counter(row[0] for row in launches.values())


def test_errors_overrides_and_memory(recording, perfetto):
    trace, database = perfetto(recording), harness.Database(recording)
    by_lane = collections.defaultdict(list)
    for instant in trace.instants:
        by_lane[trace.label(instant.track)].append(instant)
    assert len(by_lane["errors"]) == database.value("SELECT count(*) FROM failures WHERE NOT normal") > 0
    assert all("hipError" in instant.name for instant in by_lane["errors"])
    assert by_lane["overridden answers"]
    assert all("72" in i.name and i.arguments["rule"] for i in by_lane["overridden answers"])
    memory = [value for track, _, value in trace.counts if "device memory" in trace.label(track)]
    assert max(memory) == database.value("SELECT max(peak) FROM memory_stats WHERE kind = 'device'")


def test_ranges_and_steps(build, perfetto, events, tmp_path):
    environment = build.environment("v6")
    environment["LD_LIBRARY_PATH"] = f"{build.runtimes / 'markers'}:{environment['LD_LIBRARY_PATH']}"
    words = "libroctx64.so.4 push=step launch=2 push=inner copy pop mark=here pop start=s launch stop again=3"
    program = [build.tracees / "ranges", *words.split()]
    assert harness.run([build.fade_run, "-q", "-o", tmp_path / "run.db", "--step", "range:step", "--", *program],
                       environment, tmp_path).status == 0
    trace, database = perfetto(tmp_path / "run.db"), harness.Database(tmp_path / "run.db")
    lanes = collections.Counter((trace.label(s.track), s.name, s.depth) for s in trace.slices
                                if not trace.tracks[s.track]["thread"])
    ranges = collections.Counter(database.rows(
        "SELECT iif(kind = 'range', 'ranges', 'start-stop ranges'), name, depth FROM ranges WHERE kind <> 'mark'"))
    steps = collections.Counter(database.rows("SELECT 'steps', name || ' ' || idx, 0 FROM steps"))
    assert ranges and steps and lanes == ranges + steps
    assert len([i for i in trace.instants if i.name == "here"]) == database.value(
        "SELECT count(*) FROM ranges WHERE kind = 'mark'") > 0
    annotations = [e for e in events("kineto", tmp_path / "run.db")["traceEvents"] if e.get("cat") == "user_annotation"
                   and e["ph"] == "X"]
    thread = database.value("SELECT tid FROM ranges WHERE kind = 'range'")
    assert [e["name"] for e in annotations if e["tid"] == thread and e["name"].startswith("Profiler")] == [
        f"ProfilerStep#{n}" for (n,) in database.rows("SELECT idx FROM steps ORDER BY idx")]


# Recordings with times of the GPU have the view gpu_work.
GPU_WORK = """CREATE VIEW gpu_work AS
SELECT c.id, c.session, c.pid, c.tid, 'kernel' AS kind, 'k' AS name, 0 AS device, 5 AS queue, 1 AS stream_id,
       c.id AS call, c.start + 1000 AS start, c.start + 900000 AS "end", 899000 AS duration, NULL AS bytes
  FROM launches c WHERE nth = 0
UNION ALL SELECT c.id, c.session, c.pid, NULL, 'copy', 'copy', 0, NULL, NULL, c.id, c.start + 50, c.start + 150,
                 100, 5000
  FROM copies c
UNION ALL SELECT 1, 1, (SELECT pid FROM processes), NULL, 'kernel', 'lost', NULL, NULL, NULL, NULL, 10, 20, 10, NULL"""


def test_times_of_the_gpu(recording, perfetto, events, tmp_path):
    connection = sqlite3.connect(recording)
    known = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'gpu_work'").fetchone()[0]
    connection.close()
    copy = changed(recording, tmp_path, *(["DROP VIEW gpu_work"] if known else []), GPU_WORK)
    trace, database = perfetto(copy), harness.Database(copy)
    work = [s for s in trace.slices if trace.label(s.track).startswith("GPU ")]
    assert len(work) == database.value("SELECT count(*) FROM gpu_work")
    assert all(s.end > s.start and s.depth == 0 for s in work)
    assert {trace.label(s.track) for s in work} == {"GPU 0, queue 5, stream 1", "GPU 0, copies", "GPU ?, copies"}
    callers = {s.flows[0]: s for s in trace.calls() if s.flows}
    tied = [s for s in work if s.flows]
    assert len(tied) == len(work) - 1
    for s in tied:
        assert s.arguments["call"] == s.flows[0] == callers[s.flows[0]].arguments["call"]
        assert callers[s.flows[0]].start < s.start
    kineto = events("kineto", copy)
    kernels = [e for e in kineto["traceEvents"] if e.get("cat") == "kernel"]
    assert len(kernels) == database.value("SELECT count(*) FROM launches WHERE nth = 0")
    assert {(e["pid"], e["args"]["device"], e["args"]["stream"]) for e in kernels} == {(0, 0, 1)}
    assert {e["args"]["memory bandwidth (GB/s)"] for e in kineto["traceEvents"]
            if e.get("cat") == "gpu_memcpy"} == {50.0}
    launches = {e["args"]["correlation"] for e in kineto["traceEvents"] if e["ph"] == "X"
                and e["name"] == "hipLaunchKernel"}
    assert {e["args"]["correlation"] for e in kernels} <= launches


def test_the_clock_is_the_boot_clock_and_tells_the_date(recording, perfetto):
    clocks, database = perfetto(recording).clocks, harness.Database(recording)
    assert (clocks[6], clocks[1]) == database.rows("SELECT boot_ns, start_ns FROM sessions")[0]


# ---------------------------------------------------------------- JSON
@pytest.mark.parametrize("form", ["chrome", "kineto"])
def test_each_call_is_an_event(recording, events, form):
    trace, database = events(form, recording), harness.Database(recording)
    shown = {e["args"]["call"]: e for e in trace["traceEvents"] if e["ph"] == "X" and "call" in e["args"]}
    rows = call_rows(database)
    assert set(shown) == {row[0] for row in rows}
    for call, start, end, name, pid, tid, *_ in rows:
        e = shown[call]
        assert (e["name"], e["pid"], e["tid"]) == (name, pid, tid)
        assert round(e["ts"] * 1000) == start and round(e["dur"] * 1000) == end - start


def test_kinetos_form(build, recording, export, events, tmp_path):
    trace = events("kineto", recording)
    assert {e["cat"] for e in trace["traceEvents"] if e["name"] == "hipMalloc"} == {"cuda_runtime"}
    assert trace["baseTimeNanoseconds"] == harness.Database(recording).value("SELECT start_ns FROM sessions")
    assert trace["deviceProperties"][0]["id"] == 0 and trace["deviceProperties"][0]["totalGlobalMem"] > 0
    assert not [e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy")]  # nothing is made up
    assert "distributedInfo" not in trace
    command = [build.fade_run, "-q", "-o", tmp_path / "rank.db", "--", *build.command("loop 3")]
    assert harness.run(command, {**build.environment("v6"), "RANK": "3", "WORLD_SIZE": "8"}, tmp_path).status == 0
    done = export("--format", "kineto", tmp_path / "rank.db")
    assert re.search(rb'"rank":\s+3\b', done.stdout)  # how Holistic Trace Analysis finds it
    assert read_json(done.stdout)["distributedInfo"] == {"rank": 3, "world_size": 8}


def test_the_ending_of_the_file_chooses(recording, export, tmp_path):
    for name in ("a.pftrace", "a.perfetto-trace", "w.pt.trace.json", "w.pt.trace.json.gz", "b.trace.json"):
        done = export(recording, "-o", name)
        assert done.returncode == 0 and not (tmp_path / (name + ".part")).exists(), done.stderr
    assert Perfetto((tmp_path / "a.pftrace").read_bytes()).calls()
    assert (tmp_path / "a.pftrace").read_bytes() == (tmp_path / "a.perfetto-trace").read_bytes()
    check_kineto(read_json(tmp_path / "w.pt.trace.json.gz"))
    assert gzip.decompress((tmp_path / "w.pt.trace.json.gz").read_bytes()) == (
        tmp_path / "w.pt.trace.json").read_bytes()
    assert "schemaVersion" not in read_json(tmp_path / "b.trace.json")
    assert export(recording, "--format", "perfetto", "-o", "c.pftrace.gz").returncode == 0
    assert gzip.decompress((tmp_path / "c.pftrace.gz").read_bytes()) == (tmp_path / "a.pftrace").read_bytes()


# ---------------------------------------------------------------- filters
def test_filters(recording, perfetto):
    database = harness.Database(recording)
    assert {s.name for s in perfetto(recording, "--name", "^hipMalloc$").calls()} == {"hipMalloc"}
    assert all(s.arguments["failed"] for s in perfetto(recording, "--errors").calls())
    middle = database.value("SELECT start FROM calls ORDER BY id LIMIT 1 OFFSET 10")
    shown = {s.arguments["call"] for s in perfetto(recording, "--from", f"{middle}ns").calls()}
    assert shown == {i for (i,) in database.rows(f"SELECT id FROM calls WHERE start >= {middle}")}
    pid = database.value("SELECT pid FROM processes")
    assert perfetto(recording, "--pid", pid).calls() and not perfetto(recording, "--pid", pid + 1).calls()


def test_a_choice_without_calls_is_said(recording, export):
    for form in ("perfetto", "chrome", "kineto"):
        done = export(recording, "--format", form, "--from", "1h")
        assert done.returncode == 0 and b"none of the recorded calls fits the options" in done.stderr


def test_steps_are_a_window(recording, export, perfetto, tmp_path):
    none = export(recording, "--format", "perfetto", "--step", "2")
    assert none.returncode == 1 and b"no steps" in none.stderr
    start, end = harness.Database(recording).rows("SELECT min(start), max(\"end\") FROM calls")[0]
    middle = (start + end) // 2
    step = ("INSERT INTO step_ SELECT {0}, process, id, {0}, 'step', {1}, {2}, 1, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 "
            "FROM thread_ LIMIT 1")
    copy = changed(recording, tmp_path, step.format(1, start, middle - start), step.format(2, middle, end - middle))
    first, second, both = ({s.arguments["call"] for s in perfetto(copy, "--step", n).calls()}
                           for n in ("1", "2", "1-2"))
    assert first and second and not first & second and first | second == both
    lacking = export(copy, "--format", "chrome", "--step", "3")
    assert lacking.returncode == 1 and b"steps 1 to 2" in lacking.stderr
    for wrong in ("x", "2-1", "1-", "-3"):
        assert export(copy, "--format", "chrome", f"--step={wrong}").returncode == 2
    assert export(copy, "--step", "1").returncode == 2  # rows have no steps


def test_options_that_mean_nothing_here(build, recording, export):
    for words in (["--columns", "name"], ["--sort", "id"], ["--where", "id > 3"],
                  ["--sql"], ["--stack", "3"], ["--device", "0"]):
        done = export(recording, "--format", "perfetto", *words)
        assert done.returncode == 2 and words[0].encode() in done.stderr and done.stdout == b"", words
    top = subprocess.run([build.fade_query, "top", recording, "--format", "chrome"],
                         env=ENVIRONMENT, capture_output=True)
    assert top.returncode == 2 and b"only export" in top.stderr


# ---------------------------------------------------------------- what is not known
def test_calls_without_an_end(recording, perfetto, events, tmp_path):
    ids = [i for (i,) in harness.Database(recording).rows("SELECT id FROM calls ORDER BY id DESC LIMIT 4")]
    copy = changed(recording, tmp_path, f"UPDATE call_ SET dur = NULL WHERE id IN ({','.join(map(str, ids))})",
                   f"INSERT INTO unwound_ SELECT id, ts + 5 FROM call_ WHERE id = {ids[1]}",
                   f"INSERT INTO unwound_ VALUES ({ids[2]}, -1), ({ids[3]}, NULL)")
    shown = {s.arguments["call"]: s for s in perfetto(copy).calls()}
    opened, unwound, entry, unseen = (shown[i] for i in ids)
    assert opened.end is None and "under way" in opened.arguments["state"]
    assert unwound.end == unwound.start + 5 and "exception" in unwound.arguments["state"]
    assert entry.end == entry.start and "entry alone" in entry.arguments["state"]
    assert unseen.end == unseen.start and "not seen" in unseen.arguments["state"]
    for form in ("chrome", "kineto"):
        trace = events(form, copy)
        assert "under way" in next(e for e in trace["traceEvents"]
                                   if e.get("args", {}).get("call") == ids[0])["args"]["state"]


def test_gaps_and_drops_are_slices(recording, perfetto, events, tmp_path):
    session, process, born = harness.Database(recording).rows("SELECT s.id, p.id, p.ts FROM session_ s, process_ p")[0]
    copy = changed(recording, tmp_path, f"INSERT INTO drop_ VALUES (1, {session}, 1000, 2000, 7, 'the disk was full')",
                   f"INSERT INTO lifecycle_ (session, ts, process, kind) VALUES ({session}, {born + 5}, {process}, "
                   f"'recording stopped'), "
                   f"({session}, {born + 900}, {process}, 'recording started')")
    trace = perfetto(copy)
    gaps = [s for s in trace.slices if trace.label(s.track) == "not recorded"]
    boot = trace.clocks[6]
    assert any("7 calls were not recorded: the disk was full" == s.name
               and (s.start - boot, s.end - boot) == (1000, 3000) for s in gaps)
    assert any(s.end and (s.start - boot, s.end - boot) == (born + 5, born + 900) for s in gaps)
    for form in ("chrome", "kineto"):
        assert any("the disk was full" in e["name"] for e in events(form, copy)["traceEvents"] if e["ph"] == "X")


def test_rows_beyond_the_limit(recording, perfetto):
    trace = perfetto(recording, "--limit", "5")
    assert len(trace.calls()) == 5
    left_out, = [s for s in trace.slices if trace.label(s.track) == "not exported"]
    assert "--limit 5" in left_out.name and left_out.end > left_out.start


def test_counts_alone(build, export, perfetto, tmp_path):
    assert harness.run_supervised(build, "loop 3", "v6", tmp_path, options=("--detail", "stats")).status == 0
    done = export("--format", "perfetto", tmp_path / "run.db")
    assert done.returncode == 0 and b"--detail stats" in done.stderr
    trace = Perfetto(done.stdout)
    assert not trace.calls() and any("--detail stats" in str(i.arguments) for i in trace.instants)


def test_a_killed_fade(recording, export, tmp_path):
    copy = changed(recording, tmp_path, "UPDATE session_ SET clean = 0, end_ns = NULL",
                   "UPDATE process_ SET ts_end = NULL")
    for form in FORMATS:
        done = export(copy, "--format", form)
        assert done.returncode == 0 and b"not closed" in done.stderr
        assert b"not closed" in done.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_a_recording_under_way(build, export, tmp_path, form):
    with subprocess.Popen([build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "sleep", "60"],
                          env=build.environment("v6"), cwd=tmp_path) as running:
        try:
            until(lambda: b"still being recorded" in export("--format", form, tmp_path / "run.db").stderr)
            done = export("--format", form, tmp_path / "run.db")
            assert done.returncode == 0 and b"still being recorded" in done.stdout
        finally:
            running.terminate()


# ---------------------------------------------------------------- hostile texts, several sessions
@pytest.mark.parametrize("form", FORMATS)
def test_whatever_the_texts_are(recording, export, tmp_path, form):
    evil = "char(27) || '[2J</script>' || char(10) || '\"\\' || char(155) || CAST(x'ff' AS TEXT) || hex(zeroblob(5000))"
    copy = changed(recording, tmp_path, f"UPDATE function_ SET name = name || {evil}",
                   f"UPDATE thread_ SET name = {evil}", f"UPDATE process_ SET exe = {evil}",
                   f"UPDATE process_ SET command = {evil}", f"UPDATE session_ SET command = {evil}",
                   f"UPDATE kernel_ SET demangled = {evil}",
                   f"UPDATE call_site_ SET symbol = {evil}", f"UPDATE frame_ SET name = {evil}",
                   "UPDATE arg_ SET args = '{\"a\":' WHERE call = (SELECT min(call) FROM arg_)",
                   "UPDATE arg_ SET args = '{\"a\":[1,{\"b\":\"' || char(155) || "
                   "'\"}],\"a\":1e999,\"c\":18446744073709551615,\"d\":null}' WHERE call = (SELECT max(call) FROM "
                   "arg_)")
    done = export(copy, "--format", form)
    assert done.returncode == 0, done.stderr
    calls = harness.Database(copy).value("SELECT count(*) FROM calls")
    if form == "perfetto":
        trace = Perfetto(done.stdout)
        assert len(trace.calls()) == calls
        texts = [s.name for s in trace.slices] + [trace.label(t) for t in trace.tracks]
        assert not any(re.search(r"[\x00-\x1f\x7f-\x9f]", text) for text in texts) and max(map(len, texts)) < 8000
    else:
        check_chrome(read_json(done.stdout))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stdout.decode())


def test_several_sessions_and_processes(build, perfetto, events, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--append", "--", *build.command("loop 3")]
    for _ in range(2):
        assert harness.run(command, build.environment("v6"), tmp_path).status == 0
    database = harness.Database(tmp_path / "run.db")
    trace = perfetto(tmp_path / "run.db", "--session", "all")
    boots = dict(database.rows("SELECT id, boot_ns FROM sessions"))
    expected = {(i, boots[session] + start)
                for i, session, start in database.rows("SELECT id, session, start FROM calls")}
    assert {(s.arguments["call"], s.start) for s in trace.calls()} == expected and len(boots) == 2
    assert len(perfetto(tmp_path / "run.db").calls()) < len(trace.calls())  # the newest alone
    events("kineto", tmp_path / "run.db", "--session", "all")


def test_a_recording_of_nothing(recording, export, tmp_path):
    copy = changed(recording, tmp_path, *(f"DELETE FROM {table}" for table in (
        "call_", "arg_", "error_", "alloc_", "copy_", "lifecycle_", "process_", "thread_", "session_")))
    for form in FORMATS:
        done = export(copy, "--format", form)
        assert done.returncode == 0, done.stderr
    check_chrome(read_json(export(copy, "--format", "chrome").stdout))


# ---------------------------------------------------------------- files and pipes
def test_an_existing_file_is_kept(recording, export, tmp_path):
    (tmp_path / "a.pftrace").write_bytes(b"mine")
    done = export(recording, "-o", "a.pftrace")
    assert done.returncode == 1 and b"--force" in done.stderr and (tmp_path / "a.pftrace").read_bytes() == b"mine"
    assert export(recording, "-o", "a.pftrace", "--force").returncode == 0
    assert Perfetto((tmp_path / "a.pftrace").read_bytes()).calls()


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_leaves_no_half_file(build, recording, tmp_path, form):
    name = {"perfetto": "a.pftrace", "chrome": "a.trace.json", "kineto": "a.pt.trace.json.gz"}[form]
    # 1 KiB, as a disk that is full
    limit = f"ulimit -f 1; trap '' XFSZ; exec {build.fade_query} export {recording} -o {name}"
    done = subprocess.run(["bash", "-c", limit], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=60)
    assert done.returncode == 1 and b"cannot write" in done.stderr
    assert not list(tmp_path.glob("a.*"))
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.fade_query, "export", recording, "--format", form],
                              stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 1 and b"No space left on device" in done.stderr


def test_a_reader_that_has_enough(build, recording):
    done = subprocess.run(
        f"{build.fade_query} export {recording} --format perfetto | head -c 100 >/dev/null; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash", env=ENVIRONMENT, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == b""


def test_memory_stays_small_for_many_calls(build, recording, tmp_path):
    wanted = 200_000
    last = harness.Database(recording).value("SELECT max(id) FROM calls")
    big = changed(recording, tmp_path, CALL.format(first=last, ts="1000000000 + n * 10", dur=7, count=wanted))

    def peak_kib(database, form):
        with open(tmp_path / "out", "wb") as file:
            return harness.peak_kib([build.fade_query, "export", "--format", form, database], ENVIRONMENT, file)

    for form in ("perfetto", "kineto"):
        assert peak_kib(big, form) < peak_kib(recording, form) + 32 * 1024
    assert len([e for e in read_json(tmp_path / "out")["traceEvents"] if e["ph"] == "X"]) > 10
