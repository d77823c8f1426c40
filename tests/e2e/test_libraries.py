"""Libraries above HIP: calls, shapes and bytes are those that the stand-in libraries wrote down."""
import collections
import json
import math
import pathlib
import re
import subprocess

import pexpect
import pytest

import harness

ENGINES = ["breakpoints", "taps"]
REPORTS = pathlib.Path(__file__).resolve().parents[2] / "schema/reports"


def environment(build, folder):
    variables = build.environment(
        "v6", FADE_STANDIN_LIBRARIES=str(folder / "log"), FADE_STANDIN_HSA=str(folder / "truth")
    )
    variables["LD_LIBRARY_PATH"] += f":{build.runtimes / 'libraries'}:{build.runtimes / 'hsa'}"
    return variables


def recorded(build, folder, *options):
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *build.command("libraries 3")]
    ran = harness.run(command, environment(build, folder), folder / "run", timeout=120)
    assert (ran.status, ran.stdout) == (0, b"done\n"), ran.stderr
    return harness.Database(folder / "run.db"), [line.split() for line in (folder / "log").read_text().splitlines()]


def report(build, folder, name, *options):
    command = [build.fade_query, name, folder / "run.db", "-f", "json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def products_of(log):
    """(name, m, n, k, batch, leading dimensions) -> calls; calls inside another product do not count."""
    out = collections.Counter()
    for line, before in zip(log, [["-"], *log]):
        inside = line[0] == "rocblas_sgemm" and before[0] == "hipblasSgemm"
        if not inside and len(line) == 8 and int(line[1]) > 0:
            out[line[0], *map(int, line[1:5]), ",".join(line[5:8])] += 1
    return out


@pytest.fixture(params=ENGINES, scope="module")
def timed(request, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return folder, *recorded(build, folder, "--gpu-times", "--engine", request.param, "-e", "all,comm,blas,dnn,fft")


def test_the_page_has_tables_of_libraries(build, timed):
    folder, *_ = timed
    command = [build.fade_query, "page", folder / "run.db", "-o", "-"]
    page = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    tables = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])["tables"]
    for name in ("library-calls", "gemm", "collectives", "convolutions", "fft"):
        assert len(tables[name]["rows"]) == len(report(build, folder, name)) > 0


@pytest.mark.parametrize("options", [[], ["-e", "all"], ["-e", "all,hot,sync"]])
def test_libraries_are_not_watched_unless_asked_for(build, tmp_path, options):
    database, _ = recorded(build, tmp_path, *options)
    assert database.value("SELECT count(*) FROM calls WHERE category NOT IN ('hip', 'hiprtc')") == 0
    assert database.value("SELECT count(*) FROM functions WHERE \"group\" IN ('blas', 'comm')") == 0
    assert report(build, tmp_path, "gemm") == [] and report(build, tmp_path, "library-calls") == []


def test_a_single_function_can_be_chosen(build, tmp_path):
    database, log = recorded(build, tmp_path, "-e", "mem,rocblas_gemm_*")
    assert database.rows("SELECT DISTINCT name FROM calls WHERE category <> 'hip'") == [("rocblas_gemm_ex",)]
    assert database.value("SELECT count(*) FROM calls WHERE name = 'rocblas_gemm_ex'") == 1


def test_calls_are_those_that_the_libraries_counted(build, timed):
    folder, database, log = timed
    names = collections.Counter(line[0] for line in log if line[0].startswith(("rocblas", "hipblas", "cublas")))
    told = {row["name"]: row for row in report(build, folder, "library-calls")}
    assert {name: told[name]["calls"] for name in names} == names
    assert (told["rocblas_sgemm"]["errors"], told["ncclAllReduce"]["calls"]) == (1, 3)


