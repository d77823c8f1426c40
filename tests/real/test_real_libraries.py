"""AMD's own libraries above HIP, on the simulated card: calls and shapes are those in the logs that libraries write.

Kernels compute nothing there. What the libraries choose, launch and log is theirs.
"""
import collections
import json
import re
import subprocess

import pytest

import real_runs as runs
import real_world as world

CLOCK = ("--gpu-times", "--probes", str(world.MODEL / "clock.probes"))


@pytest.fixture
def watched(libraries, supervised, tmp_path, build_dir):
    """Runs a program; returns the text of its log, and a function that gives a report."""

    def run(program, *options, **variables):
        words = [word for item in variables.items() for word in ("-E", "=".join(map(str, item)))]
        done = supervised(libraries, program, "-E", f"HSA_MODEL_TIMES={tmp_path / 'times'}", *CLOCK, *words, *options)
        assert done.code == 0, done.stdout + done.stderr

        def report(name):
            command = [build_dir / "cli/query/fade-query", name, done.database, "-f", "json", "--limit", "0"]
            return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)

        return done, report

    return run


def options_of(line):
    """-m 128 --lda 130 -> {"m": "128", "lda": "130"}"""
    return dict(re.findall(r"-{1,2}([A-Za-z]\w*) (\S+)", line))


def logged_products(lines):
    """(function, m, n, k, batch, transposes, leading dimensions, element) -> calls that could be made"""
    out = collections.Counter()
    for line in lines:
        o = options_of(line)
        if int(o["m"]) > 0:
            element = o.get("a_type") or o["r"]
            last = o.get("ldd") or o["ldc"]
            sizes = [int(o[name]) for name in "mnk"] + [int(o.get("batch_count", 1))]
            trans = o.get("transposeA", o.get("transA")) + o.get("transposeB", o.get("transB"))
            out[(*sizes, trans, f"{o['lda']},{o['ldb']},{last}", element)] += 1
    return out


NUMPY = {"f32": "f32_r", "f16": "f16_r", "c128": "f64_c", "f64": "f64_r"}


def told_products(rows):
    out = collections.Counter()
    for r in rows:
        key = (r["m"], r["n"], r["k"], r["batch"], r["trans"], r["ld"], NUMPY[r["types"].split()[0].split(",")[0]])
        out[key] += r["calls"]
    return out


def test_products_are_those_of_rocblas_log(watched, tmp_path, engine):
    log = tmp_path / "bench"
    done, report = watched("program blas", "-e", "all,blas", *engine, ROCBLAS_LAYER=2, ROCBLAS_LOG_BENCH_PATH=log)
    rows, lines = report("gemm"), log.read_text().splitlines()
    assert told_products(rows) == logged_products(lines) and len(rows) == 4
    assert {r["name"] for r in rows} == {
        "rocblas_sgemm",
        "rocblas_zgemm_strided_batched",
        "rocblas_gemm_ex",
        "hipblasSgemm",
    }
    calls = {r["name"]: r for r in report("library-calls")}
    assert calls["rocblas_sgemm"]["calls"] == 5 and calls["rocblas_sgemm"]["errors"] == 1
    assert all(r["gpu_ns"] > 0 and r["tflops"] is not None for r in rows)
    assert calls["hipblasSgemm"]["launches"] >= 1


def test_products_are_those_of_rocblas_bench(watched, tmp_path):
    log = tmp_path / "bench"
    program = "rocblas-bench -f gemm_strided_batched_ex -m 128 -n 64 -k 32 --lda 128 --ldb 64 --ldc 128 --ldd 128"
    program += (
        " --transposeB T --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r"
        " --batch_count 7 -i 3 -j 2"
    )
    _, report = watched(program, "-e", "all,blas", ROCBLAS_LAYER=2, ROCBLAS_LOG_BENCH_PATH=log)
    told = told_products(report("gemm"))
    assert told == logged_products(log.read_text().splitlines()) and sum(told.values()) >= 5


