"""fade-query import: the GPU's times and the operators of another profiler's file of the same run."""

import json
import random
import shutil
import sqlite3

import pytest

import harness
from imports import (
    FILES,
    changed_rocpd,
    content,
    event,
    kineto,
    recording,
    rocpd,
    run,
    trace,
    without_times,
)  # noqa: F401 (fixtures)

SAME = ["gpu-work", "gpu-copies", "gpu-busy", "gpu-delays", "gpu-coverage", "gpu-steps", "kernels"]

SHIFTED = {"rocpd_region": "start end", "rocpd_kernel_dispatch": "start end", "rocpd_memory_copy": "start end"}


def answers(build, path, reports):
    out = {}
    for report in reports:
        done = run(build, path, report, "--format", "csv", "--limit", "0")
        assert done.returncode == 0, done.stderr
        out[report] = sorted(done.stdout.splitlines())
    return out


# ---------------------------------------------------------------- the round trip


def test_times_come_back_as_they_were(build, recording, trace, tmp_path):
    bare = without_times(recording, tmp_path / "bare.db")
    done = run(build, "import", trace, bare)
    assert done.returncode == 0, done.stderr
    assert (
        "(100.0 %) were seen by fade as well" in done.stdout
        and "(100.0 %) kernels, copies and fills are tied" in done.stdout
    )
    assert answers(build, bare, SAME) == answers(build, recording, SAME)
    works = (
        "SELECT call, kind, name, device, stream, tid, start, \"end\", bytes FROM gpu_work WHERE kind <> 'barrier' "
        "ORDER BY start, \"end\", call"
    )
    told, own = harness.Database(bare), harness.Database(recording)
    assert told.rows(works) == own.rows(works)
    assert told.rows("SELECT DISTINCT source FROM gpu_work") == [
        (told.value("SELECT format FROM imports"),)
    ] and own.rows("SELECT DISTINCT source FROM gpu_work") == [("fade",)]
    assert "The times are not fade's own" in told.value("SELECT text FROM gpu_doubts")


def test_busy_and_idle_times_come_back(build, recording, trace, tmp_path):
    bare = without_times(recording, tmp_path / "bare.db")
    assert run(build, "import", trace, bare).returncode == 0
    busy = (
        "SELECT device, first, last, busy_ns, kernel_ns, copy_ns, overlap_ns, idle_ns, kernels, kernel_median_ns FROM "
        "gpu_busy"
    )
    told, own = harness.Database(bare), harness.Database(recording)
    assert told.rows(busy) == own.rows(busy)
    gaps = "SELECT sum(n), sum(total_ns), max(max_ns) FROM gpu_gaps"
    assert told.rows(gaps) == own.rows(gaps)
    assert told.value("SELECT count(*) FROM gpu_idle WHERE asked IS NOT NULL") == 0, "that moment is in no file"
    # That moment is estimated. An idle time before work that was queued may then seem to end with its launch.
    cause = "SELECT start, cause FROM gpu_idle"
    mine, theirs = dict(own.rows(cause)), dict(told.rows(cause))
    both = mine.keys() & theirs.keys()  # the hundred longest of a device
    assert len(both) > 20
    assert {start for start in both if mine[start] not in (theirs[start], "queued")} == set()


def test_the_same_file_twice_adds_nothing(build, recording, trace, tmp_path):
    bare = without_times(recording, tmp_path / "bare.db")
    assert run(build, "import", trace, bare).returncode == 0
    once = content(bare)
    done = run(build, "import", trace, bare)
    assert done.returncode == 0 and "already: import 1" in done.stdout
    assert content(bare) == once


def test_own_times_stay(build, recording, trace, tmp_path):
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    done = run(build, "import", trace, copy)
    assert done.returncode == 0 and "not taken: the recording has times" in done.stdout, done.stderr
    assert answers(build, copy, SAME + ["gpu", "gpu-idle"]) == answers(build, recording, SAME + ["gpu", "gpu-idle"])
    assert harness.Database(copy).rows("SELECT DISTINCT source FROM gpu_work") == [("fade",)]