def test_calls_have_the_hip_calls_and_the_work_inside(build, timed):
    folder, database, _ = timed
    told = {row["name"]: row for row in report(build, folder, "library-calls")}
    inside = {name: (row["hip_calls"], row["launches"]) for name, row in told.items()}
    assert (
        inside["rocblas_gemm_ex"] == (2, 2) and inside["hipblasSgemm"] == (5, 5) and inside["rocblas_sgemm"] == (8, 8)
    )
    assert inside["rocblas_create_handle"] == (1, 0) and inside["hipblasLtMatrixLayoutCreate"] == (0, 0)
    work = dict(
        database.rows(
            "SELECT p.name, sum(w.duration) FROM gpu_work w JOIN calls c ON c.id = w.call JOIN calls p ON p.id = "
            "c.parent_id GROUP BY 1"
        )
    )
    for name in ("rocblas_gemm_ex", "rocblas_sgemm", "ncclAllReduce", "hipblasLtMatmul"):
        assert told[name]["gpu_ns"] == work[name], name
    outer = database.value(
        "SELECT sum(w.duration) FROM gpu_work w JOIN calls c ON c.id = w.call "
        "JOIN calls p ON p.id = c.parent_id JOIN calls q ON q.id = p.parent_id WHERE q.name = 'hipblasSgemm'"
    )
    assert told["hipblasSgemm"]["gpu_ns"] == outer


def test_all_reports_have_the_same_net_times(build, timed):
    folder, _, _ = timed
    told = {row["name"]: row for row in report(build, folder, "library-calls")}
    assert all(row["total_ns"] >= row["self_ns"] for row in told.values())
    for row in report(build, folder, "gemm"):
        if row["calls"] == told[row["name"]]["calls"]:  # all of one shape, and none failed
            assert row["total_ns"] == told[row["name"]]["total_ns"], row["name"]
    for row in report(build, folder, "collectives"):
        assert row["total_ns"] == told["nccl" + row["operation"]]["total_ns"], row["operation"]


def test_the_verdict_counts_calls_of_hip(build, timed):
    _, database, _ = timed
    calls = database.value("SELECT count(*) FROM calls WHERE category IN ('hip', 'hiprtc')")
    assert f"{calls} calls, 0 of them failed" in database.value("SELECT evidence FROM verdicts")
    assert database.value("SELECT calls FROM gpu_use") > calls and database.value("SELECT failures FROM gpu_use") == 2


def test_products_have_their_shapes(build, timed):
    folder, _, log = timed
    rows = report(build, folder, "gemm")
    assert {(r["name"], r["m"], r["n"], r["k"], r["batch"], r["ld"]): r["calls"] for r in rows} == products_of(log)
    types = {row["name"]: (row["types"], row["trans"]) for row in rows}
    assert types == {
        "rocblas_sgemm": ("f32", "NT"),
        "hipblasSgemm": ("f32", "NN"),
        "rocblas_gemm_ex": ("f16 f32", "TN"),
        "rocblas_zgemm_strided_batched": ("c128", "NN"),
        "hipblasLtMatmul": ("f16", "TN"),
        "cublasDgemmStridedBatched": ("f64", "TC"),
    }


def test_operations_and_bytes_follow_from_the_shapes(build, timed):
    folder, _, _ = timed
    listed = report(build, folder, "gemm")
    rows = {row["name"]: row for row in listed}
    half, double = rows["rocblas_gemm_ex"], rows["rocblas_zgemm_strided_batched"]
    assert half["flops"] == 2 * 512 * 256 * 1024 and half["bytes"] == 2 * (512 * 1024 + 1024 * 256 + 512 * 256)
    assert double["flops"] == 8 * 16 * 8 * 4 * 10 and double["bytes"] == 16 * 10 * (16 * 4 + 4 * 8 + 16 * 8)
    for row in listed:
        assert row["tflops"] == pytest.approx(row["flops"] / row["gpu_ns"] / 1e3, abs=0.01)
    assert sum(row["percent"] for row in listed) == pytest.approx(100, abs=0.1)


