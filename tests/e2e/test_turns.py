"""Threads that call all the time get alike many of their calls handled. tests/bench/share.py measures it."""
import harness

THREADS, CALLS = 64, 60_000


def test_threads_that_call_all_the_time_get_alike_many_calls(build, tmp_path):
    """By counts of calls, not by time. Other work on the machine holds threads up, but not for most of the run."""
    supervised = harness.run_supervised(build, f"share {THREADS} 0 {CALLS}", "v6",
                                        tmp_path, ("--engine", "breakpoints"))
    made = [int(line) for line in supervised.stdout.split()]
    assert supervised.status == 0 and sum(made) == CALLS and len(made) == THREADS
    assert max(made) <= 5 * min(made), made
    database = harness.Database(tmp_path / "run.db")
    recorded = database.rows("SELECT sum(calls) FROM call_stats WHERE name = 'hipMemset' GROUP BY tid")
    assert sorted(calls for calls, in recorded) == sorted(made)
