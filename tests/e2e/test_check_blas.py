"""--check blas: right products are found right, a wrong element is named, and the program does not notice."""
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import pytest

import harness

ALL = ("--check", "blas,every=1")


def environment(build, **more):
    variables = build.environment("v6", **more)
    variables["LD_LIBRARY_PATH"] += f":{build.runtimes / 'blas'}"
    return variables


def alone(build, folder, line, **more):
    return harness.run(build.command(line), environment(build, **more), folder / "alone")


def checked(build, folder, line, *options, **more):
    command = [build.fade_run, "-q", *(options or ALL), "-o", folder / "run.db", "--", *build.command(line)]
    return harness.run(command, environment(build, **more), folder / "supervised")


def both(build, folder, line, *options, **more):
    """Output and status are those of the program without fade, with the errors of the runtime."""
    native = alone(build, folder, line, **more)
    watched = checked(build, folder, line, *options, **more)
    assert (watched.stdout, watched.stderr, watched.status) == (native.stdout, native.stderr, native.status)
    return native, harness.Database(folder / "run.db")


def helper(build):
    return build.folder / "cli" / "check_blas" / "fade-check-blas"


def outcomes(database):
    return database.rows("SELECT outcome, count(*) FROM blas_checks GROUP BY outcome ORDER BY outcome")


def reasons(database):
    return dict(database.rows("SELECT reason, sum(calls) FROM blas_unchecked GROUP BY reason"))


@pytest.mark.parametrize("engine", ["breakpoints", "auto"])
def test_right_products_are_the_same(build, tmp_path, engine):
    native, database = both(build, tmp_path, "products plain 30", *ALL, "--engine", engine)
    assert outcomes(database) == [("same", 30)] and reasons(database) == {}
    row = "SELECT DISTINCT type, ops, m, n, k, batch, elements, problem FROM blas_checks"
    assert database.rows(row) == [("f32", "NN", 20, 18, 16, 1, 360, None)]
    assert (
        database.value("SELECT count(*) FROM blas_checks c JOIN calls x ON x.id = c.call_id WHERE x.name = c.name")
        == 30
    )
    assert database.value("SELECT min(blas) FROM blas_checks") in ("libopenblas.so.0", "libblas.so.3", "loops")


def test_calls_for_a_check_are_not_the_programs(build, tmp_path):
    native, database = both(build, tmp_path, "products plain 10", *ALL, "-e", "all,blas")
    assert outcomes(database) == [("same", 10)]
    recorded = dict(database.rows("SELECT name, sum(calls) FROM call_stats GROUP BY name"))
    wanted = {
        name: n
        for name, n in native.total.items()
        if name in ("hipMemcpy", "hipMemcpyAsync", "hipStreamQuery", "hipMalloc")
    }
    assert {name: recorded.get(name, 0) for name in wanted} == wanted
    assert recorded["rocblas_sgemm"] == 10 and "rocblas_get_stream" not in recorded
    supervised = harness.read_counts(tmp_path / "supervised")
    assert harness.summed(supervised)["hipMemcpyAsync"] == 10 * 4  # they were made: C before, A, B and C after


def test_a_wrong_element_is_named_and_dumped(build, tmp_path):
    native, database = both(build, tmp_path, "products plain 5", FADE_STANDIN_BLAS_WRONG="3")
    assert outcomes(database) == [("differs", 1), ("same", 4)]
    row = database.rows(
        "SELECT c.differing, c.first_row, c.first_column, c.first_got - c.first_wanted, c.worst, c.folder, c.call_id "
        "FROM blas_checks c WHERE c.outcome = 'differs'"
    )[0]
    assert row[:5] == (1, 19, 17, 1.0, 1.0)
    assert row[5] == str(tmp_path / f"run.db.check-{row[6]}")
    replayed = subprocess.run([helper(build), "replay", row[5]], capture_output=True, text=True, timeout=60)
    assert replayed.returncode == 1, replayed.stderr
    assert "1 of 360 elements differ" in replayed.stdout and "[19,17]" in replayed.stdout
    shown = database.value("SELECT shown FROM blas_checks WHERE outcome = 'differs'")
    assert shown in replayed.stdout
    findings = database.rows("SELECT severity, subject, text, advice FROM findings WHERE finding = 'blas-differs'")
    assert len(findings) == 1 and findings[0][0] == "error" and shown in findings[0][2] and row[5] in findings[0][3]
    report = subprocess.run(
        [build.fade_query, "blas-checks", tmp_path / "run.db", "-f", "json"], capture_output=True, timeout=60
    )
    rows = json.loads(report.stdout)
    assert [(r["outcome"], r["checks"], r["differing"]) for r in rows] == [("differs", 1, 1), ("same", 4, 0)]


