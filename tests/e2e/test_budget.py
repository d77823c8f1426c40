"""fade-run --budget: functions that cost too much are recorded with less detail, every call is counted, and reports say
so."""
import signal
import subprocess

import pytest

import harness

BUDGET = ("--budget", "0.1%", "-e", harness.EVERYTHING)  # tight loops cost more than that


def run(build, line, tmp_path, *more):
    supervised = harness.run_supervised(build, line, "v6", tmp_path, options=(*BUDGET, *more))
    return supervised, harness.Database(tmp_path / "run.db")


def counted(database):
    return dict(database.rows("SELECT name, sum(calls) FROM call_stats GROUP BY name"))


def check_counts(supervised, database):
    assert not harness.differences(supervised.total, counted(database))
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0


@pytest.mark.parametrize("line", ["asks 20000000", "asks 6000000 4"])
def test_a_tight_loop_is_recorded_with_less_and_less_detail(line, build, tmp_path):
    supervised, database = run(build, line, tmp_path)
    assert supervised.status == 0
    check_counts(supervised, database)
    steps = [value for value, in database.rows(
        "SELECT value FROM lifecycle WHERE kind = 'budget' AND detail LIKE 'hipGetDevice: %' ORDER BY id")]
    assert steps == [1, 8, 64, 512, -1][: len(steps)] and len(steps) >= 2
    assert database.value("SELECT sum(counted_calls) FROM call_stats") > 0
    assert database.rows("SELECT every FROM budgets ORDER BY start") == [(step,) for step in steps]


def test_reports_say_what_is_missing(build, tmp_path):
    _, database = run(build, "asks 20000000", tmp_path)
    assert database.value("SELECT complete FROM watched WHERE topic = 'calls'") == 0
    assert database.value("SELECT complete FROM watched WHERE topic = 'allocations'") == 1
    for report in ("top", "calls", "errors", "libraries", "threads", "categories",
                   "idle", "tree", "flow", "steps", "ranks"):
        told = subprocess.run([build.fade_query, tmp_path / "run.db", report, "--format", "table"],
                              capture_output=True, text=True, check=True)
        assert "(--budget)" in told.stdout + told.stderr, report


def test_sums_without_a_remark_have_the_counted_calls(build, tmp_path):
    _, database = run(build, "asks 20000000", tmp_path)
    calls = database.value("SELECT sum(calls) FROM call_stats")
    assert calls >= 20_000_000
    assert database.value("SELECT sum(calls) FROM call_rate") == calls
    assert database.value("SELECT sum(calls) FROM process_use") == calls
    told = subprocess.run([build.fade_query, tmp_path / "run.db", "processes", "--format", "csv"],
                          capture_output=True, text=True, check=True)
    assert str(calls) in told.stdout
    told = subprocess.run([build.fade_query, tmp_path / "run.db", "overhead", "--format", "csv"],
                          capture_output=True, text=True, check=True)
    assert "20000000" in told.stdout


def test_signals_meet_the_function_and_each_call_counts_once(build, tmp_path):
    supervised, database = run(build, "asks 20000000 1 5000", tmp_path)
    assert supervised.status == 0
    check_counts(supervised, database)


def test_a_killed_program_has_its_counts(build, tmp_path):
    supervised, database = run(build, "asks 10000000 1 0 kill", tmp_path)
    assert supervised.status == -signal.SIGKILL
    assert counted(database)["hipGetDevice"] == 10_000_000


def test_functions_with_books_keep_each_call(build, tmp_path):
    supervised, database = run(build, "bursts 200000 3 1500", tmp_path)
    check_counts(supervised, database)
    assert database.value("SELECT sum(counted_calls) FROM call_stats") == 0
    assert database.value(
        "SELECT count(*) FROM lifecycle WHERE kind = 'budget' AND value = 1 AND detail LIKE 'hipMemset: %'") == 1


def test_without_a_budget_each_call_has_a_row(build, tmp_path):
    harness.run_supervised(build, "asks 200000", "v6", tmp_path, options=("-e", harness.EVERYTHING))
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM calls") == 200_000
    assert database.value("SELECT count(*) FROM lifecycle WHERE kind = 'budget'") == 0


@pytest.mark.parametrize("text", ["nothing", "0", "101%", "3%%"])
def test_a_wrong_budget_is_refused(text, build):
    refused = subprocess.run([build.fade_run, "--budget", text, "--", "true"], capture_output=True, text=True)
    assert refused.returncode != 0 and "--budget" in refused.stderr and "--budget 3%" in refused.stderr


def test_a_budget_needs_taps(build):
    refused = subprocess.run([build.fade_run, "--budget", "3%", "--engine", "breakpoints", "--", "true"],
                             capture_output=True, text=True)
    assert refused.returncode != 0 and "exclude each other" in refused.stderr
