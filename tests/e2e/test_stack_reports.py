"""Reports by line of Python and by stack, against what a real Python program says of its own calls: waits, idle times,
memory, flame graphs."""
import json
import re
import subprocess
import textwrap

import pytest

import harness
from queries import ENVIRONMENT, on_terminal

PYTHON3 = "/usr/bin/python3"
DELAYS = "hipDeviceSynchronize:4ms,hipStreamSynchronize:2ms,hipMemcpy:1ms"
DELAY_NS = {"hipDeviceSynchronize": 4_000_000, "hipStreamSynchronize": 2_000_000, "hipMemcpy": 1_000_000}

# Prints for each line that waits how often it did, and how long, measured around the call.
WAITS = textwrap.dedent("""\
    import collections, ctypes, json, sys, threading, time
    hip = ctypes.CDLL("libamdhip64.so.6")
    said = collections.defaultdict(lambda: [0, 0])
    lock = threading.Lock()

    def note(name, took):
        frame = sys._getframe(1)
        with lock:
            one = said[f"{frame.f_code.co_filename}:{frame.f_lineno} {name}"]
            one[0] += 1
            one[1] += took

    class Trainer:
        def __init__(self):
            self.batch = ctypes.c_void_p()
            hip.hipMalloc(ctypes.byref(self.batch), ctypes.c_size_t(4096))
        def load(self):
            begin, size = time.monotonic_ns(), ctypes.c_size_t(4096)
            hip.hipMemcpy(self.batch, bytes(4096), size, 1); note("hipMemcpy", time.monotonic_ns() - begin)
        def loss(self):
            begin, out = time.monotonic_ns(), ctypes.create_string_buffer(4096)
            hip.hipMemcpy(out, self.batch, ctypes.c_size_t(4096), 2); note("hipMemcpy", time.monotonic_ns() - begin)
        def wait(self):
            begin = time.monotonic_ns()
            hip.hipDeviceSynchronize(); note("hipDeviceSynchronize", time.monotonic_ns() - begin)

    def in_thread(turns):
        for _ in range(turns):
            begin = time.monotonic_ns()
            hip.hipStreamSynchronize(None); note("hipStreamSynchronize", time.monotonic_ns() - begin)

    trainer = Trainer()
    thread = threading.Thread(target=in_thread, args=(7,))
    thread.start()
    for step in range(5):
        trainer.load()
        for _ in range(2): trainer.wait()
        trainer.loss()
    thread.join()
    time.sleep(0.25)
    begin = time.monotonic_ns()
    hip.hipDeviceSynchronize(); note("hipDeviceSynchronize", time.monotonic_ns() - begin)
    print(json.dumps(said))
    """)

MEMORY = textwrap.dedent("""\
    import ctypes
    hip = ctypes.CDLL("libamdhip64.so.6")
    def malloc(size):
        at = ctypes.c_void_p()
        hip.hipMalloc(ctypes.byref(at), ctypes.c_size_t(size))
        return at
    class Cache:
        def remember(self, size):
            return malloc(size)
    def weights():
        return [malloc(1 << 20) for _ in range(3)]
    kept = weights()
    scratch = [malloc(4 << 20)]
    for turn in range(4):
        Cache().remember(1000)
    pinned = ctypes.c_void_p()
    hip.hipHostMalloc(ctypes.byref(pinned), ctypes.c_size_t(1 << 16), 0)
    for at in scratch + kept[1:]:
        hip.hipFree(at)
    """)


@pytest.fixture
def record(build, tmp_path):
    def run(text, *options, **environment):
        script = tmp_path / "train.py"
        script.write_text(text)
        command = [build.fade_run, "-q", *options, "-o", tmp_path / "run.db", "--", PYTHON3, script]
        ran = harness.run(command, build.environment("v6", **environment), tmp_path / "supervised")
        assert ran.status == 0, ran.stderr
        return ran
    return run