def test_types_transposes_and_batches(build, tmp_path):
    _, database = both(build, tmp_path, "products kinds")
    rows = database.rows("SELECT name, type, ops, m, n, k, batch, outcome FROM blas_checks ORDER BY call_id")
    assert rows == [
        ("rocblas_sgemm", "f32", "TN", 10, 12, 14, 1, "same"),
        ("hipblasSgemm", "f32", "NT", 9, 8, 7, 1, "same"),  # and not rocblas_sgemm inside of it
        ("rocblas_cgemm", "c64", "CN", 6, 5, 4, 1, "same"),
        ("rocblas_sgemm_strided_batched", "f32", "NN", 4, 4, 4, 5, "same"),
        ("rocblas_dgemm", "f64", "TT", 10, 10, 10, 1, "same"),
        ("rocblas_zgemm", "c128", "NC", 5, 6, 7, 1, "same"),
        ("rocblas_gemm_ex", "f32", "NN", 8, 8, 8, 1, "same"),
        ("rocblas_gemm_ex", "bf16", "TN", 8, 8, 8, 1, "same"),
    ]
    assert reasons(database) == {}


@pytest.mark.parametrize("wrong", range(1, 9))
def test_each_type_shows_its_wrong_element(build, tmp_path, wrong):
    """The batch counts five products, so the numbers go on behind it."""
    number = wrong if wrong <= 4 else wrong + 4
    _, database = both(build, tmp_path, "products kinds", FADE_STANDIN_BLAS_WRONG=str(number))
    rows = database.rows("SELECT outcome, differing FROM blas_checks ORDER BY call_id")
    assert [i for i, row in enumerate(rows, 1) if row == ("differs", 1)] == [wrong]
    assert len(rows) == 8


def test_hipblaslt_is_checked_by_its_layouts(build, tmp_path):
    _, database = both(build, tmp_path, "products lt")
    assert database.rows("SELECT name, type, ops, m, n, k, outcome FROM blas_checks") == [
        ("hipblasLtMatmul", "f32", "TN", 10, 8, 12, "same")
    ]
    assert reasons(database) == {"it has an epilogue": 1}


def test_what_is_not_checked_has_a_reason(build, tmp_path):
    _, database = both(build, tmp_path, "products refused")
    assert reasons(database) == {
        "the stream was being captured": 1,
        "alpha and beta are on the GPU": 1,
        "one of its sizes is too large": 1,
        "an earlier error of HIP was pending in the thread": 1,
        "its matrices are told by lists of addresses on the GPU": 1,
    }
    assert outcomes(database) == [("same", 1)]


def test_threads_are_checked_at_the_same_time(build, tmp_path):
    _, database = both(build, tmp_path, "products threads 25")
    left = reasons(database)  # how many wait for the other process depends on the machine
    assert set(left) <= {"earlier products are still being computed"}
    assert outcomes(database) == [("same", 100 - sum(left.values()))]


def test_every_nth_and_the_limits(build, tmp_path):
    _, database = both(build, tmp_path, "products plain 40", "--check", "blas,every=10")
    assert outcomes(database) == [("same", 4)]
    small = tmp_path / "small"
    _, database = both(build, small, "products plain 5", "--check", "blas,every=1,most=1K")
    assert outcomes(database) == [] and reasons(database) == {"its matrices have more bytes than most= allows": 5}
    slow = tmp_path / "slow"
    _, database = both(build, slow, "products plain 5", "--check", "blas,every=1,rate=5K")
    assert reasons(database)["rate= allows no more bytes a second"] >= 3


