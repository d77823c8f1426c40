"""Reports on times of the GPU: their figures follow from the rows of gpu_work."""

import collections
import pathlib
import subprocess

import pytest

import harness
from gpu_works import length_of, recorded, spans_of


# ---------------------------------------------------------------- reports


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu_times")
    recorded(build, "gpu_work 200 1 2", folder)
    return folder / "run.db"


def asked(build, recording, *words):
    return subprocess.run(
        [build.fade_query, *words, recording, "--format", "csv"], capture_output=True, text=True, timeout=60
    )


def test_kernels_have_their_time_on_the_gpu(build, recording):
    answer = asked(
        build,
        recording,
        "kernels",
        "--columns",
        "launches,gpu_runs,gpu_total_ns,gpu_avg_ns,gpu_min_ns,gpu_p50_ns,gpu_max_ns",
    )
    assert answer.returncode == 0, answer.stderr
    lines = [list(map(int, line.split(","))) for line in answer.stdout.splitlines()[1:]]
    assert len(lines) == 3
    for launches, runs, total, mean, least, median, most in lines:
        assert runs == launches and total // runs == mean and 0 < least <= mean <= most and least <= median <= most


def test_no_time_although_times_were_asked(build, tmp_path):
    """The runtime has no HSA here. Then the option is not the advice."""
    database = tmp_path / "none.db"
    subprocess.run(
        [build.fade_run, "-q", "--gpu-times", "-o", database, "--", *build.command("gpu_work 5 1 1")],
        env=build.environment("v6"),
        cwd=tmp_path,
        check=True,
        timeout=60,
    )
    assert (
        "no work of a GPU has a time, although it was recorded with --gpu-times" in asked(build, database, "gpu").stderr
    )


@pytest.mark.parametrize(
    "report", ["gpu-work", "gpu-coverage", "gpu", "gpu-busy", "gpu-idle", "gpu-delays", "gpu-copies"]
)
def test_reports_have_rows(build, recording, report):
    answer = asked(build, recording, report)
    assert answer.returncode == 0 and len(answer.stdout.splitlines()) > 1, answer.stderr


def test_busy_time_is_the_union_of_all_queues(build, tmp_path):
    database, works = recorded(build, "gpu_work 1000 4 8", tmp_path)
    all_works = [(kind, start, end) for of_call in works.values() for kind, _, _, start, end, _ in of_call]
    parts = [
        [(start, end) for kind, start, end in all_works if kind in kinds]
        for kinds in (("kernel", "copy", "fill"), ("kernel", "fill"), ("copy",))
    ]
    busy, kernels, copies = map(length_of, parts)
    assert database.rows("SELECT busy_ns, kernel_ns, copy_ns, overlap_ns, late FROM gpu_busy") == [
        (busy, kernels, copies, kernels + copies - busy, 0)
    ]
    assert database.rows("SELECT sum(busy_ns), sum(kernel_ns), sum(copy_ns) FROM gpu_busy_seconds") == [
        (busy, kernels, copies)
    ]
    spans = spans_of(parts[0])
    gaps = [after[0] - before[1] for before, after in zip(spans, spans[1:])]
    assert database.rows("SELECT coalesce(sum(n), 0), coalesce(sum(total_ns), 0) FROM gpu_gaps") == [
        (len(gaps), sum(gaps))
    ]
    longest = [ns for ns, in database.rows("SELECT duration FROM gpu_idle ORDER BY duration DESC")]
    assert longest == sorted(gaps, reverse=True)[:100]


def test_the_plot_of_a_short_recording_has_its_works(build, tmp_path):
    database, _ = recorded(build, "gpu_work 1000 4 8", tmp_path)
    first, span, busy = database.rows("SELECT first, duration, busy_ns FROM gpu_busy")[0]
    width = 50
    page = pathlib.Path(__file__).resolve().parents[2] / "schema/reports/page_gpu_fine_columns.sql"
    sql = page.read_text().replace(":first", str(first)).replace(":span", str(span)).replace(":width", str(width))
    columns = database.rows(sql)
    parts = [part for _, _, part, _ in columns]  # a column without work has no row
    assert parts == sorted(set(parts)) and set(parts) <= set(range(width))
    assert abs(sum(percent for *_, percent in columns) / 100 / width - busy / span) < 0.01


