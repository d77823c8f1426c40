"""Memory: the ledger against the runtime's own, leaks, bad frees, memory that runs out, copies; and programs that do
nothing wrong."""
import json
import re
import subprocess

import pytest

import harness
from queries import ENVIRONMENT, on_terminal

RUNTIMES = ["v5", "v6", "v7"]
FINDINGS = "SELECT finding FROM findings WHERE severity <> 'info' ORDER BY 1"


@pytest.fixture
def record(build, tmp_path):
    def run(line, runtime="v6", **environment):
        ran = harness.run_supervised(build, line, runtime, tmp_path, options=(),
                                     FADE_STANDIN_MEMORY=str(tmp_path / "memory"), **environment)
        assert ran.status == 0, ran.stderr
        return harness.Database(tmp_path / "run.db")
    return run


def report(build, tmp_path, *words):
    done = subprocess.run([build.fade_query, tmp_path / "run.db", *words, "--format", "json"],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def own_ledger(tmp_path):
    """What the runtime counted: (device, memory, live, peak, allocations, frees)."""
    rows = [line.split()[1:] for line in (tmp_path / "memory").read_text().splitlines()]
    return sorted((int(device), memory, *map(int, figures)) for device, memory, *figures in rows)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("mode", ["kinds", "leak", "bad_frees", "healthy"])
def test_the_ledger_equals_the_runtimes(record, tmp_path, mode, runtime):
    database = record(f"memory {mode}", runtime)
    assert sorted(database.rows(
        "SELECT device, memory, live_at_end, peak, allocs, frees FROM memory_totals")) == own_ledger(tmp_path)
    assert database.value("SELECT coalesce(sum(unknown_frees), 0) FROM memory_stats") == 0


@pytest.mark.parametrize("line", ["threads 8 50", "calls", "loop 100", "demo"])
def test_the_ledger_equals_the_runtimes_in_other_programs(build, record, tmp_path, line):
    if line == "demo":
        command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", build.demo / "fade-demo"]
        assert harness.run(command, build.environment("v6", FADE_STANDIN_MEMORY=str(tmp_path / "memory")),
                           tmp_path).status == 0
        database = harness.Database(tmp_path / "run.db")
    else:
        database = record(line)
    seen = sorted(database.rows("SELECT device, memory, live_at_end, allocs, frees FROM memory_totals"))
    assert seen == [(device, memory, live, allocs, frees)
                    for device, memory, live, _, allocs, frees in own_ledger(tmp_path)]


def test_memory_through_zluda_is_counted_once(record, tmp_path):
    database = record("cuda work 5", "zluda")
    assert sorted(database.rows(
        "SELECT device, memory, live_at_end, peak, allocs, frees FROM memory_totals")) == own_ledger(tmp_path)
    libraries = [library for (library,) in database.rows("SELECT library FROM memory_libraries")]
    assert libraries and not [library for library in libraries if "libcuda" in library or "libnvcuda" in library]


POOL = """library "pool"
int pool_take(out void **piece @address, size_t bytes @bytes) @success(0) @memory(allocate, managed)
int pool_give(void *piece @address) @success(0) @memory(free)
int pool_lend(void *piece @address, size_t bytes @bytes) @success(0) @memory(allocate, registered)
int pool_take_back(void *piece @address) @success(0) @memory(free, registered)
"""


def test_a_users_allocator_is_in_the_ledger(build, tmp_path):
    (tmp_path / "pool.probes").write_text(POOL)
    ran = harness.run_supervised(build, "pool 3", "v6", tmp_path, options=("--probes", tmp_path / "pool.probes"))
    assert ran.status == 0 and ran.stdout == b"0 failed\n", ran.stderr
    rows = report(build, tmp_path, "leaks")  # one for each call site and stack
    assert {(row["kind"], row["name"]) for row in rows} == {("managed", "pool_take")}
    assert sum(row["n"] for row in rows) == 3 and sum(row["size_bytes"] for row in rows) == 3 << 20
    stats = harness.Database(tmp_path / "run.db").rows("SELECT kind, allocs, frees FROM memory_stats ORDER BY 1")
    assert stats == [("managed", 4, 1), ("registered", 1, 1)]


def test_list_probes_shows_the_effect_on_memory(build, tmp_path):
    (tmp_path / "pool.probes").write_text(POOL)
    listed = subprocess.run([build.fade_run, "--probes", tmp_path / "pool.probes", "--list-probes"],
                            capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0, listed.stderr
    assert "int pool_take(out void **piece, size_t bytes) @memory(allocate, managed)\n" in listed.stdout
    assert "hipHostUnregister(void *hostPtr) @memory(free, registered)\n" in listed.stdout


def test_leaks_are_shown_where_they_came_from(build, record, tmp_path):
    record("memory leak")
    (row,) = report(build, tmp_path, "leaks")
    assert (row["kind"], row["name"], row["n"], row["size_bytes"]) == ("device", "hipMalloc", 19, 19000)
    assert row["library"].endswith("/memory") and re.match(r"leak\+0x|main\+0x|.*memory", row["caller"])
    (peak,) = report(build, tmp_path, "memory", "--peak")
    assert (peak["n"], peak["size_bytes"], peak["percent"]) == (20, 20000, 100.0)


def test_bad_frees_are_findings(build, record, tmp_path):
    database = record("memory bad_frees")
    assert database.rows(FINDINGS) == [("double-free",), ("unknown-pointer",), ("unknown-pointer",)]
    assert [row[0] for row in database.rows("SELECT fault FROM bad_frees ORDER BY id")] in (
        ["freed already", "inside an allocation", "never allocated"],
        ["never allocated", "inside an allocation", "freed already"])


def test_out_of_memory_says_who_holds_it(build, record, tmp_path):
    database = record("memory out_of_memory")
    asked, used, free, total = database.rows("SELECT asked, used, free, total FROM ooms")[0]
    assert used == (3 << 20) + asked // 2 and asked == total - (3 << 20) and free == total - used
    rows = report(build, tmp_path, "oom")
    assert [(row["holder"], row["n"], row["bytes"]) for row in rows] == [("hipMalloc", 1, asked // 2),
                                                                         ("hipMalloc", 1, 3 << 20)]
    assert ("out-of-memory",) in database.rows(FINDINGS)
    told = report(build, tmp_path, "memory-free")
    assert told[0]["ledger_bytes"] == 3 << 20 and told[0]["difference_bytes"] == 0


@pytest.mark.parametrize("mode, finding", [("ping_pong", "copy-ping-pong"), ("small_copies", "small-copies")])
def test_bad_copying_is_found(record, mode, finding):
    assert record(f"memory {mode}").rows(FINDINGS) == [(finding,)]


def test_a_healthy_program_is_not_accused(build, record, tmp_path):
    database = record("memory healthy")
    assert database.rows(FINDINGS) == []
    rows = {(row["direction"], row["memory"]): row["n"] for row in report(build, tmp_path, "copies")}
    assert rows == {("h2d", "pinned"): 130, ("d2h", "pinned"): 130, ("h2d", "pageable"): 130, ("d2h", "pageable"): 130}


@pytest.mark.parametrize("columns", [80, 200])
def test_reports_fit_the_terminal(build, record, tmp_path, columns):
    record("memory out_of_memory")
    for name in ("oom", "memory-free", "memory-libraries", "copy-sizes", "leaks", "allocs", "copies"):
        text = on_terminal(build, [tmp_path / "run.db", name, "--no-color"], columns)
        assert max(map(len, text.splitlines())) <= columns, text
