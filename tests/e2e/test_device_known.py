"""Where a device is known: from the calls of hipSetDevice that fade saw, and nowhere else. And what several processes
use together."""
import json
import os
import subprocess

import pytest

import harness
from attaching import attach, start  # noqa: F401 (fixtures)

MIB = 1 << 20
ALLOCATIONS = "SELECT size, device FROM allocations ORDER BY id"


@pytest.fixture
def record(build, tmp_path):
    def run(how, *options, **environment):
        ran = harness.run_supervised(build, f"devices {how}", "v6", tmp_path, options=options, **environment)
        assert (ran.status, ran.stderr) == (0, b"")
        return ran.stdout.decode(), harness.Database(tmp_path / "run.db")
    return run


def query(build, path, *words):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
    done = subprocess.run([build.fade_query, path, *words], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def device_ids(build, path):
    lines = query(build, path, "export", "--format", "jsonl").splitlines()
    return [row["device_id"] for row in map(json.loads, lines) if row["function"] == "hipMalloc"]


def test_a_forked_child_has_the_device_of_its_parent(build, record, tmp_path):
    said, database = record("fork")
    assert said == "child device 1\n"
    assert sorted(database.rows(ALLOCATIONS)) == [(1 * MIB, 1), (2 * MIB, 1)]
    assert database.rows("SELECT DISTINCT ordinal FROM devices") == [(1,)]
    assert device_ids(build, tmp_path / "run.db") == [1, 1]


def test_calls_that_fail_make_no_device(build, record, tmp_path):
    said, database = record("failing", FADE_STANDIN_DEVICES="none")
    assert said.split()[:2] == ["100", "100"]
    assert database.rows("SELECT * FROM devices") == []
    assert "Devices" not in query(build, tmp_path / "run.db", "summary", "--format", "table")


def test_a_device_that_was_set_before_fade_came_is_unknown(build, start, attach):
    target = start("devices later")
    attachment = attach(target).has_come()
    for line in ("main", "thread", "set", "main"):
        assert target.ask(line) == "done"
    database, path = attachment.leave(), attachment.database
    target.tell("end")
    assert database.rows(ALLOCATIONS) == [(1 * MIB, None), (3 * MIB, 0), (1 * MIB, 1)]
    assert database.rows("SELECT device, peak FROM memory_totals ORDER BY 1") == [(None, 1 * MIB),
                                                                                  (0, 3 * MIB), (1, 1 * MIB)]
    assert device_ids(build, path)[0] is None
    summary = query(build, path, "summary", "--format", "table")
    assert "an unknown device: peak 1.00 MiB" in summary and "used: devices 0, 1, an unknown device\n" in summary
    assert "on an unknown device" in query(build, path, "memory", "--peak", "--format", "table")


def test_without_hipsetdevice_among_the_watched_functions_it_is_unknown(record):
    _, database = record("fork", "-e", "mem")
    assert sorted(database.rows(ALLOCATIONS)) == [(1 * MIB, None), (2 * MIB, None)]
    assert database.rows("SELECT * FROM devices") == []


def test_processes_on_one_gpu_add_up(build, record, tmp_path):
    record("share")
    summary = query(build, tmp_path / "run.db", "summary", "--format", "table")
    assert "device 0: peak 2.00 MiB, 2 allocations, 2 frees" in summary
    assert "used: device 0\n" in summary


@pytest.mark.parametrize("asked", (True, False))
def test_two_gpus_of_one_number_are_told_apart(build, record, tmp_path, asked):
    names = ("RX 6800 XT", "RX 7900 XTX")
    if asked:
        settings = {f"CHILD_{i}": f"FADE_STANDIN_DEVICES={name};FADE_STANDIN_BUSES={3 + i}"
                    for i, name in enumerate(names)}
    else:
        settings = {f"CHILD_{i}": f"HIP_VISIBLE_DEVICES={i}" for i in range(2)} | {"SILENT": "1"}
    _, database = record("share", **settings)
    lines = [line for line in query(build, tmp_path / "run.db", "summary", "--format", "table").splitlines()
             if ": peak " in line]
    assert len(lines) == 2 and all("peak 1.00 MiB, 1 allocation, 1 free" in line for line in lines), lines
    if asked:
        assert "AMD Radeon RX 6800 XT" in lines[0] + lines[1] and "AMD Radeon RX 7900 XTX" in lines[0] + lines[1]
    else:
        assert {int(line.split("process ")[1].split(":")[0])
                for line in lines} == {pid for pid, in database.rows("SELECT pid FROM devices")}
