"""fade-query import: files that are odd, bad or of another run. A refused import changes nothing."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import harness
from attaching import until
from imports import (
    changed_rocpd,
    content,
    event,
    kineto,
    recording,
    rocpd,
    run,
    trace,
    without_times,
)  # noqa: F401 (fixtures)
from queries import ENVIRONMENT


@pytest.mark.parametrize(
    "value",
    [b'"a\xff"', b'"a\x01b"', b'"\xed\xa0\x80 \xe2\x82"', b"NaN", b"Infinity", b"-Infinity", b"[nan,-inf,true]"],
)
def test_odd_bytes_in_an_argument(build, recording, tmp_path, value):
    pid, tid = harness.Database(recording).rows("SELECT pid, tid FROM calls LIMIT 1")[0]
    file = kineto(
        recording,
        tmp_path / "odd.json",
        [event("aten::\u20ac", "cpu_op", pid, tid, 1000 * n, 1000 * n + 500, x="HERE") for n in range(5000)],
    )
    text = file.read_text().replace("\\u20ac", "\u20ac").encode()
    file.write_bytes(text.replace(b'"HERE"', value))
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    done = run(build, "import", file, copy)
    assert done.returncode == 0, done.stderr
    assert harness.Database(copy).rows("SELECT name, sum(n) FROM operator_stats") == [("aten::\u20ac", 5000)]


# ---------------------------------------------------------------- what is refused


def test_another_run_is_refused(build, recording, trace, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "other.db", "--", *build.command("loop 3")]
    assert harness.run(command, build.environment("v6"), tmp_path).status == 0
    before = content(tmp_path / "other.db")
    done = run(build, "import", trace, tmp_path / "other.db")
    assert done.returncode == 1 and "it is of another run" in done.stderr and content(tmp_path / "other.db") == before


def test_calls_that_do_not_fit_are_refused(build, recording, rocpd, tmp_path):
    strange = changed_rocpd(
        rocpd,
        tmp_path / "strange.db",
        'UPDATE "rocpd_region{0}" SET start = start + id * 1000000000000, "end" = "end" + id * 1000000000000',
    )
    bare = without_times(recording, tmp_path / "bare.db")
    before = content(bare)
    done = run(build, "import", strange, bare)
    assert done.returncode == 1 and "do not fit" in done.stderr and content(bare) == before


def test_a_recording_under_way_is_refused(build, trace, tmp_path):
    with subprocess.Popen(
        [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "sleep", "60"],
        env=build.environment("v6"),
        cwd=tmp_path,
    ) as running:
        try:
            until(lambda: "still being recorded" in run(build, "info", tmp_path / "run.db").stderr)
            done = run(build, "import", trace, tmp_path / "run.db")
            assert done.returncode == 1 and "it is still being recorded" in done.stderr
        finally:
            running.terminate()


def bad_files(trace, recording):
    text = gzip.decompress(trace.read_bytes())
    pid, tid = harness.Database(recording).rows("SELECT pid, tid FROM calls LIMIT 1")[0]
    call = event("hipMalloc", "cuda_runtime", pid, tid, 10, 20)
    one = lambda **more: json.dumps({"traceEvents": [{**call, **more}]}).encode()  # noqa: E731
    return {
        "ends early": text[: len(text) // 2],
        "ends in a text": text[:-3] + b'"abc',
        "no JSON": b"\x00\xff hello",
        "empty": b"",
        "other JSON": b'{"a":[1,2]}',
        "a number": b"17",
        "gzip that ends early": trace.read_bytes()[:-2000],
        "damaged gzip": trace.read_bytes()[:500] + b"\0" * 500 + trace.read_bytes()[1000:],
        "time is text": one(ts="soon"),
        "time is null": one(ts=None),
        "time is huge": one(ts=1e300),
        "duration below 0": one(dur=-5.0),
        "pid is text": one(pid="x"),
        "no name": one(name=""),
        "events are numbers": b'{"traceEvents":[1,2]}',
        "events are lists": b'{"traceEvents":[[]]}',
        "deep": b"[" * 100_000,
        "deep inside": b'{"traceEvents":[{"args":' + b'{"a":' * 1000,
        "a long text": b'{"traceEvents":[{"name":"' + b"a" * (20 << 20) + b'"}]}',
        "two values": text + text,
    }


@pytest.mark.parametrize(
    "name",
    [
        "ends early",
        "ends in a text",
        "no JSON",
        "empty",
        "other JSON",
        "a number",
        "gzip that ends early",
        "damaged gzip",
        "time is text",
        "time is null",
        "time is huge",
        "duration below 0",
        "pid is text",
        "no name",
        "events are numbers",
        "events are lists",
        "deep",
        "deep inside",
        "a long text",
        "two values",
    ],
)
def test_bad_json_changes_nothing(build, recording, tmp_path, name):
    whole = recording.parent / "whole.pt.trace.json.gz"
    if not whole.exists():
        assert run(build, "export", recording, "-o", whole).returncode == 0
    bare = without_times(recording, tmp_path / "bare.db")
    before = content(bare)
    (tmp_path / "bad.json").write_bytes(bad_files(whole, recording)[name])
    done = run(build, "import", tmp_path / "bad.json", bare)
    assert done.returncode == 1 and "cannot import" in done.stderr and "cause:" in done.stderr, done.stderr
    assert content(bare) == before


@pytest.mark.parametrize(
    "statement",
    [
        'DROP TABLE "rocpd_string{0}"',
        'UPDATE "rocpd_region{0}" SET start = \'soon\'',
        'UPDATE "rocpd_kernel_dispatch{0}" SET "end" = start - 1',
        'UPDATE "rocpd_memory_copy{0}" SET start = 9000000000000000000, "end" = 9000000000000000001',
    ],
)
def test_bad_rocpd_changes_nothing(build, recording, rocpd, tmp_path, statement):
    bad = changed_rocpd(rocpd, tmp_path / "bad.db", statement)
    bare = without_times(recording, tmp_path / "bare.db")
    before = content(bare)
    done = run(build, "import", bad, bare)
    assert done.returncode == 1 and "cannot import" in done.stderr and content(bare) == before, done.stderr


def test_other_databases_and_missing_files(build, recording, tmp_path):
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    for file, why in ((recording, "database of something else"), (tmp_path / "none.json", "No such file")):
        done = run(build, "import", file, copy)
        assert done.returncode == 1 and why in done.stderr
    assert run(build, copy, "import").returncode == 2


def test_hostile_names_are_shown_harmlessly(build, recording, rocpd, tmp_path):
    evil = changed_rocpd(
        rocpd,
        tmp_path / "evil.db",
        "UPDATE \"rocpd_info_kernel_symbol{0}\" SET display_name = char(27) || '[2J' || id || char(10) || CAST(x'ff' "
        "AS TEXT) || hex(zeroblob(9000))",
    )
    bare = without_times(recording, tmp_path / "bare.db")
    assert run(build, "import", evil, bare).returncode == 0
    names = [name for (name,) in harness.Database(bare).rows("SELECT DISTINCT name FROM gpu_work")]
    assert (
        any("\\x1b[2J" in name for name in names)
        and not any("\x1b" in name or "\n" in name for name in names)
        and max(map(len, names)) < 5000
    )


def test_memory_stays_small_for_a_large_trace(build, recording, tmp_path):
    pid, tid = harness.Database(recording).rows("SELECT pid, tid FROM calls LIMIT 1")[0]
    start = harness.Database(recording).value("SELECT start_ns FROM sessions")
    with gzip.open(tmp_path / "big.pt.trace.json.gz", "wt", compresslevel=1) as file:
        file.write(f'{{"baseTimeNanoseconds": {start}, "traceEvents": [\n')
        for n in range(400_000):
            file.write(
                f'{{"ph":"X","cat":"cpu_op","name":"aten::op{n % 50}","pid":{pid},"tid":{tid},"ts":{n},"dur":0.5,'
                f'"args":{{"Input":"{"x" * 200}"}}}},\n'
            )
        file.write("{}]}")
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    assert (
        harness.peak_kib([build.fade_query, "import", tmp_path / "big.pt.trace.json.gz", copy], ENVIRONMENT)
        < 200 * 1024
    )
    assert harness.Database(copy).value("SELECT sum(n) FROM operator_stats") == 400_000


# ---------------------------------------------------------------- what is no file, and what does not end


@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_only_regular_files(build, recording, tmp_path, name):
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    if name == "pipe":
        os.mkfifo(tmp_path / name)
    done = run(build, "import", tmp_path / name, copy)
    assert done.returncode == 1 and "no regular file" in done.stderr


@pytest.mark.parametrize(
    "content, cause",
    [
        (b"", "it is empty"),
        (b"\n\x14@\x01z\x10\n\x0efade run --x", "a trace of Perfetto"),
        (b'\n\n{"traceEvents": []}', "neither calls, nor work of a GPU, nor operators"),
    ],
)
def test_the_cause_of_a_refusal_is_named(build, recording, tmp_path, content, cause):
    (tmp_path / "other.trace").write_bytes(content)
    done = run(build, "import", tmp_path / "other.trace", without_times(recording, tmp_path / "bare.db"))
    assert done.returncode == 1 and cause in done.stderr and "fix:" in done.stderr, done.stderr


def test_a_view_without_an_end_is_refused(build, recording, rocpd, tmp_path):
    endless = "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT n AS id, n AS pid FROM a"
    bad = changed_rocpd(
        rocpd,
        tmp_path / "bad.db",
        'ALTER TABLE "rocpd_info_process{0}" RENAME TO hidden',
        f'CREATE VIEW "rocpd_info_process{{0}}" AS {endless}',
    )
    done = run(build, "import", bad, without_times(recording, tmp_path / "bare.db"))
    assert done.returncode == 1 and "is no table" in done.stderr, done.stderr


@pytest.mark.parametrize("off", [30 * 86400 * 10**9, -30 * 86400 * 10**9])
def test_operators_of_another_time_are_refused(build, recording, tmp_path, off):
    pid, tid = harness.Database(recording).rows("SELECT pid, tid FROM calls LIMIT 1")[0]
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    before = content(copy)
    done = run(
        build,
        "import",
        kineto(recording, tmp_path / "ops.json", [event("aten::mm", "cpu_op", pid, tid, off, off + 1000)]),
        copy,
    )
    assert (
        done.returncode == 1 and "lies in the time of the recording" in done.stderr and content(copy) == before
    ), done.stderr


@pytest.fixture(scope="module")
def large(recording):
    pid, tid = harness.Database(recording).rows("SELECT pid, tid FROM calls LIMIT 1")[0]
    path = recording.parent / "large.json"
    with open(path, "w") as file:
        file.write(
            f'{{"baseTimeNanoseconds": {harness.Database(recording).value("SELECT start_ns FROM sessions")}, '
            f'"traceEvents": [\n'
        )
        for n in range(600_000):
            file.write(
                f'{{"ph":"X","cat":"cpu_op","name":"aten::op{n % 50}","pid":{pid},"tid":{tid},"ts":{n / 2},'
                f'"dur":0.3}},\n'
            )
        file.write("{}]}")
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_import_that_is_ended_leaves_the_recording_as_it_was(build, recording, large, tmp_path, number):
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    before, size = content(copy), copy.stat().st_size
    with subprocess.Popen(
        [build.fade_query, "import", large, copy], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        while process.poll() is None and copy.stat().st_size == size:
            time.sleep(0.005)
        process.send_signal(number)
        assert process.wait(60) == -number
    assert (tmp_path / "run.db-journal").exists() == (number == signal.SIGKILL)
    assert run(build, copy, "info").returncode == 0
    assert content(copy) == before and not (tmp_path / "run.db-journal").exists()
