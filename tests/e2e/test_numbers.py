"""--watch-numbers: what the program says that it copied is what the recording says, and the program does not notice."""
import json
import signal
import subprocess
import time

import pytest

import harness

WATCH = ("--watch-numbers", "nan,inf")
ENGINES = ["breakpoints", "taps", "auto"]
ROWS = "SELECT direction, bytes, nan, inf FROM numbers ORDER BY id"


def told(ran):
    """What the program printed of each copy: direction, bytes, NaN, infinities."""
    lines = [line.split() for line in ran.stdout.decode().splitlines() if line[:3] in ("h2d", "d2h")]
    return [(direction, *map(int, numbers)) for direction, *numbers in lines]


def both(build, folder, line, *options):
    alone = harness.run_alone(build, line, "v6", folder)
    watched = harness.run_supervised(build, line, "v6", folder, options=options or WATCH)
    assert (watched.stdout, watched.stderr, watched.status) == (alone.stdout, alone.stderr, alone.status)
    assert watched.total == alone.total
    return watched, harness.Database(folder / "run.db")


def query(build, path, *words, status=0):
    asked = subprocess.run([build.fade_query, *map(str, words)], cwd=path, capture_output=True, text=True, timeout=60)
    assert asked.returncode == status, asked.stderr
    return asked.stdout if status == 0 else asked.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_each_nan_is_found_where_the_program_has_it(build, tmp_path, engine):
    ran, database = both(build, tmp_path, "numbers sync 40", *WATCH, "--engine", engine)
    copies = told(ran)
    assert len(copies) == 80
    assert database.rows(ROWS) == [copy for copy in copies if copy[2] + copy[3] > 0]
    sums = "SELECT direction, sum(copies), sum(scanned_bytes), sum(nan), sum(inf) FROM number_stats GROUP BY direction"
    assert database.rows(sums) == [
        (way, 40, *(sum(copy[i] for copy in copies if copy[0] == way) for i in (1, 2, 3))) for way in ("d2h", "h2d")
    ]
    assert database.rows("SELECT DISTINCT type, guessed FROM numbers") == [("f32", 1)]
    assert (
        database.value("SELECT count(*) FROM numbers n JOIN calls c ON c.id = n.call_id WHERE c.name = 'hipMemcpy'") > 0
    )
    assert database.value("SELECT count(*) FROM numbers WHERE stack IS NULL") == 0


@pytest.mark.parametrize("how", ["stream", "event", "device", "joined", "null"])
def test_an_asynchronous_copy_is_looked_at_when_it_was_waited_for(build, tmp_path, how):
    ran, database = both(build, tmp_path, f"numbers async {how}")
    found = "SELECT direction, bytes, nan, inf FROM numbers WHERE wait_call_id IS NOT NULL"
    assert database.rows(found) == told(ran) == [("d2h", 1024, 1, 0)]
    waits = {"stream": "hipStreamSynchronize", "event": "hipEventSynchronize", "device": "hipDeviceSynchronize",
             "joined": "hipStreamSynchronize", "null": "hipMemcpy"}  # fmt: skip
    name = "SELECT c.name FROM numbers n JOIN calls c ON c.id = n.wait_call_id"
    assert database.value(name) == waits[how]
    assert database.value("SELECT count(*) FROM numbers_unscanned") == 0


@pytest.mark.parametrize("how, reason, copies", [("none", "no call was seen that waited for it", 1),
                                                 ("reused", "the host's memory was used again", 1)])  # fmt: skip
def test_a_copy_that_nothing_waits_for_is_counted(build, tmp_path, how, reason, copies):
    _, database = both(build, tmp_path, f"numbers async {how}")
    assert database.value("SELECT count(*) FROM numbers") == 0
    left = dict(database.rows("SELECT reason, copies FROM numbers_unscanned"))
    assert [n for why, n in left.items() if why.startswith(reason)] == [copies], left


