"""fade-query export: every recorded call as one JSON object, whatever the recording holds; the categories of the
summary."""
import collections
import csv
import datetime
import io
import json
import re
import sqlite3
import subprocess

import pexpect
import pytest

import harness
from queries import ENVIRONMENT

KEYS = ["timestamp", "timestamp_ns", "function", "category", "device_id", "args",
        "result", "result_name", "failed", "duration_ns", "state", "pid", "tid", "id",
        "parent_id", "api", "caller", "session"]


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    command = [build.fade_run, "-q", "--detail", "full", "-o", folder / "fade-demo.db", "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "fade-demo.db"


@pytest.fixture
def export(build, tmp_path):
    def ask(*words, folder=tmp_path):
        return subprocess.run([build.fade_query, *map(str, words)], cwd=folder, env=ENVIRONMENT,
                              capture_output=True, timeout=60)
    return ask


def objects(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def test_one_object_for_each_call_in_order_of_time(export, recording):
    rows = objects(export("export", "--format", "jsonl", recording))
    database = harness.Database(recording)
    assert [row["id"] for row in rows] == [i for (i,) in database.rows("SELECT id FROM calls ORDER BY id")]
    assert all(list(row) == KEYS for row in rows)
    stamps = [row["timestamp_ns"] for row in rows]
    assert stamps == sorted(stamps) and stamps[0] >= database.value("SELECT start_ns FROM sessions")
    for row in rows:
        at = datetime.datetime.fromisoformat(row["timestamp"])
        assert at.utcoffset() == datetime.timedelta(0) and re.search(r"\.\d{6}\+00:00$", row["timestamp"])
        assert int(at.timestamp()) == row["timestamp_ns"] // 10**9
        assert at.microsecond == row["timestamp_ns"] // 1000 % 10**6


def test_what_a_call_says(export, recording):
    rows = objects(export(recording, "export"))
    malloc = next(row for row in rows if row["function"] == "hipMalloc")
    assert malloc["category"] == "MEMORY" and malloc["result"] == 0
    assert malloc["result_name"] == "hipSuccess" and malloc["failed"] is False
    assert isinstance(malloc["args"], dict) and malloc["args"]["size"] > 0 and malloc["duration_ns"] > 0
    failed = [row for row in rows if row["failed"]]
    assert failed and all(row["result"] != 0 and row["result_name"].startswith("hipError") for row in failed)
    categories = {row["function"]: row["category"] for row in rows}
    assert categories["hipLaunchKernel"] == "KERNEL" and categories["hipMemcpy"] == "COPY"
    assert categories["hipGetDeviceCount"] == "DEVICE"
    assert {row["device_id"] for row in rows} == {0}


def test_the_current_device_of_each_thread(build, export, tmp_path):
    assert harness.run_supervised(build, "props", "v6", tmp_path, options=("--detail", "full")).status == 0
    rows = objects(export("export", tmp_path / "run.db"))
    current = 0
    for row in rows:
        assert row["device_id"] == current, row
        if row["function"] == "hipSetDevice" and not row["failed"]:
            current = row["args"]["deviceId"]
    assert current == 1


def test_without_hipSetDevice_the_device_is_not_known(build, export, tmp_path):
    assert harness.run_supervised(build, "loop 3", "v6", tmp_path, options=("-e", "mem,copy")).status == 0
    rows = objects(export("export", tmp_path / "run.db"))
    assert rows and {row["device_id"] for row in rows} == {None}


def test_cuda_functions_are_redirects_and_hold_the_hip_calls(build, export, tmp_path):
    assert harness.run_supervised(build, "cuda work 3", "zluda", tmp_path, options=("--detail", "full")).status == 0
    rows = objects(export("export", tmp_path / "run.db"))
    redirects = {row["id"]: row for row in rows if row["category"] == "REDIRECT"}
    assert redirects and all(row["api"] == "cuda" and row["function"].startswith("cu") for row in redirects.values())
    assert {row["result_name"] for row in redirects.values() if row["result"] == 0} == {"CUDA_SUCCESS"}
    inside = [row for row in rows if row["parent_id"] in redirects]
    assert {"MEMORY", "COPY", "KERNEL"} <= {row["category"] for row in inside}
    assert {row["api"] for row in inside} == {"hip"}


def test_filters_and_columns_are_those_of_reports(export, recording):
    assert {row["failed"] for row in objects(export(recording, "export", "--errors"))} == {True}
    assert {row["function"] for row in objects(export(recording, "export", "--name", "^hipMalloc$"))} == {"hipMalloc"}
    assert [list(row) for row in objects(export(recording, "export", "--columns", "function,args", "-n", "2"))] == [
        ["function", "args"]] * 2


def test_where_it_goes(export, recording, tmp_path):
    lines = export(recording, "export").stdout
    assert export(recording, "export", "-o", "-").stdout == lines
    assert export(recording, "export", "-o", "out.jsonl").stdout == b""
    assert (tmp_path / "out.jsonl").read_bytes() == lines
    again = export(recording, "export", "-o", "out.jsonl")
    assert again.returncode == 1 and b"--force" in again.stderr and (tmp_path / "out.jsonl").read_bytes() == lines
    assert export(recording, "export", "-o", "out.csv").returncode == 0
    with open(tmp_path / "out.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(lines.splitlines())
    assert json.loads(export(recording, "export", "-f", "json").stdout) == [json.loads(line)
                                                                            for line in lines.splitlines()]


def test_formats_that_there_are_not(export, recording):
    for form in ("table", "markdown", "line"):
        refused = export(recording, "export", "--format", form)
        assert refused.returncode == 2 and b"jsonl, json, csv and tsv" in refused.stderr and refused.stdout == b""
    unknown = export(recording, "export", "--format", "svg")
    assert unknown.returncode == 2 and b"svg" in unknown.stderr and b"jsonl" in unknown.stderr


def test_a_reader_that_has_enough_and_a_full_disk(build, recording):
    done = subprocess.run(f"{build.fade_query} export {recording} | head -n 1; exit ${{PIPESTATUS[0]}}",
                          shell=True, executable="/bin/bash", env=ENVIRONMENT,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)["id"] == 1 and done.stderr == b""
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.fade_query, "export", recording], stdout=full,
                              stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 1 and b"No space left on device" in done.stderr


def test_whatever_the_texts_are_it_is_json_and_one_line(export, recording, tmp_path):
    copy = tmp_path / "evil.db"
    copy.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(copy)
    calls = connection.execute("SELECT count(*) FROM call_").fetchone()[0]
    connection.execute(
        "UPDATE function_ SET name = name || char(27) || '[2J' || char(10) || '\"\\' || char(155) || CAST(x'ff' AS "
        "TEXT)")
    for n, args in enumerate(["'{\"a\":'", "'{' || char(10) || '\"a\":1}'", "CAST(x'7b2261223a22ff227d' AS TEXT)",
                              "'\"' || char(155) || '\"'", "'1e999999'"]):
        connection.execute(
            f"UPDATE arg_ SET args = {args} WHERE call = (SELECT call FROM arg_ ORDER BY call LIMIT 1 OFFSET {n})")
    connection.commit()
    connection.close()
    done = export(copy, "export")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout.decode())
    rows = objects(done)
    assert len(rows) == calls and rows[1]["args"] == {"a": 1} and rows[0]["args"] == '{"a":'


def test_memory_stays_small_for_many_calls(build, export, recording, tmp_path):
    big = tmp_path / "big.db"
    big.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(big)
    last, wanted = connection.execute("SELECT max(id) FROM call_").fetchone()[0], 300_000
    connection.execute(
        "INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) SELECT ? + n, 1000000000 + n, 7, "
        "(SELECT min(id) FROM thread_), (SELECT min(id) FROM function_), NULL, NULL, NULL, NULL "
        "FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c)",
        (last, wanted))
    connection.commit()
    connection.close()

    def peak_kib(database, output):
        with open(output, "wb") as file:
            return harness.peak_kib([build.fade_query, "export", database], ENVIRONMENT, file)

    small = peak_kib(recording, tmp_path / "small.jsonl")
    assert peak_kib(big, tmp_path / "big.jsonl") < small + 32 * 1024
    with open(tmp_path / "big.jsonl", "rb") as file:
        lines = collections.deque(file, maxlen=1)
    assert (tmp_path / "big.jsonl").stat().st_size > 64 << 20 and json.loads(lines[0])["id"] == last + wanted


def test_what_is_not_there_is_said(build, export, tmp_path):
    assert harness.run_supervised(build, "loop 3", "v6", tmp_path, options=("--detail", "stats")).status == 0
    done = export("export", tmp_path / "run.db")
    assert done.returncode == 0 and done.stdout == b"" and b"--detail stats" in done.stderr


# ---------------------------------------------------------------- the summary
def test_the_summary_counts_as_the_export_does(export, recording):
    counted = collections.Counter(row["category"] for row in objects(export(recording, "export")))
    rows = list(csv.DictReader(io.StringIO(export(recording, "categories", "-f", "csv").stdout.decode())))
    assert {row["category"]: int(row["calls"]) for row in rows} == counted
    figures = [(row["section"], row["item"], row["value"])
               for row in json.loads(export(recording, "summary", "-f", "json").stdout)]
    assert {(item, value) for section, item, value in figures if section == "category"} == set(counted.items())
    assert [item for section, item, _ in figures if section == "active device"] == [0]
    text = export(recording, "summary", "-f", "table").stdout.decode()
    assert f"{sum(counted.values()):,} calls, " in text and "used: device 0\n" in text
    for category, calls in counted.items():
        assert re.search(rf"^  {category} +{calls:,} ", text, re.M), text


@pytest.mark.parametrize("columns", [80, 200])
def test_the_categories_fit_the_terminal(build, recording, columns):
    child = pexpect.spawn(str(build.fade_query), [str(recording), "summary", "--no-color"],
                          env=ENVIRONMENT, dimensions=(50, columns), encoding="utf-8", timeout=30)
    child.expect(pexpect.EOF)
    child.close()
    lines = child.before.replace("\r\n", "\n").splitlines()
    at = next(i for i, line in enumerate(lines) if re.match(r"  category +calls", line))
    assert all(len(line) <= columns for line in lines[at:at + 8])
