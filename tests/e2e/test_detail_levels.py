"""--detail with levels of groups: what is counted is the same, rows and texts are those of the levels."""
import pytest

import harness
from test_coverage_matrix import ask, flat

WORDS = "parts alloc launch=300 alloc free fail copy sync launch=4"
LISTS = [
    "calls,kernel=stats",
    "calls,mem=stats",
    "stats,mem=full",
    "full,copy=stats",
    "calls,hip=stats,mem=calls",
    "stats,mem=stats",
]
ENGINES = ["breakpoints", "taps"]


@pytest.fixture
def record(build, tmp_path):
    def recorded(name, *options):
        folder = tmp_path / name
        supervised = harness.run_supervised(build, WORDS, "v6", folder, options=("-e", harness.EVERYTHING, *options))
        return supervised, harness.Database(folder / "run.db"), folder / "run.db"

    return recorded


def sums(database):
    queries = [
        "SELECT name, sum(calls), sum(errors) FROM call_stats GROUP BY name",
        "SELECT name, sum(launches) FROM kernel_stats GROUP BY name",
        "SELECT direction, sum(n), sum(bytes) FROM copy_stats GROUP BY direction",
        "SELECT peak, live_at_end, allocs, frees FROM memory_totals",
        "SELECT name, error, repeats FROM failures",
    ]
    return [sorted(database.rows(query)) for query in queries]


def rows_by_group(database):
    return dict(
        database.rows('SELECT f."group", count(*) FROM calls c JOIN functions f ON f.id = c.function_id GROUP BY 1')
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_are_the_same_at_every_level(record, engine):
    _, plain, _ = record("plain", "--engine", engine)
    for n, levels in enumerate(LISTS):
        supervised, database, _ = record(f"levels{n}", "--engine", engine, "--detail", levels)
        assert not harness.differences(
            supervised.total, dict(database.rows("SELECT name, sum(calls) FROM call_stats GROUP BY name"))
        )
        assert sums(database) == sums(plain), levels
        assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_group_with_stats_has_sums_and_no_rows(record, engine):
    _, plain, _ = record("plain", "--engine", engine)
    _, database, path = record("levels", "--engine", engine, "--detail", "calls,kernel=stats,sync=stats")
    expected = rows_by_group(plain)
    assert {expected.pop("kernel"), expected.pop("sync")} == {304, 1}
    assert rows_by_group(database) == expected
    assert database.value("SELECT count(*) FROM launches") == 0
    assert database.value("SELECT detail FROM sessions") == "calls,kernel=stats,sync=stats"
    assert dict(
        database.rows("SELECT topic, has_rows FROM watched WHERE topic IN ('launches', 'waits', 'memory', 'calls')")
    ) == {"launches": 0, "waits": 0, "memory": 1, "calls": 0}
    levels = dict(database.rows("SELECT \"group\", level FROM coverage WHERE api = 'hip' AND functions > 0"))
    assert {group: levels[group] for group in ("kernel", "mem", "sync")} == {
        "kernel": "statistics",
        "mem": "rows",
        "sync": "statistics",
    }


def test_memory_alone_has_rows(record):
    allocations = "SELECT count(*) FROM allocations"
    _, plain, _ = record("plain")
    _, database, _ = record("levels", "--detail", "stats,mem=full")
    assert set(rows_by_group(database)) == {"mem"}
    assert database.value(allocations) == plain.value(allocations) > 0
    _, database, _ = record("counted", "--detail", "calls,mem=stats")
    assert "mem" not in rows_by_group(database)
    assert database.value(allocations) == 0
    assert database.value("SELECT sum(live_at_end) FROM memory_totals") == 1 << 20


def test_full_has_the_texts_of_all_arguments(record):
    text = "SELECT count(*) FROM calls WHERE args IS NOT NULL AND name = 'hipLaunchKernel'"
    _, database, _ = record("calls", "--detail", "calls,mem=full")
    assert database.value(text) == 200  # later ones are packed
    _, database, _ = record("full", "--detail", "calls,kernel=full")
    assert database.value(text) == 304


def test_reports_say_what_is_only_counted(build, record):
    _, _, path = record("levels", "--detail", "calls,kernel=stats")
    sentence = "of kernel only counts and times were recorded (--detail calls,kernel=stats)"
    assert sentence in flat(ask(build, path, "launches", "-f", "table").stdout)
    assert sentence in flat(ask(build, path, "calls", "-f", "table").stderr)
    assert sentence not in flat(ask(build, path, "leaks", "-f", "table").stdout)
    exported = ask(build, path, "export", "-o", path.parent / "out.jsonl")
    assert sentence in flat(exported.stderr), exported