@pytest.fixture
def query(build, tmp_path):
    def ask(*words):
        done = subprocess.run([build.fade_query, tmp_path / "run.db", *words], env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


@pytest.fixture
def rows(query):
    return lambda *words: json.loads(query(*words, "--format", "json"))


def line_of(tmp_path, text):
    [number] = [i for i, line in enumerate((tmp_path / "train.py").read_text().splitlines(), 1) if text in line]
    return number


# ---------------------------------------------------------------- waits and idle times
def test_waits_have_the_lines_and_times_that_the_program_says(record, rows):
    said = json.loads(record(WAITS, "-k", "all", FADE_STANDIN_DELAY=DELAYS).stdout)
    found = {f"{row['line']} {row['name']}": row for row in rows("waits", "--by-line")}
    assert {place: row["calls"] for place, row in found.items()} == {place: calls for place, (calls, _) in said.items()}
    for place, (calls, took) in said.items():
        assert calls * DELAY_NS[found[place]["name"]] <= found[place]["blocked_ns"] <= took
        assert found[place]["max_ns"] <= found[place]["blocked_ns"]
    assert {row["function"].split(".")[-1] for row in found.values()} == {"load", "loss",
                                                                          "wait", "in_thread", "<module>"}
    assert sum(row["percent"] for row in found.values()) == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize("stacks", ["all", "first", "off"])
def test_lines_add_up_to_all_waits(record, rows, stacks):
    record(WAITS, "-k", stacks, FADE_STANDIN_DELAY=DELAYS)
    by_line, by_caller = rows("waits", "--by-line"), rows("waits")
    for name in DELAY_NS:
        for column in ("calls", "blocked_ns"):
            assert sum(row[column] for row in by_line if row["name"] ==
                       name) == sum(row[column] for row in by_caller if row["name"] == name)
    without = [row for row in by_line if row["line"] == "(no stack; record with -k all)"]
    assert {"all": 0, "first": 3, "off": 3}[stacks] == len(without)
    assert all(row["function"] is None and row["max_ns"] is None for row in without)


def test_idle_times_name_the_line_that_went_on(record, rows, tmp_path):
    record(WAITS, "-k", "all", FADE_STANDIN_DELAY=DELAYS)
    # From the last call of the loop or of the thread, to the one after the sleep; only the start of Python may last
    # longer.
    (idle,) = [row for row in rows("idle") if row["after"] == "hipDeviceSynchronize"
               and row["duration_ns"] >= 250_000_000]
    lines = (tmp_path / "train.py").read_text().splitlines()
    number = max(i for i, line in enumerate(lines, 1) if "hip.hipDeviceSynchronize()" in line)
    assert idle["line"] == f"{tmp_path}/train.py:{number}"
    assert idle["before"] in ("hipMemcpy", "hipStreamSynchronize")
    assert idle["end_ns"] - idle["start_ns"] == idle["duration_ns"]


# ---------------------------------------------------------------- memory
def test_leaks_have_readable_stacks_the_python_line_first(record, rows, tmp_path):
    record(MEMORY)
    wrapper = line_of(tmp_path, "hip.hipMalloc(")
    found = {row["frames"].split(" < ")[1]: row for row in rows("leaks") if row["name"] == "hipMalloc"}
    first = "weights.<locals>.<listcomp>" if "weights.<locals>.<listcomp>" in found else "weights"
    assert {caller: (row["n"], row["size_bytes"])
            for caller, row in found.items()} == {"Cache.remember": (4, 4000), first: (1, 1 << 20)}
    assert all(row["user_line"] == f"train.py:{wrapper} malloc" for row in found.values())
    assert sum(row["percent"] for row in found.values()) == pytest.approx(100, abs=0.2)
    (pinned,) = [row for row in rows("leaks") if row["kind"] == "host"]
    assert (pinned["user_line"], pinned["frames"]) == (f"train.py:{line_of(tmp_path, 'hip.hipHostMalloc')} <module>",
                                                       "<module>")
    lines = rows("leaks", "--by-line")
    assert {row["user_line"]: row["size_bytes"] for row in lines} == {f"train.py:{wrapper} malloc": (1 << 20) + 4000,
                                                                      pinned["user_line"]: 1 << 16}
    assert all(row["stack"] is None for row in lines)


def test_the_peak_is_told_by_stack_by_line_and_as_a_tree(record, rows, query, tmp_path):
    record(MEMORY)
    total = (7 << 20) + 4000
    by_stack = [row for row in rows("memory", "--peak") if row["memory"] == "device"]
    assert [row["size_bytes"] for row in by_stack] == [4 << 20, 3 << 20, 4000]
    assert sum(row["size_bytes"] for row in by_stack) == total
    (by_line,) = [row for row in rows("memory", "--peak", "--by-line") if row["memory"] == "device"]
    assert (by_line["n"], by_line["size_bytes"],
            by_line["user_line"]) == (8, total, f"train.py:{line_of(tmp_path, 'hip.hipMalloc(')} malloc")
    tree = rows("flame", "--weight", "peak")
    assert sum(row["size_bytes"] for row in tree if row["frames"].startswith("device 0;")) == total
    assert all(row["frames"].endswith((";hipMalloc", ";hipHostMalloc")) for row in tree)
    folded = dict(line.rsplit(" ", 1) for line in query("flame", "--weight", "leaks",
                                                        "--format", "collapsed").splitlines())
    assert sorted(map(int, folded.values())) == [4000, 1 << 16, 1 << 20]
    profiles = json.loads(query("flame", "--weight", "leaks", "--format", "speedscope"))["profiles"]
    assert [(profile["name"], profile["endValue"])
            for profile in profiles] == [("memory never freed", 4000 + (1 << 16) + (1 << 20))]


def test_the_pages_tell_the_same(build, record, tmp_path):
    record(MEMORY)
    for width in (60, 80, 200):
        pages = [on_terminal(build, [tmp_path / "run.db", *words, "--no-color"], width)
                 for words in (["leaks"], ["memory", "--peak"])]
        assert all(len(line) <= width or str(tmp_path) in line for page in pages
                   for line in page.splitlines()), "a path stays one word"
        leaks, peak = (" ".join(page.split()) for page in pages)
        assert "1.00 MiB on device 0 never freed: 5 allocations from 2 places" in leaks, leaks
        assert re.search(r"hipMalloc x 4, the largest [0-9.]+ KiB, at train\.py:\d+ malloc", leaks), leaks
        assert "libffi" not in leaks and "_ctypes" not in leaks, ("what stands between Python and C is no place of the "
                                                                  "program")
        assert "7.00 MiB on device 0 in use at" in peak and "64.0 KiB of pinned host memory in use at" in peak, peak


def test_without_stacks_the_place_is_told(build, record, rows, tmp_path):
    record(MEMORY, "-k", "off")
    assert all(row["stack"] is None and row["frames"] is None for row in rows("leaks"))
    page = on_terminal(build, [tmp_path / "run.db", "leaks", "--no-color"], 120)
    assert "(no stack; record with -k all)" in page and "Python (ctypes)" in page and "libffi" not in page
    assert all("[no stack; record with -k all]" in row["frames"] for row in rows("flame", "--weight", "leaks"))


def test_the_first_error_names_the_line(build, record, rows, tmp_path):
    record(MEMORY, FADE_STANDIN_FAIL="hipMalloc:6:2")
    page = on_terminal(build, [tmp_path / "run.db", "first-error", "--no-color"], 120)
    assert re.search(
        rf"line +train\.py:{line_of(tmp_path, 'hip.hipMalloc(')} malloc\n +frames +malloc < Cache.remember < "
        rf"<module>\n", page), page
    (error,) = [row for row in rows("errors") if row["error"] == "hipErrorOutOfMemory"]
    assert error["user_line"] == f"train.py:{line_of(tmp_path, 'hip.hipMalloc(')} malloc"


def test_what_is_held_is_no_sum_of_calls(build, record, query, tmp_path):
    record(MEMORY)
    done = subprocess.run([build.fade_query, tmp_path / "run.db", "stacks", "--weight", "peak", "--format", "table"],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "flame --weight peak" in done.stderr
    assert "never freed" in query("flame", "--weight", "leaks", "--format", "table")


def test_calls_without_a_stack_count_with_their_function(build, tmp_path):
    """By default the first call of a place has a stack. The function's share is that of all its calls, and is called an
    estimate."""
    harness.run([build.fade_run, "-q", "-o", tmp_path / "run.db", "--", build.tracees / "arguments", "300"],
                build.environment("v6"), tmp_path)

    def flame(*words):
        return subprocess.run([build.fade_query, tmp_path / "run.db", "flame", "--weight", "calls", *words],
                              env=ENVIRONMENT, capture_output=True, text=True, timeout=60)

    folded = flame("--format", "collapsed")
    shares = {line.rsplit(" ", 1)[0].rsplit(";", 1)[1]: int(line.rsplit(" ", 1)[1])
              for line in folded.stdout.splitlines()}
    calls = dict(harness.Database(tmp_path / "run.db").rows("SELECT name, sum(calls) FROM call_stats GROUP BY name"))
    assert shares["hipMemset"] == calls["hipMemset"] == 300
    assert "% is an estimate" in folded.stderr
    assert "% is an estimate" in " ".join(flame("--format", "table").stdout.split())