def test_collective_operations_have_ranks_and_bandwidths(build, timed):
    folder, _, log = timed
    rows = {row["operation"]: row for row in report(build, folder, "collectives")}
    reduce, gather = rows["AllReduce"], rows["AllGather"]
    assert collections.Counter(tuple(line) for line in log if line[0] in rows) == {
        (name, str(row["ranks"]), str(row["count"])): row["calls"] for name, row in rows.items()
    }
    assert (reduce["ranks"], reduce["bytes"], reduce["op"], reduce["type"]) == (4, 4 << 20, "Sum", "f32")
    assert (gather["ranks"], gather["bytes"]) == (2, 2 * 2 * 1000)
    assert reduce["alg_gb_per_s"] == pytest.approx(3 * reduce["bytes"] / reduce["gpu_ns"], abs=0.01)
    assert reduce["bus_gb_per_s"] == pytest.approx(reduce["alg_gb_per_s"] * 2 * 3 / 4, abs=0.02)
    assert gather["bus_gb_per_s"] == pytest.approx(gather["alg_gb_per_s"] / 2, abs=0.02)


def test_fallbacks_are_told(build, timed):
    folder, database, _ = timed
    rows = [
        (r["name"], r["answer"], r["m"], r["n"], r["k"], r["type"], r["asked"], r["used"])
        for r in report(build, folder, "fallbacks")
    ]
    asked = ("hipblasLtMatmulAlgoGetHeuristic", "no algorithm", 96, 72, 80, "f32", 1)
    refused = ("miopenConvolutionForwardImmediate", "miopenStatusBadParm", None, None, None, "f32", 1, None)
    assert sorted(rows, key=str) == sorted([(*asked, "hipblasSgemm"), (*asked, None), refused], key=str)
    (text,) = database.rows("SELECT text FROM findings WHERE finding = 'blas-fallback'")
    assert "hipBLASLt had no algorithm for 1 product, " in text[0] and text[0].endswith(
        "with hipblasSgemm: 96 x 72 x 80"
    )


def test_no_fallback_is_told_where_none_was_asked(build, tmp_path):
    database, _ = recorded(build, tmp_path, "-e", "all,rocblas,hipblas")
    assert report(build, tmp_path, "fallbacks") == []
    assert database.rows("SELECT * FROM findings WHERE finding = 'blas-fallback'") == []


def shapes_of(log, *names):
    return collections.Counter(tuple(line) for line in log if line[0].startswith(names))


def test_convolutions_have_their_shapes(build, timed):
    folder, _, log = timed
    rows = report(build, folder, "convolutions")
    told = {(r["name"], r["input"], r["filter"], r["output"], str(r["groups"])): r["calls"] for r in rows}
    assert told == shapes_of(log, "miopenConv") and len(told) == 4
    ways = {row["name"]: (row["pad"], row["stride"], row["types"], row["layout"], row["algorithm"]) for row in rows}
    assert ways == {
        "miopenConvolutionForward": ("1,1", "2,2", "f32", "NCHW", "Winograd"),
        "miopenConvolutionBackwardData": ("1,1", "2,2", "f32", "NCHW", "GEMM"),
        "miopenConvolutionBackwardWeights": ("1,1", "2,2", "f32", "NCHW", "Direct"),
        "miopenConvolutionForwardImmediate": ("0,0,0", "2,1,1", "bf16", "NDHWC", "solution 85"),
    }
    for row in rows:
        x, w, y = ([int(n) for n in row[name].split("x")] for name in ("input", "filter", "output"))
        assert row["flops"] == 2 * math.prod(y) * math.prod(w[1:]) * row["calls"]
        size = 2 if row["types"] == "bf16" else 4
        assert row["bytes"] == size * (math.prod(x) + math.prod(w) + math.prod(y)) * row["calls"]
        assert row["tflops"] == pytest.approx(row["flops"] / row["gpu_ns"] / 1e3, abs=0.01)
    assert sum(row["percent"] for row in rows) == pytest.approx(100, abs=0.1)