def test_without_the_option_nothing_is_called(build, tmp_path):
    native, database = both(build, tmp_path, "products plain 5", "-e", "all,blas")
    assert harness.read_counts(tmp_path / "supervised").values() and outcomes(database) == []
    assert harness.summed(harness.read_counts(tmp_path / "supervised")) == native.total


def test_a_tolerance_of_the_user_counts(build, tmp_path):
    _, database = both(
        build, tmp_path, "products plain 5", "--check", "blas,every=1,atol=2", FADE_STANDIN_BLAS_WRONG="3"
    )
    assert outcomes(database) == [("same", 5)]


def test_wrong_rules_are_refused_before_the_program_starts(build, tmp_path):
    ran = checked(build, tmp_path, "products plain 1", "--check", "blas,evry=3")
    assert ran.status == 2 and b"--check:6: 'evry' is no part of a check (did you mean 'every'?)" in ran.stderr
    assert not (tmp_path / "run.db").exists()


def test_the_recording_says_what_will_be_done(build, tmp_path):
    both(build, tmp_path, "products plain 2")
    database = harness.Database(tmp_path / "run.db")
    notes = [row[0] for row in database.rows("SELECT detail FROM lifecycle WHERE kind = 'note'")]
    assert any("--check blas: for one of 1 products" in note and "wait for the GPU" in note for note in notes)


KILLS = int(os.environ.get("FADE_CHECK_KILLS", "12"))


@pytest.mark.parametrize("how", ["plain 4000", "threads 1000", "large 60"])
def test_no_program_is_lost_with_fade(build, tmp_path, how):
    """fade is killed at random moments while products are checked."""
    native = alone(build, tmp_path, f"products {how}")
    command = [build.fade_run, "-q", *ALL, "-o", "run.db", "--", *build.command(f"products {how}")]
    chance = random.Random(how)
    for kill in range(KILLS):
        folder = tmp_path / f"kill-{kill}"
        folder.mkdir()
        process = subprocess.Popen(command, env=environment(build), cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        while not list(folder.glob("counts.*")) and process.poll() is None:
            time.sleep(0.002)  # until the program has begun
        time.sleep(chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=120)  # the pipe closes when the program has ended, too
        assert (stdout, stderr) == (native.stdout, b""), f"kill {kill}"
        with contextlib.suppress(OSError):
            (folder / "run.db").unlink()


def has_checks(path):
    """Of a recording that goes on."""
    try:
        return bool(harness.Database(path).rows("SELECT 1 FROM blas_checks LIMIT 1"))
    except sqlite3.Error:
        return False  # its views are not there yet


def test_a_program_is_given_back_in_the_middle(build, tmp_path):
    """fade-attach leaves while threads fetch matrices."""
    native = alone(build, tmp_path, "products threads 20000")
    folder = tmp_path / "attached"
    folder.mkdir()
    program = subprocess.Popen(build.command("products threads 20000"), env=environment(build), cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    attach = build.folder / "cli" / "attach" / "fade-attach"
    for turn in range(3):
        if program.poll() is None:
            fade = subprocess.Popen([attach, "-q", "--check-products", "blas,every=1,rate=64G", "-o", f"{turn}.db",
                                     str(program.pid)],
                                    cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
            while fade.poll() is None and not has_checks(folder / f"{turn}.db"):
                time.sleep(0.05)
            fade.send_signal(signal.SIGINT)
            _, said = fade.communicate(timeout=60)
            assert fade.returncode == 0 or program.poll() is not None, said
    stdout, stderr = program.communicate(timeout=120)
    assert (stdout, stderr, program.returncode) == (native.stdout, b"", 0)
    assert outcomes(harness.Database(folder / "0.db"))[0][0] == "same"
