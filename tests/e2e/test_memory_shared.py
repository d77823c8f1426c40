"""Memory that is not simply allocated: by launches of graphs, of other processes, from outside of HIP, managed; against
the runtime's own ledger."""
import json
import subprocess

import pytest

import harness
from queries import ENVIRONMENT, on_terminal

RUNTIMES = ["v6", "v7"]  # HIP 5.2 has no memory in graphs


@pytest.fixture
def record(build, tmp_path):
    def run(line, runtime="v6", options=()):
        ran = harness.run_supervised(build, line, runtime, tmp_path, options=options,
                                     FADE_STANDIN_MEMORY=str(tmp_path / "memory"))
        assert ran.status == 0, ran.stderr
        return harness.Database(tmp_path / "run.db")
    return run


def own_ledger(tmp_path):
    """What the runtime counted: (process, device, memory, live, peak, allocations, frees)."""
    rows = [line.split() for line in (tmp_path / "memory").read_text().splitlines()]
    return sorted((int(pid), int(device), memory, *map(int, figures)) for pid, device, memory, *figures in rows)


def ledger(database):
    return sorted(
        database.rows("SELECT pid, device, memory, live_at_end, peak, allocs, frees FROM memory_totals UNION ALL "
                      "SELECT pid, device, kind, live_at_end, peak, allocs, frees FROM memory_stats WHERE kind = "
                      "'imported'"))


def report(build, tmp_path, *words):
    done = subprocess.run([build.fade_query, tmp_path / "run.db", *words, "--format", "json"],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("line", ["graph_memory nodes", "graph_memory any_nodes",
                                  "graph_memory captured 4", "graph_memory captured 0", "graph_memory nested",
                                  "graph_memory out_of_memory", "shared_memory ipc",
                                  "shared_memory external", "shared_memory managed"])
def test_the_ledger_equals_the_runtimes(record, tmp_path, line, runtime):
    database = record(line, runtime)
    assert ledger(database) == own_ledger(tmp_path)
    assert database.value("SELECT coalesce(sum(unknown_frees), 0) FROM memory_stats") == 0


def test_memory_of_a_graph_is_of_the_call_that_put_it_there(build, record, tmp_path):
    record("graph_memory captured 3")
    rows = [row for row in report(build, tmp_path, "allocs") if row["kind"] == "graph"]
    assert sorted((row["name"], row["size_bytes"])
                  for row in rows) == 3 * [("hipMallocAsync", 3000)] + 3 * [("hipMallocFromPoolAsync", 5000)]
    (left,) = report(build, tmp_path, "leaks")
    assert (left["kind"], left["name"], left["n"], left["size_bytes"]) == ("graph", "hipMallocFromPoolAsync", 1, 5000)
    assert left["library"].endswith("/graph_memory") and left["stack"] is not None


def test_each_allocation_of_a_graph_has_its_stack(record):
    assert record("graph_memory nodes").rows("SELECT DISTINCT stack IS NOT NULL FROM allocations") == [(1,)]


def test_a_launch_without_memory_says_how_much_its_graph_needs(build, record, tmp_path):
    database = record("graph_memory out_of_memory")
    ((name, asked, total),) = database.rows("SELECT name, asked, total FROM ooms")
    assert (name, asked) == ("hipGraphLaunch", total + total // 2)
    assert ("out-of-memory",) in database.rows("SELECT finding FROM findings")


def test_memory_of_another_process_counts_there(build, record, tmp_path):
    database = record("shared_memory ipc")
    (offering,) = {pid for pid, _, memory, *_ in own_ledger(tmp_path) if memory == "device"}
    rows = database.rows("SELECT size, owner, name FROM allocations WHERE kind = 'imported' ORDER BY size")
    assert rows == [(40000, offering, "hipMemPoolImportPointer"), (96 << 10, offering, "hipIpcOpenMemHandle"),
                    (1 << 20, offering, "hipIpcOpenMemHandle")]
    assert database.value("SELECT count(*) FROM memory_totals") == 1
    (left,) = report(build, tmp_path, "leaks")
    assert (left["kind"], left["size_bytes"]) == ("imported", 96 << 10)


def test_memory_of_a_process_that_is_not_watched_is_of_unknown_size_until_it_is_told(build, record, tmp_path):
    database = record("shared_memory ipc", options=("--no-follow",))
    assert sorted(database.rows("SELECT size, owner FROM allocations"),
                  key=str) == [(96 << 10, None), (None, None), (None, None)]
    assert [row["size_bytes"] for row in report(build, tmp_path, "allocs", "--name", "Pool")] == [None]
    assert "hipMemPoolImportPointer" in on_terminal(build, [tmp_path / "run.db", "allocs", "--no-color"], 200)


@pytest.mark.parametrize("columns", [80, 200])
def test_reports_fit_the_terminal(build, record, tmp_path, columns):
    record("graph_memory nodes")
    for words in (["allocs"], ["leaks"], ["memory"], ["memory", "--peak"]):
        text = on_terminal(build, [tmp_path / "run.db", *words, "--no-color"], columns)
        assert max(map(len, text.splitlines())) <= columns, text
