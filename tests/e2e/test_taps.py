"""The engine of taps: programs behave as if fade were not there, and every call is counted once."""
import pytest

import harness
from cases import CASES

PAIRS = [pytest.param(case, runtime, id=f"{case.line.replace('{tracees}/', '')}@{runtime}".replace(" ", "_"))
         for case in CASES for runtime in case.runtimes.split()]
TAPS = ("--engine", "taps", "-e", harness.EVERYTHING)


def check_counts(case, supervised, database):
    for source in ("call_stats", "calls"):
        found = database.counts(source)
        if case.merged:
            assert not harness.differences(supervised.total, harness.summed(found), case.slack), source
            continue
        assert set(supervised.counts) <= set(found), f"{source}: a process is missing"
        for pid in found:
            assert not harness.differences(supervised.counts.get(pid, {}), found[pid], case.slack), f"{source} of {pid}"


@pytest.mark.parametrize("case, runtime", PAIRS)
def test_same_behaviour_and_nothing_lost(case, runtime, build, tmp_path):
    if case.needs and not (build.tracees / case.needs).exists():
        pytest.skip(f"{case.needs} was not built: no 32-bit C library")
    alone = harness.run_alone(build, case.line, runtime, tmp_path)
    supervised = harness.run_supervised(build, case.line, runtime, tmp_path, options=TAPS)

    assert supervised.stderr.decode(errors="replace") == alone.stderr.decode(errors="replace")
    assert supervised.stdout.decode(errors="replace") == alone.stdout.decode(errors="replace")
    assert supervised.status == alone.status
    if not case.free:
        assert supervised.total == alone.total

    database = harness.Database(tmp_path / "run.db")
    check_counts(case, supervised, database)
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.value("SELECT min(clean) FROM sessions") == 1
    for sql in case.holds:
        assert database.value(sql) == 1, sql