def test_products_that_no_kernel_computed_differ(watched):
    _, report = watched("program ones", "-e", "all,blas", "--check", "blas,every=1")
    rows = report("blas-checks")
    assert {(r["outcome"], r["name"], r["m"], r["n"], r["k"]) for r in rows} == {
        ("differs", "rocblas_sgemm", 64, 48, 32)
    }
    assert sum(r["checks"] for r in rows) == 3 and sum(r["differing"] for r in rows) == 3 * 64 * 48
    assert all(r["shown"].startswith("[0,0] 1 instead of 32;") for r in rows)


def test_products_are_those_of_hipblaslt_log(watched, tmp_path):
    log = tmp_path / "bench"
    program = "hipblaslt-bench -m 128 -n 64 -k 32 --transA T --precision f16_r --batch_count 5 -i 3 -j 2"
    _, report = watched(program, "-e", "all,blas", HIPBLASLT_LOG_MASK=32, HIPBLASLT_LOG_FILE=log)
    lines = [line for line in log.read_text().splitlines() if line.startswith("hipblaslt-bench")]
    (row,) = report("gemm")
    assert told_products([row]) == logged_products(lines)
    assert row["calls"] == len(lines) >= 5 and row["types"] == "f16" and row["gpu_ns"] > 0


def logged_transforms(text):
    """(lengths, transforms) -> executions; a plan is what was last made at its address"""
    plans, out = {}, collections.Counter()
    for line in text.splitlines():
        plan = re.search(r"plan,(0x\w+)", line)
        if line.startswith("rocfft_plan_create,"):
            lengths = re.search(r"lengths,\[([\d,]+)\]", line)[1].split(",")
            plans[plan[1]] = "x".join(reversed(lengths)), int(re.search(r"number_of_transforms,(\d+)", line)[1])
        elif line.startswith("rocfft_execute,"):
            out[plans[plan[1]]] += 1
    return out


def test_transforms_are_those_of_rocfft_log(watched, engine):
    # Not into a file: hipFFT sets rocFFT up a second time, which begins the file anew.
    done, report = watched("program fft", "-e", "all,fft", *engine, ROCFFT_LAYER=1)
    rows = report("fft")
    told = collections.Counter({(r["lengths"], r["batch"]): r["calls"] for r in rows})
    assert told == logged_transforms(done.stderr)
    kinds = {r["name"]: (r["lengths"], r["kind"], r["type"], r["direction"]) for r in rows}
    assert kinds == {
        "rocfft_execute": ("64x32", "C2C", "f32", "forward"),
        "hipfftExecC2C": ("1024", "C2C", "f32", "inverse"),
        "hipfftExecR2C": ("48x100", "R2C", "f32", "forward"),
    }
    assert all(r["gpu_ns"] > 0 for r in rows)


def logged_convolutions(text):
    """MIOpen's command for its driver, without those of finds: (direction, input, filter, groups, ...) -> calls"""
    out = collections.Counter()
    for line in text.splitlines():
        if "[LogCmdConvolution]" in line:
            o = options_of(line.split("MIOpenDriver", 1)[1])
            image = "x".join(o[name] for name in "ncHW")
            filter_size = f"{o['k']}x{int(o['c']) // int(o['g'])}x{o['y']}x{o['x']}"
            out[o["F"], image, filter_size, int(o["g"]), f"{o['p']},{o['q']}", f"{o['u']},{o['v']}"] += 1
    return out


WAYS = {
    "miopenConvolutionForward": "1",
    "miopenConvolutionForwardImmediate": "1",
    "miopenConvolutionBackwardDataImmediate": "2",
    "miopenConvolutionBackwardWeightsImmediate": "4",
}


def test_convolutions_are_those_of_miopen_log(watched):
    # A find tries one solver alone: each of the others is compiled for many seconds.
    solver = {"MIOPEN_DEBUG_FIND_ONLY_SOLVER": "ConvDirectNaiveConvFwd"}
    done, report = watched("program dnn", "-e", "all,dnn", MIOPEN_ENABLE_LOGGING_CMD=1, **solver)
    rows, told = report("convolutions"), collections.Counter()
    for r in rows:
        told[WAYS[r["name"]], r["input"], r["filter"], r["groups"], r["pad"], r["stride"]] += r["calls"]
    assert told == logged_convolutions(done.stderr) and sorted(told.values()) == [1, 1, 3]
    assert {r["name"]: r["algorithm"] for r in rows} == {
        "miopenConvolutionForward": "Direct",
        "miopenConvolutionForwardImmediate": "solution 85",
        "miopenConvolutionBackwardDataImmediate": "solution 86",
        "miopenConvolutionBackwardWeightsImmediate": "solution 87",
    }
    assert {r["output"] for r in rows} == {"2x4x5x5"} and {r["types"] for r in rows} == {"f32"}
    assert all(r["flops"] == 2 * 2 * 4 * 5 * 5 * 4 * 3 * 3 * r["calls"] and r["gpu_ns"] > 0 for r in rows)