def test_a_second_source_adds_nothing(build, recording, tmp_path):
    bare = without_times(recording, tmp_path / "bare.db")
    for file in FILES:
        assert run(build, "export", recording, "-o", tmp_path / file).returncode == 0
        assert run(build, "import", tmp_path / file, bare).returncode == 0
    database = harness.Database(bare)
    assert (
        database.rows("SELECT format, works FROM imports")[1] == ("kineto", 0)
        and database.value("SELECT count(*) FROM imports") == 2
    )
    assert database.value("SELECT count(*) FROM gpu_work") == harness.Database(recording).value(
        "SELECT count(*) FROM gpu_work WHERE kind <> 'barrier'"
    )


# ---------------------------------------------------------------- clocks and joins


def test_a_clock_of_its_own_is_found(build, recording, rocpd, tmp_path):
    shift = 12_345_678_901_234
    moved = changed_rocpd(
        rocpd,
        tmp_path / "moved.db",
        *(f'UPDATE "{table}{{0}}" SET start = start + {shift}, "end" = "end" + {shift}' for table in SHIFTED),
    )
    bare = without_times(recording, tmp_path / "bare.db")
    done = run(build, "import", moved, bare)
    assert done.returncode == 0 and "found by calls that both saw" in done.stdout, done.stderr
    assert answers(build, bare, SAME) == answers(build, recording, SAME)


def test_a_part_of_the_run(build, recording, rocpd, tmp_path):
    """The profiler began later than fade, and saw each call a little later."""
    middle = harness.Database(recording).rows("SELECT boot_ns FROM sessions")[0][0] + harness.Database(recording).value(
        "SELECT avg(start) FROM gpu_work"
    )
    part = changed_rocpd(
        rocpd,
        tmp_path / "part.db",
        f'DELETE FROM "rocpd_region{{0}}" WHERE start < {middle}',
        f'DELETE FROM "rocpd_kernel_dispatch{{0}}" WHERE start < {middle}',
        f'DELETE FROM "rocpd_memory_copy{{0}}" WHERE start < {middle}',
        'UPDATE "rocpd_region{0}" SET start = start + 700 + id % 13, "end" = "end" + 713',
    )
    bare = without_times(recording, tmp_path / "bare.db")
    assert run(build, "import", part, bare).returncode == 0
    told, own = harness.Database(bare), harness.Database(recording)
    works = set(told.rows("SELECT call, start, \"end\" FROM gpu_work WHERE call IS NOT NULL"))
    assert len(works) > 300 and works <= set(own.rows("SELECT call, start, \"end\" FROM gpu_work"))
    calls, matched = told.rows("SELECT calls, matched FROM imports")[0]
    assert calls > 100 and matched > 0.95 * calls  # calls that fade saw at the same time are not told apart


def test_kernels_without_calls_are_paired_in_their_order(build, recording, rocpd, tmp_path):
    """rocprofv3 --kernel-trace has no calls of the host."""
    alone = changed_rocpd(
        rocpd, tmp_path / "alone.db", 'DELETE FROM "rocpd_region{0}"', 'UPDATE "rocpd_event{0}" SET stack_id = 0'
    )
    bare = without_times(recording, tmp_path / "bare.db")
    done = run(build, "import", alone, bare)
    assert done.returncode == 0 and "not checked: no call was seen by both" in done.stdout, done.stderr
    told, own = harness.Database(bare), harness.Database(recording)
    tied = set(told.rows("SELECT call, start FROM gpu_work WHERE call IS NOT NULL"))
    assert tied <= set(own.rows("SELECT call, start FROM gpu_work"))
    assert told.value("SELECT count(*) FROM gpu_work") == own.value(
        "SELECT count(*) FROM gpu_work WHERE kind <> 'barrier'"
    )


def moved_by(rocpd, path, shift):
    return changed_rocpd(
        rocpd,
        path,
        *(f'UPDATE "{table}{{0}}" SET start = start + {shift}, "end" = "end" + {shift}' for table in SHIFTED),
    )


def ties(path, shift=0):
    works = "SELECT w.start, w.\"end\", w.tid, w.name, w.call FROM gpu_work w WHERE kind <> 'barrier'"
    return {(start - shift, end - shift, *more): call for start, end, *more, call in harness.Database(path).rows(works)}


def wrong_and_right(told, own):
    wrong = sum(call is not None and own[work] != call for work, call in told.items())
    return wrong, sum(call is not None and own[work] == call for work, call in told.items())