def test_transforms_have_their_lengths(build, timed):
    folder, _, log = timed
    rows = report(build, folder, "fft")
    outer = [line for line, before in zip(log, [["-"], *log]) if not before[0].startswith("hipfftExec")]
    told = {(r["name"], r["lengths"], str(r["batch"])): r["calls"] for r in rows}
    assert told == shapes_of(outer, "hipfft", "rocfft", "cufft") and len(told) == 4
    kinds = {row["name"]: (row["kind"], row["type"], row["direction"]) for row in rows}
    assert kinds == {
        "hipfftExecR2C": ("R2C", "f32", "forward"),
        "hipfftExecZ2Z": ("C2C", "f64", "inverse"),
        "rocfft_execute": ("C2C", "f64", "inverse"),
        "cufftExecC2C": ("C2C", "f32", "forward"),
    }
    for row in rows:
        n = math.prod(int(length) for length in row["lengths"].split("x"))
        share = 5 if row["kind"] == "C2C" else 2.5
        assert row["flops"] == pytest.approx(share * n * math.log2(n) * row["batch"] * row["calls"])
        assert row["tflops"] == pytest.approx(row["flops"] / row["gpu_ns"] / 1e3, abs=0.01)
    by_name = {row["name"]: row for row in rows}
    assert by_name["cufftExecC2C"]["bytes"] == 2 * 8 * 1024 * 3
    assert by_name["hipfftExecR2C"]["bytes"] == (4 * 64 * 32 + 8 * 64 * 17) * by_name["hipfftExecR2C"]["calls"]


@pytest.mark.parametrize("name", ["gemm", "collectives", "rank_waits", "convolutions", "fft"])
def test_work_of_calls_is_looked_up_by_an_index(timed, name):
    """Otherwise a report takes the square of the calls."""
    _, database, _ = timed
    sql = (REPORTS / f"{name}.sql").read_text()
    database.connection.create_function("regexp", 2, lambda pattern, text: re.search(pattern, text) is not None)
    steps = [row[3] for row in database.rows(f"EXPLAIN QUERY PLAN {sql}")]
    assert any("(call_id=?)" in step and step.startswith("SEARCH") for step in steps), "\n".join(steps)


def test_without_rows_of_calls_the_sums_remain(build, tmp_path):
    _, log = recorded(build, tmp_path, "--detail", "stats", "-e", "all,comm,blas")
    told = {row["name"]: row for row in report(build, tmp_path, "library-calls")}
    assert told["rocblas_sgemm"]["calls"] == sum(line[0] == "rocblas_sgemm" for line in log)
    assert told["rocblas_gemm_ex"]["hip_calls"] == 2 and told["rocblas_gemm_ex"]["launches"] is None
    assert all(report(build, tmp_path, name) == [] for name in ("gemm", "convolutions", "fft"))


def test_calls_of_libraries_are_in_the_category_of_their_group(timed):
    _, database, _ = timed
    told = dict(database.rows("SELECT name, category FROM function_categories"))
    assert (told["rocblas_sgemm"], told["ncclAllReduce"], told["hipMalloc"]) == ("BLAS", "COMM", "MEMORY")


def test_rates_are_visible_on_a_narrow_terminal(build, timed):
    folder, _, _ = timed
    shown = on_terminal(build, folder, "gemm", 80).splitlines()
    assert all(name in shown[0] for name in ("calls", "total", "gpu", "tflops")), shown[0]


def on_terminal(build, folder, name, columns):
    child = pexpect.spawn(
        str(build.fade_query), [name, str(folder / "run.db"), "--no-pager"], dimensions=(50, columns), encoding="utf-8"
    )
    child.expect(pexpect.EOF)
    return child.before


