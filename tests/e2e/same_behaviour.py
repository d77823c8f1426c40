"""A tracee alone against the same tracee under fade: what it prints, how it ends, and how often it called."""
import pytest

import harness
from cases import CASES

PAIRS = [pytest.param(case, runtime, id=f"{case.line.replace('{tracees}/', '')}@{runtime}".replace(" ", "_"))
         for case in CASES for runtime in case.runtimes.split()]


def check_counts(case, supervised, database):
    """What the database holds equals what the runtime counted itself, for every function and process."""
    for source in ("call_stats", "calls"):
        found = database.counts(source)
        if case.merged:
            assert not harness.differences(supervised.total, harness.summed(found), case.slack), source
            continue
        assert set(supervised.counts) <= set(found), f"{source}: a process is missing"
        for pid in found:
            assert not harness.differences(supervised.counts.get(pid, {}), found[pid], case.slack), f"{source} of {pid}"


def check_behaviour_and_counts(case, runtime, build, tmp_path, options=("-e", harness.EVERYTHING), holds=None):
    """Alone and supervised. `holds`: statements about the recording, instead of those of the case."""
    if case.needs and not (build.tracees / case.needs).exists():
        pytest.skip(f"{case.needs} was not built: no 32-bit C library")
    alone = harness.run_alone(build, case.line, runtime, tmp_path)
    supervised = harness.run_supervised(build, case.line, runtime, tmp_path, options=options)

    assert supervised.stderr.decode(errors="replace") == alone.stderr.decode(errors="replace")
    assert supervised.stdout.decode(errors="replace") == alone.stdout.decode(errors="replace")
    assert supervised.status == alone.status
    if not case.free:
        assert supervised.total == alone.total

    database = harness.Database(tmp_path / "run.db")
    check_counts(case, supervised, database)
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    assert database.value("SELECT min(clean) FROM sessions") == 1
    for sql in case.holds if holds is None else holds:
        assert database.value(sql) == 1, sql