@pytest.mark.parametrize("shift", [1_000_000, 3_000_000, -2_000_000, 7_000_000, 20_000_000])
def test_a_clock_that_is_a_little_off_ties_no_wrong_call(build, recording, rocpd, tmp_path, shift):
    """In a busy loop any clock finds a call close by."""
    bare = without_times(recording, tmp_path / "bare.db")
    done = run(build, "import", moved_by(rocpd, tmp_path / "moved.db", shift), bare)
    if done.returncode != 0:
        assert "do not fit" in done.stderr
        return
    off = (
        shift
        + harness.Database(bare).value("SELECT shift FROM import_")
        + harness.Database(recording).value("SELECT boot_ns FROM sessions")
    )
    assert abs(off) < 5000, done.stdout
    assert wrong_and_right(ties(bare, off), ties(recording))[0] == 0 and (
        "corrected" in done.stdout or "found" in done.stdout
    )


@pytest.fixture(scope="module")
def tight(build, recording):
    """Calls 8 us apart."""
    path, file = recording.parent / "tight.db", recording.parent / "tight.rocpd.db"
    shutil.copy(recording, path)
    connection = sqlite3.connect(path)
    for (thread,) in connection.execute("SELECT DISTINCT thread FROM call_").fetchall():
        for k, (call,) in enumerate(
            connection.execute("SELECT id FROM call_ WHERE thread = ? ORDER BY id", (thread,)).fetchall()
        ):
            connection.execute(
                "UPDATE call_ SET ts = ?, dur = 4000 WHERE id = ?", (70_000_000 + k * 8000 + call % 7 * 300, call)
            )
    connection.commit()
    connection.close()
    assert run(build, "export", path, "-o", file).returncode == 0
    return path, file


@pytest.mark.parametrize(
    "lacks",
    [
        "id % 50 = 7",
        "ts < 70400000",
        "ts < 72400000",
        "id IN (SELECT min(id) + 40 FROM call_ GROUP BY thread)",
        "random",
    ],
)
def test_calls_that_one_side_lacks_tie_nothing_wrong(build, tight, tmp_path, lacks):
    own, file = tight
    bare, part = without_times(own, tmp_path / "bare.db"), file
    connection = sqlite3.connect(bare)
    if lacks == "random":
        dice, calls = random.Random(4), [call for (call,) in connection.execute("SELECT id FROM call_")]
        connection.executemany("DELETE FROM call_ WHERE id = ?", [(call,) for call in calls if dice.random() < 0.1])
        gone = ",".join(str(call) for call in calls if dice.random() < 0.1)
        part = changed_rocpd(file, tmp_path / "part.db", f'DELETE FROM "rocpd_region{{0}}" WHERE id IN ({gone})')
    else:
        connection.execute(f"DELETE FROM call_ WHERE {lacks}")
    connection.commit()
    kept = {call for (call,) in connection.execute("SELECT id FROM call_")}
    connection.close()
    done = run(build, "import", part, bare)
    assert done.returncode == 0, done.stderr
    truth = ties(own)
    wrong, right = wrong_and_right(ties(bare), truth)
    assert wrong == 0 and right > 0.6 * sum(call in kept for call in truth.values()), done.stdout


def test_a_process_without_timed_work_gets_times(build, recording, rocpd, tmp_path):
    bare = without_times(recording, tmp_path / "bare.db")
    connection = sqlite3.connect(bare)
    connection.execute(
        "INSERT INTO gpu_count_ (process, seen, timed, unread, untied, untold, uncalled) SELECT id, 10, 0, 0, 0, 0, 0 "
        "FROM process_"
    )
    connection.commit()
    connection.close()
    done = run(build, "import", rocpd, bare)
    assert done.returncode == 0 and "(100.0 %) kernels, copies and fills are tied" in done.stdout, (
        done.stdout,
        done.stderr,
    )