def test_the_summary_may_have_calls_by_library_and_api(build, tmp_path):
    options = ["--summary=libraries", "-e", "all,blas", "-o", tmp_path / "run.db"]
    ran = harness.run(
        [build.fade_run, *options, "--", *build.command("libraries 3")], environment(build, tmp_path), tmp_path / "run"
    )
    assert ran.status == 0, ran.stderr
    table = ran.stderr.decode().split("library", 1)[1]
    rows = report(build, tmp_path, "library-apis")
    database = harness.Database(tmp_path / "run.db")
    assert {(row["library"], row["api"]): row["calls"] for row in rows} == {
        (library, api): calls
        for library, api, calls in database.rows(
            "SELECT library, category, sum(calls) FROM caller_stats GROUP BY library, category"
        )
    }
    assert {"hip", "rocblas"} <= {row["api"] for row in rows} and len({row["library"] for row in rows}) > 1
    for row in rows:
        assert row["library"].rsplit("/", 1)[1] in table
    refused = harness.run([build.fade_run, "--summary=kernels", "--", "true"], build.environment("v6"), tmp_path / "no")
    assert refused.status == 2 and b"'kernels' is not libraries" in refused.stderr


def test_chosen_functions_have_stacks(build, tmp_path):
    database, _ = recorded(build, tmp_path, "-k", "rocblas_sgemm,copy", "-e", "all,blas")
    with_stack = dict(database.rows("SELECT c.name, count(*) FROM calls c WHERE c.stack IS NOT NULL GROUP BY 1"))
    chosen = "SELECT c.name, count(*) FROM calls c JOIN functions f ON f.id = c.function_id WHERE "
    assert with_stack == dict(database.rows(chosen + "c.name = 'rocblas_sgemm' OR f.\"group\" = 'copy' GROUP BY 1"))
    assert "rocblas_sgemm" in with_stack


@pytest.mark.parametrize("word, why", [("coppy", "is not understood"), ("hipMemcpyy", "hipMemcpy")])
def test_stacks_of_unknown_functions_are_refused(build, tmp_path, word, why):
    ran = harness.run([build.fade_run, "-k", word, "--", "true"], build.environment("v6"), tmp_path / "run")
    assert ran.status == 2 and why in ran.stderr.decode(), ran.stderr


@pytest.mark.parametrize("word, near", [("blsa", "blas"), ("com", "comm"), ("lbas", "blas")])
def test_a_mistyped_group_gets_the_nearest(build, tmp_path, word, near):
    ran = harness.run([build.fade_run, "-e", word, "--", "true"], build.environment("v6"), tmp_path / "run")
    assert ran.status == 2 and f"did you mean '{near}'?" in ran.stderr.decode(), ran.stderr


@pytest.mark.parametrize("pattern", ["librocblas*", "!librocblas*"])
@pytest.mark.parametrize("engine", ENGINES)
def test_only_calls_of_a_library_are_recorded(build, tmp_path, engine, pattern):
    (tmp_path / "all").mkdir()
    everything, _ = recorded(build, tmp_path / "all", "--engine", engine, "-e", "all")
    some, _ = recorded(build, tmp_path, "--engine", engine, "-e", f"all@{pattern}")
    sums = "SELECT name, sum(calls) FROM caller_stats WHERE {} GROUP BY name"
    is_there = "library GLOB '*/librocblas*'"
    wanted = is_there if pattern[0] != "!" else f"NOT coalesce({is_there}, 0)"
    assert dict(some.rows(sums.format("true"))) == dict(everything.rows(sums.format(wanted)))
    left_out = everything.value(f"SELECT sum(calls) FROM caller_stats WHERE NOT coalesce({wanted}, 0)")
    drops = "SELECT sum(n) FROM drops WHERE reason = 'calls of other libraries than -e names'"
    assert some.value(drops) == left_out > 0
    assert some.value("SELECT count(*) FROM watched WHERE complete") == 0, "no report claims to know all calls"


def test_libraries_of_calls_are_checked(build, tmp_path):
    for word in ("all@", "all@/opt/x", "all,-mem@libx"):
        ran = harness.run([build.fade_run, "-e", word, "--", "true"], build.environment("v6"), tmp_path / "run")
        assert ran.status == 2 and b"fix:" in ran.stderr, ran.stderr
