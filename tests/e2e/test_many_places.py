"""Programs that call from more places than there is room for breakpoints to return to: what needs no return has none,
and what is not seen is told."""
import csv
import io
import subprocess

import harness

PLACES = 20000


def report(build, folder, *words):
    done = subprocess.run([build.fade_query, folder / "run.db", *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def rows(build, folder, *words):
    return list(csv.DictReader(io.StringIO(report(build, folder, *words, "-f", "tsv")[1]), delimiter="\t"))


def test_registrations_take_no_return_sites(build, tmp_path):
    """As rocSPARSE, whose constructors call __hipRegisterFunction from more than 20,000 places."""
    ran = harness.run_supervised(build, "many_places register", "v6", tmp_path)
    assert ran.stdout == b"called\n", ran.stderr
    database = harness.Database(tmp_path / "run.db")
    assert harness.summed(database.counts("call_stats")) == ran.total
    states = dict(((name, state), n)
                  for name, state, n in database.rows("SELECT name, state, count(*) FROM calls GROUP BY 1, 2"))
    assert states[("__hipRegisterFunction", "entry only")] == ran.total["__hipRegisterFunction"] == PLACES
    assert {state for (name, state) in states if name != "__hipRegisterFunction"} == {"returned"}
    assert states[("hipMalloc", "returned")] == states[("hipFree", "returned")] == 10
    assert database.rows("SELECT name FROM launches") == [("many()",)]
    # Neither result nor duration were taken, and no report makes 0 ns of that.
    assert database.rows("SELECT count(duration), count(result) FROM calls WHERE name = '__hipRegisterFunction'") == [
        (0, 0)]
    assert database.rows("SELECT total_ns, avg_ns, min_ns, max_ns FROM top WHERE name = '__hipRegisterFunction'") == [
        (None,) * 4]
    shown, = [row for row in rows(build, tmp_path, "top", "--limit", "100") if row["name"] == "__hipRegisterFunction"]
    assert not [column for column, value in shown.items() if column.endswith("_ns") and value not in ("", None)], shown
    for name in ("top", "summary", "tree", "categories"):
        assert " 0 ns" not in report(build, tmp_path, name, "-f", "table")[1]
    assert database.rows("SELECT * FROM drops") == []
    assert "no calls dropped" in report(build, tmp_path, "summary", "-f", "table")[1]


def test_returns_that_are_not_seen_are_counted_and_told(build, tmp_path):
    library = next((build.runtimes / "markers").glob("libroctx64.so.4*"))
    ran = harness.run_supervised(build, f"many_places ask {library}", "v6", tmp_path,
                                 ("-e", harness.EVERYTHING, "--engine", "breakpoints"))
    assert ran.stdout == b"called\n", ran.stderr
    database = harness.Database(tmp_path / "run.db")
    counted = dict(database.rows("SELECT name, sum(calls) FROM call_stats GROUP BY 1"))
    assert counted == ran.total and counted["hipPeekAtLastError"] == PLACES
    states = {state: n for state, n in database.rows("SELECT state, count(*) FROM calls GROUP BY 1")}
    assert set(states) == {"returned", "unseen"} and states["unseen"] > 5000 and states["returned"] > 5000
    # What is loaded later is watched all the same.
    assert counted["roctxMarkA"] == 1
    # The summary and check say how many are missing, and why.
    n, = database.rows("SELECT sum(n) FROM drops")[0]
    assert n == states["unseen"]
    status, said = report(build, tmp_path, "check", "--fail-on", "dropped")
    assert status != 0 and "calls come from more places than there is room for breakpoints" in said
    summary = report(build, tmp_path, "summary", "-f", "table")[1]
    assert "no calls dropped" not in summary and "results of calls" in summary
    told = subprocess.run([build.fade_query, tmp_path / "run.db", "leaks", "-f", "table"],
                          capture_output=True, text=True, timeout=60)
    assert f"the results of {states['unseen']}" in told.stderr.replace(",", "")
    # Durations are of the calls whose returns were seen.
    assert database.value(
        "SELECT count(*) FROM calls WHERE state = 'unseen' AND (duration IS NOT NULL OR result IS NOT NULL)") == 0
    assert database.value("SELECT count(*) FROM call_stats WHERE min_ns IS NOT NULL AND name IN "
                          "(SELECT name FROM calls GROUP BY name HAVING count(duration) = 0)") == 0