def test_a_fallback_from_hipblaslt_is_seen(watched):
    done, report = watched("program fallback", "-e", "all,blas")
    assert "found 0 0" in done.stdout
    (row,) = report("fallbacks")
    asked = ("hipblasLtMatmulAlgoGetHeuristic", "no algorithm", 128, 64, 32, 1, "f8", 1)
    assert tuple(row[name] for name in ("name", "answer", "m", "n", "k", "batch", "type", "asked")) == asked
    assert (row["used"], row["followed"]) == ("hipblasGemmEx", 1)
    (text,) = runs.rows(done.database, "SELECT text FROM findings WHERE finding = 'blas-fallback'")
    assert "hipblasGemmEx: 128 x 64 x 32" in text[0]


def test_a_convolution_that_miopen_refused_is_seen(watched):
    _, report = watched("program refused", "-e", "all,dnn")
    (row,) = report("fallbacks")
    told = tuple(row[name] for name in ("name", "asked", "used", "followed", "input", "filter", "type"))
    name = "miopenConvolutionForwardImmediate"
    assert told == (name, 1, f"{name}, solution 85", 1, "2x8x10x10", "4x4x3x3", "f32")
    assert row["answer"].startswith("miopenStatus") and row["m"] is None


def test_programs_behave_as_without(libraries, watched):
    plain = runs.native(libraries, "program fft")
    runs.assert_same_behaviour(plain, watched("program fft", "-e", "all,fft")[0])


def logged_collectives(text):
    """(operation, elements, type as a number) -> calls"""
    found = re.findall(r"NCCL INFO (\w+): opCount \w+ .* count (\d+) datatype (\d+) ", text)
    return collections.Counter((name, int(count), int(number)) for name, count, number in found)


NUMBERS = {"f32": 7, "f16": 6}


def test_collective_operations_are_those_of_rccl_log(watched, tmp_path):
    done, report = watched("program comm", "-e", "all,comm", NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="COLL")
    rows = report("collectives")
    told = {(r["operation"], r["count"], NUMBERS[r["type"]]): r["calls"] for r in rows}
    assert told == logged_collectives(done.stdout) and told == {("AllReduce", 1 << 18, 7): 3, ("AllGather", 1000, 6): 1}
    assert {r["ranks"] for r in rows} == {1} and all(r["total_bytes"] == r["bytes"] * r["calls"] for r in rows)


def test_ranks_are_those_of_rccl_log(watched, build_dir):
    log = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "COLL", "NCCL_SOCKET_IFNAME": "lo"}
    done, report = watched("program ranks", "-e", "all,comm", **log)
    rows = report("collectives")
    told = {(r["rank"], r["operation"], r["count"], {**NUMBERS, "f64": 8}[r["type"]]): r["calls"] for r in rows}
    calls = {("AllReduce", 1 << 18, 7): 3, ("AllGather", 1000, 6): 1}
    calls |= {("Broadcast", 500, 7): 1, ("ReduceScatter", 300, 8): 1}
    assert told == {(rank, *call): n for rank in (0, 1) for call, n in calls.items()}
    assert logged_collectives(done.stdout) == {call: 2 * n for call, n in calls.items()}
    assert set(re.findall(r"\[nranks=(\d+)\]", done.stdout)) == {"2"} and {r["ranks"] for r in rows} == {2}
    found = runs.rows(done.database, "SELECT rank, world_size, local_rank FROM process_ranks ORDER BY rank")
    assert found == [(0, 2, 0), (1, 2, 1)]
    page = [build_dir / "cli/query/fade-query", "ranks", done.database]
    text = subprocess.run(page, check=True, capture_output=True, timeout=120, text=True).stdout
    assert "rank 1" in text.split("Each rank")[0], text