def test_untied_work_has_the_device_of_tied_work(build, recording, rocpd, tmp_path):
    """The file numbers its GPUs its own way."""
    half = changed_rocpd(
        rocpd,
        tmp_path / "half.db",
        'UPDATE "rocpd_event{0}" SET stack_id = 999999999 WHERE id % 3 = 0',
        'UPDATE "rocpd_info_agent{0}" SET type_index = 5 WHERE type = \'GPU\'',
    )
    bare = without_times(recording, tmp_path / "bare.db")
    assert run(build, "import", half, bare).returncode == 0
    works = harness.Database(bare).rows("SELECT call IS NULL, device FROM gpu_work GROUP BY 1, 2")
    assert works == [(0, 0), (1, 0)]
    lone = changed_rocpd(rocpd, tmp_path / "lone.db", 'UPDATE "rocpd_event{0}" SET stack_id = 999999999')
    bare = without_times(recording, tmp_path / "lone_bare.db")
    assert run(build, "import", lone, bare).returncode == 0
    assert harness.Database(bare).rows("SELECT DISTINCT call, device FROM gpu_work") == [(None, None)]


@pytest.mark.parametrize(
    "extra",
    ["json_object('pci', '{pci}')", "json_object('domain', 0, 'location_id', {location})"],
    ids=["fade", "rocprofv3"],
)
def test_untied_work_has_the_device_with_its_address(build, recording, rocpd, tmp_path, extra):
    bare = without_times(recording, tmp_path / "bare.db")
    pci = "0000:0a:00.0"
    connection = sqlite3.connect(bare)
    connection.execute("UPDATE device_ SET pci = ? WHERE ordinal = 0", (pci.upper(),))
    connection.commit()
    connection.close()
    lone = changed_rocpd(
        rocpd,
        tmp_path / "lone.db",
        'UPDATE "rocpd_event{0}" SET stack_id = 999999999',
        'UPDATE "rocpd_info_agent{{0}}" SET type_index = 5, extdata = {} WHERE type = \'GPU\''.format(
            extra.format(pci=pci, location=0x0A00)
        ),
    )
    done = run(build, "import", lone, bare)
    assert done.returncode == 0, done.stderr
    assert harness.Database(bare).rows("SELECT DISTINCT call, device FROM gpu_work") == [(None, 0)]


def test_operators_have_the_work_of_their_calls(build, recording, tmp_path):
    database = harness.Database(recording)
    pid, tid, first, last = database.rows(
        "SELECT pid, tid, min(start), max(\"end\") FROM calls WHERE name = 'hipLaunchKernel' GROUP BY tid ORDER BY tid "
        "DESC LIMIT 1"
    )[0]
    middle = (first + last) // 2
    file = kineto(
        recording,
        tmp_path / "ops.pt.trace.json",
        [
            event("aten::mm", "cpu_op", pid, tid, first - 5000, middle),
            event("aten::addmm", "cpu_op", pid, tid, first - 9000, last + 9000),
            event("ignored", "python_function", pid, tid, first, last),
            {"ph": "M", "name": "process_name", "pid": "Spans", "args": {"name": "x"}},
            event("elsewhere", "cpu_op", pid + 1, tid, first, last),
        ],
    )
    copy = tmp_path / "run.db"
    shutil.copy(recording, copy)
    done = run(build, "import", file, copy)
    assert done.returncode == 0 and "operators  2\n" in done.stdout and "elsewhere  1 " in done.stdout, (
        done.stdout,
        done.stderr,
    )
    told = harness.Database(copy)
    works = dict(told.rows("SELECT name, works FROM operators"))
    inside = f"FROM gpu_work w JOIN calls c ON c.id = w.call WHERE w.tid = {tid} AND w.kind <> 'barrier' AND c.start"
    assert works == {
        "aten::mm": database.value(f"SELECT count(*) {inside} BETWEEN {first - 5000} AND {middle - 1}"),
        "aten::addmm": database.value(f"SELECT count(*) {inside} >= {middle} AND c.start < {last + 9000}"),
    }
    assert told.rows("SELECT name, self_ns FROM operator_stats ORDER BY name") == [
        ("aten::addmm", last - first + 18000 - (middle - first + 5000)),
        ("aten::mm", middle - first + 5000),
    ]
    report = run(build, copy, "operators", "--format", "csv", "--columns", "name,n,self_works").stdout.splitlines()
    assert sorted(report[1:]) == sorted(f"{name},1,{n}" for name, n in works.items())
    exported = json.loads(run(build, "export", copy, "--format", "kineto").stdout)
    assert {e["name"] for e in exported["traceEvents"] if e.get("cat") == "cpu_op"} == {"aten::mm", "aten::addmm"}