def test_idle_times_have_the_cause_that_the_calls_show(build, tmp_path):
    database, _ = recorded(build, "gpu_work 400 2 4", tmp_path)
    calls = {
        call: (tid, name, start, end)
        for call, tid, name, start, end in database.rows(
            "SELECT id, tid, name, start, end FROM calls WHERE parent_id IS NULL"
        )
    }
    waits = [
        (tid, name, start, end)
        for tid, name, start, end in calls.values()
        if name in ("hipMemcpy", "hipDeviceSynchronize")
    ]
    placed = collections.defaultdict(list)  # of each thread: its calls that put work to run
    for (call,) in database.rows("SELECT DISTINCT call FROM gpu_work WHERE kind <> 'barrier' ORDER BY call"):
        placed[calls[call][0]].append(call)
    told = database.rows("SELECT start, cause, asked, after_call_id FROM gpu_idle")
    assert len(told) == 100
    for begin, cause, asked, after in told:
        tid, _, entry, end = calls[after]
        waited = [name for thread, name, start, until in waits if thread == tid and start <= begin < until]
        if asked <= begin:
            expected = "queued"
        elif waited:
            expected = "copy" if waited == ["hipMemcpy"] else "sync"
        else:
            before = [calls[call][3] for call in placed[tid] if call < after]
            follows = before and entry - before[-1] < end - entry
            expected = "launch" if entry <= begin or follows else "host"
        assert cause == expected


def test_delays_count_from_the_launch(build, tmp_path):
    database, works = recorded(build, "gpu_work 300 2 4", tmp_path)
    rows = database.rows(
        "SELECT c.start, min(w.start) FROM gpu_work w JOIN calls c ON c.id = w.call WHERE w.kind = 'kernel' GROUP BY "
        "c.id"
    )
    delays = [begin - entry for entry, begin in rows]
    assert database.rows("SELECT sum(n), sum(total_ns), sum(early) FROM gpu_delays") == [
        (len(delays), sum(max(0, ns) for ns in delays), sum(ns < 0 for ns in delays))
    ]


def test_copies_have_directions(build, tmp_path):
    database, works = recorded(build, "gpu_work 300 1 2", tmp_path)
    sizes = collections.defaultdict(int)
    for of_call in works.values():
        for kind, name, _, start, end, size in of_call:
            if kind == "copy":
                sizes["h2d" if size >= 64 else "d2h"] += size
    assert dict(database.rows("SELECT direction, bytes FROM gpu_copies")) == dict(sizes)


def test_steps_have_the_work_that_their_calls_put_to_run(build, tmp_path):
    database, _ = recorded(build, "gpu_work 300 1 2", tmp_path, "--step", "hipMemcpy")
    works = database.rows(
        "SELECT s.id, count(*), sum(w.duration) FROM steps s JOIN gpu_work w ON w.call > s.first_call_id AND w.call "
        "<= s.last_call_id "
        "WHERE w.kind <> 'barrier' GROUP BY s.id ORDER BY s.id"
    )
    assert len(works) > 10 and works == database.rows("SELECT step_id, works, gpu_ns FROM gpu_steps ORDER BY step_id")
    assert database.value("SELECT count(*) FROM gpu_steps WHERE busy_ns > gpu_ns OR busy_ns <= 0") == 0


def test_top_of_the_gpu(build, recording):
    answer = asked(build, recording, "top", "--gpu", "--columns", "name,n")
    rows = dict(line.rsplit(",", 1) for line in answer.stdout.splitlines()[1:])
    assert answer.returncode == 0 and set(rows) == {
        "add_vectors",
        "reduce_rows",
        "scale",
        "copy",
        "__amd_rocclr_copyBuffer",
        "__amd_rocclr_fillBufferAligned",
    }, (
        answer.stdout + answer.stderr
    )


def test_the_page_says_how_busy_and_why_idle(build, recording):
    answer = subprocess.run(
        [build.fade_query, "gpu", recording, "--format", "table"], capture_output=True, text=True, timeout=60
    )
    assert answer.returncode == 0, answer.stderr
    text = " ".join(answer.stdout.split())
    assert "busy " in text and "Longest times without work" in text and "works that were seen have a time" in text


def test_the_summary_names_the_report(build, recording):
    answer = subprocess.run(
        [build.fade_query, recording, "--format", "table"], capture_output=True, text=True, timeout=60
    )
    assert f"fade-query {recording} gpu how busy each GPU was," in " ".join(answer.stdout.split()), (
        answer.stdout + answer.stderr
    )


def test_two_recordings_are_compared_by_busy_time(build, recording, tmp_path):
    database, _ = recorded(build, "gpu_work 400 1 2", tmp_path)
    answer = subprocess.run(
        [build.fade_query, "diff", recording, tmp_path / "run.db", "--format", "csv"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    busy = [harness.Database(path).value("SELECT busy_ns FROM gpu_busy") for path in (recording, tmp_path / "run.db")]
    assert [f'GPU time,"busy, device 0",ns,{busy[0]},{busy[1]}' in answer.stdout, answer.returncode] == [True, 0], (
        answer.stdout + answer.stderr
    )