def test_of_bytes_that_are_no_floats_nothing_is_claimed(build, tmp_path):
    _, database = both(build, tmp_path, "numbers bytes")
    assert database.rows("SELECT sum(copies), sum(nan), sum(inf) FROM number_stats") == [(4, 0, 0)]
    _, database = both(build, tmp_path / "told", "numbers bytes", "--watch-numbers", "nan,dtype=f32")
    assert database.value("SELECT sum(nan) FROM numbers WHERE guessed = 0") > 2048


def test_copies_that_are_not_looked_at_are_counted(build, tmp_path):
    _, database = both(build, tmp_path, "numbers others")
    assert dict(database.rows("SELECT reason, copies FROM numbers_unscanned")) == {
        "the call does not tell its direction (hipMemcpyDefault)": 1,
        "a graph was being captured": 1,
    }
    assert database.rows("SELECT name, direction, nan FROM numbers") == [
        ("hipMemcpyAsync", "h2d", 1),
        ("hipMemcpyWithStream", "d2h", 1),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_four_threads(build, tmp_path, engine):
    _, database = both(build, tmp_path, "numbers threads 4 60", *WATCH, "--engine", engine)
    assert database.rows("SELECT direction, sum(copies), sum(nan) FROM number_stats GROUP BY 1") == [
        ("d2h", 240, 4 * (20 * 3 + 12)),
        ("h2d", 240, 4 * 12),
    ]


def test_a_forked_child_is_watched_too(build, tmp_path):
    ran, database = both(build, tmp_path, "numbers fork 5", "--watch-numbers", "nan,inf,checksum")
    by_process = [n for _, n in database.rows("SELECT pid, count(*) FROM numbers GROUP BY pid ORDER BY 2")]
    assert by_process == [10, 20] and len(told(ran)) == 20


def test_limits_are_kept_and_told(build, tmp_path):
    _, database = both(build, tmp_path / "most", "numbers large 8", "--watch-numbers", "nan,checksum,most=1M")
    assert database.rows("SELECT bytes, scanned_bytes FROM numbers") == [(8 << 20, 1 << 20)] * 2
    assert len(set(database.rows("SELECT checksum FROM numbers"))) == 1
    _, database = both(build, tmp_path / "rate", "numbers large 8", "--watch-numbers", "nan,rate=1M")
    assert database.rows("SELECT direction, copies, bytes FROM numbers_unscanned WHERE reason GLOB '*rate=*'") == [
        ("h2d", 1, 8 << 20),
        ("d2h", 1, 8 << 20),
    ]
    _, database = both(build, tmp_path / "sample", "numbers sync 40", "--watch-numbers", "nan,sample=4")
    assert database.rows("SELECT direction, sum(copies) FROM number_stats GROUP BY 1") == [("d2h", 10), ("h2d", 10)]
    assert database.value("SELECT sum(copies) FROM numbers_unscanned WHERE reason GLOB 'sample*'") == 60


def test_a_range_has_its_least_and_greatest_value(build, tmp_path):
    _, database = both(build, tmp_path, "numbers sync 3", "--watch-numbers", "range=-6..6")
    least, greatest, outside = database.rows("SELECT min(least), max(greatest), sum(outside) FROM number_stats")[0]
    assert (round(least, 2), round(greatest, 2)) == (-6.49, 6.48) and outside > 0


# ---------------------------------------------------------------- Python lines, steps, two runs

PROGRAM = """
import ctypes, sys, math
hip = ctypes.CDLL("libamdhip64.so.6")
n, bad = 1000, int(sys.argv[1])
host, device = (ctypes.c_float * n)(), ctypes.c_void_p()
hip.hipMalloc(ctypes.byref(device), 4 * n)
gpu = (ctypes.c_float * n).from_address(device.value)
def upload():
    hip.hipMemcpy(device, host, ctypes.c_size_t(4 * n), 1)
def loss():
    hip.hipMemcpy(host, device, ctypes.c_size_t(4), 2)
for step in range(6):
    host[:] = [math.sin(i + step) for i in range(n)]
    upload()
    if step == bad: gpu[0] = math.nan
    if step == bad + 1: gpu[0] = 0.5
    loss()
    hip.hipDeviceSynchronize()
"""


def python_run(build, folder, name, bad, *options):
    (folder / "train.py").write_text(PROGRAM)
    command = [build.fade_run, "-q", "--watch-numbers", "nan,inf,checksum", "--step", "hipDeviceSynchronize", *options,
               "-o", folder / name, "--", "/usr/bin/python3", folder / "train.py", str(bad)]  # fmt: skip
    ran = harness.run(command, build.environment("v6"), folder / "ran")
    assert ran.status == 0, ran.stderr


def test_the_report_names_line_step_and_origin(build, tmp_path):
    python_run(build, tmp_path, "run.db", 3)
    rows = json.loads(query(build, tmp_path, "run.db", "numbers", "-f", "json"))
    assert [(row["direction"], row["nan"], row["origin"], row["guessed"]) for row in rows] == [("d2h", 1, "gpu", 1)]
    assert rows[0]["user_line"].startswith("train.py:11 ") and rows[0]["first_value"] == "nan (0x7fc00000)"
    finding = json.loads(
        query(build, tmp_path, "run.db", "findings", "-f", "json", "--where", "finding = 'nan-in-copies'")
    )
    assert len(finding) == 1 and "came back from the GPU" in str(finding)
    steps = json.loads(query(build, tmp_path, "run.db", "numbers-steps", "-f", "json"))
    assert [row["step"] for row in steps if row["nan"]] == [3]
    assert sum(row["copies"] for row in steps) == 12


def test_diff_names_the_step_where_two_runs_part(build, tmp_path):
    for name, bad in (("a.db", 99), ("b.db", 99), ("c.db", 3)):
        python_run(build, tmp_path, name, bad)
    same = json.loads(query(build, tmp_path, "diff", "a.db", "b.db", "--numbers", "-f", "json"))
    assert sum(row["compared"] for row in same) == 12 and not any(row["different"] for row in same)
    parted = json.loads(query(build, tmp_path, "diff", "a.db", "c.db", "--numbers", "-f", "json"))
    assert [row["step"] for row in parted if row["different"]] == [3, 4]
    page = query(build, tmp_path, "diff", "a.db", "c.db", "--numbers", "-f", "table")
    assert "The runs part at step 3" in page and "1 NaN after" in page.replace("\n", " ").replace("  ", " ")
    refused = query(build, tmp_path, "summary", "a.db", "--numbers", status=2)
    assert "only diff has --numbers" in refused


def test_a_recording_without_checksums_is_refused(build, tmp_path):
    both(build, tmp_path, "numbers sync 2")
    assert "has no checksums" in query(build, tmp_path, "diff", "run.db", "run.db", "--numbers", status=2)


# ---------------------------------------------------------------- what must not happen


def test_fade_may_die_while_it_looks(build, tmp_path):
    alone = harness.run_alone(build, "numbers sync 1500", "v6", tmp_path)
    for i in range(6):
        folder = tmp_path / f"killed{i}"
        folder.mkdir()
        command = [build.fade_run, "-q", "--watch-numbers", "nan,inf,checksum", "-o", folder / "run.db", "--",
                   *build.command("numbers sync 1500")]  # fmt: skip
        process = subprocess.Popen(command, env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        end = time.monotonic() + 60
        while process.poll() is None and sum(harness.summed(harness.read_counts(folder)).values()) < 100 * (i + 1):
            assert time.monotonic() < end
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        stdout = process.stdout.read()  # the pipe closes when the program has ended too
        process.wait()
        assert stdout == alone.stdout
        assert harness.summed(harness.read_counts(folder)) == alone.total


def test_wrong_words_have_a_place(build, tmp_path):
    for text, words in (("nan,chekcsum",
                         "--watch-numbers:5: 'chekcsum' is nothing that is watched (did you mean 'checksum'?)"),
                        ("", "--watch-numbers: it is empty"),
                        ("nan,range=3..1", "--watch-numbers:11: the range is empty")):  # fmt: skip
        refused = subprocess.run(
            [build.fade_run, "--watch-numbers", text, "--", "/bin/true"], cwd=tmp_path, capture_output=True, text=True
        )
        assert words in refused.stderr and refused.returncode != 0
        assert not list(tmp_path.glob("*.db"))
