"""CUDA on ZLUDA on HIP: every call of both is recorded once, the HIP calls inside the CUDA calls that made them, and
the reports say what ZLUDA added and what it does not have. Counts are the stand-ins' own; test_tracees.py compares them
for whole programs too."""
import csv
import io
import pathlib
import sqlite3
import subprocess

import pytest

import harness

API = pathlib.Path(__file__).resolve().parents[1] / "unit" / "probes" / "data" / "cuda_api.tsv"


def api():
    """name -> whether ZLUDA has it"""
    rows = [line.split("\t") for line in API.read_text().splitlines() if not line.startswith("#")]
    return {name: has == "1" for name, _, has in rows}


class Recorded:
    def __init__(self, build, line, folder, runtime="zluda", options=("-e", harness.EVERYTHING), **environment):
        self.build, self.folder = build, folder
        self.ran = harness.run_supervised(build, line, runtime, folder, options, **environment)
        assert self.ran.status == 0, self.ran.stderr
        self.database = harness.Database(folder / "run.db")

    def report(self, *words):
        done = subprocess.run([self.build.fade_query, self.folder / "run.db", *words, "-f", "tsv"],
                              capture_output=True, text=True, timeout=60, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))

    def inside(self, parent):
        """name -> calls, of the calls inside the calls of that function"""
        return dict(self.database.rows(
            f"SELECT name, sum(calls) FROM call_stats WHERE parent = '{parent}' GROUP BY name"))


@pytest.fixture(scope="module")
def work(build, tmp_path_factory):
    return Recorded(build, "cuda work 20", tmp_path_factory.mktemp("work"))


# ---------------------------------------------------------------- the stand-in
def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[2]: line.split()[0] for line in lines}


def test_the_standin_exports_what_zluda_exports(build):
    plain, folded = (exported(build.runtimes / runtime / "libnvcuda.so") for runtime in ("zluda", "zluda_folded"))
    assert set(plain) == set(folded) == set(api())
    assert len(set(plain.values())) == 672 and len(set(folded.values())) < 200


def test_the_standin_has_what_zluda_has(build, tmp_path):
    """Whatever of ZLUDA's 141 functions gets to an answer of its own, the other 531 say 801."""
    done = Recorded(build, "every_function libcuda.so.1", tmp_path)
    called = dict(done.database.rows(
        "SELECT name, sum(calls) FROM call_stats WHERE category = 'cuda' AND parent IS NULL GROUP BY name"))
    assert called == {name: 1 for name in api()}
    missing = {row["name"] for row in done.report("gaps", "--limit", "1000")}
    assert missing == {name for name, has in api().items() if not has} and len(missing) == 531


# ---------------------------------------------------------------- recognition
def test_zluda_is_told_from_nvidias_driver(work, build, tmp_path):
    modules = {pathlib.Path(path).name: (role, sites) for path, role, sites in work.database.rows(
        "SELECT path, role, sites FROM modules WHERE role IS NOT NULL")}
    assert modules["libnvcuda.so"] == ("zluda", 672)
    assert modules["libamdhip64.so.6"][0] == "hip"
    # A driver: the same names, but nothing of HIP behind them.
    (tmp_path / "driver.c").write_text(
        "int cuInit(unsigned f) { return (int)f; }\nint cuDeviceGetCount(int *n) { *n = 0; return 100; }\n")
    (tmp_path / "driver").mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "driver" / "libcuda.so.1", tmp_path / "driver.c"],
                   check=True)
    (tmp_path / "asks.py").write_text(
        "import ctypes\ndriver = ctypes.CDLL('libcuda.so.1')\nn = ctypes.c_int()\nprint(driver.cuInit(0), "
        "driver.cuDeviceGetCount(ctypes.byref(n)))\n")
    environment = build.environment("v6", LD_LIBRARY_PATH=str(tmp_path / "driver"))
    ran = harness.run([build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "/usr/bin/python3", tmp_path / "asks.py"],
                      environment, tmp_path)
    assert ran.stdout == b"0 100\n", ran.stderr
    database = harness.Database(tmp_path / "run.db")
    assert database.rows("SELECT role, sites FROM modules WHERE soname IS NULL AND path LIKE '%/libcuda.so.1'") == [
        ("cuda", 2)]
    assert database.rows("SELECT name, result_name FROM calls ORDER BY id") == [
        ("cuInit", None), ("cuDeviceGetCount", "CUDA_ERROR_NO_DEVICE")]


# ---------------------------------------------------------------- nesting and time
def test_hip_calls_stand_inside_the_cuda_calls_that_made_them(work):
    assert work.inside("cuMemAlloc_v2") == {"hipMalloc": 20, "hipStreamIsCapturing": 20,
                                            "hipMemsetD8Async": 20, "hipStreamSynchronize": 20}
    assert work.inside("cuMemcpyHtoD_v2") == {"hipMemcpyHtoD": 20}
    assert work.inside("cuLaunchKernel") == {"hipModuleLaunchKernel": 20}
    assert work.inside("cuModuleLoadData") == {"hipGetDevicePropertiesR0600": 1, "hipModuleLoadData": 1}
    assert work.inside("cuInit") == {"hipInit": 1, "hipGetDevicePropertiesR0600": 1}
    assert work.database.value("SELECT count(*) FROM calls WHERE category = 'hip' AND parent_id IS NULL") == 0
    by_id = dict(work.database.rows("SELECT id, name FROM calls"))
    for name, parent in work.database.rows(
        "SELECT name, parent_id FROM calls WHERE name IN ('hipFree', 'hipMemcpyDtoH')"):
        assert by_id[parent] == {"hipFree": "cuMemFree_v2", "hipMemcpyDtoH": "cuMemcpyDtoH_v2"}[name]


def test_memory_copies_and_launches_count_once(work):
    assert work.database.rows("SELECT allocs, frees, live_at_end FROM memory_stats WHERE kind = 'device'") == [
        (20, 20, 0)]
    # 20 times 8 bytes each way, and two fills: CUDA's zeroes and the program's.
    assert work.database.rows(
        "SELECT direction, sum(n), sum(bytes) FROM copy_stats GROUP BY direction ORDER BY direction") == [
        ("d2h", 20, 160), ("h2d", 20, 160), ("set", 40, 20 * (4096 + 64))]
    assert work.database.rows("SELECT name, launches FROM kernel_stats") == [("saxpy", 20)]
    assert work.database.value("SELECT count(*) FROM streams WHERE launches = 20") == 1


def test_tree_and_flow_show_both_layers(work):
    tree = {(row["depth"], row["name"]): int(row["calls"]) for row in work.report("tree", "--limit", "1000")}
    assert tree[("0", "cuMemAlloc_v2")] == 20 and tree[("1", "hipMalloc")] == 20 and ("0", "hipMalloc") not in tree
    flow = {(row["caller"], row["callee"]): row for row in work.report("flow", "--limit", "1000")}
    row = flow[("cuMemAlloc_v2", "hipMemsetD8Async")]
    assert (row["caller_api"], row["callee_api"], row["calls"],
            float(row["calls_per_caller"])) == ("cuda", "hip", "20", 1.0)


def test_the_time_of_a_call_is_split(work):
    rows = {row["name"]: row for row in work.report("cuda", "--limit", "1000")}
    assert set(rows) == {name for name in work.ran.total if name.startswith("cu")}
    for name, row in rows.items():
        assert int(row["calls"]) == work.ran.total[name]
        parts = [int(row[part]) for part in ("hip_ns", "fade_ns", "added_ns")]
        assert sum(parts) == int(row["total_ns"]) and min(parts) >= 0, name
        assert int(row["hip_calls"]) > 0 or parts[0] == 0, name  # may be too short to be measured
    assert sum(int(row["hip_calls"]) for row in rows.values()) == sum(n for name, n in work.ran.total.items()
                                                                      if name.startswith("hip"))
    without = {name: int(row["without_hip"]) for name, row in rows.items()}
    assert without["cuDriverGetVersion"] == 1 and without["cuMemAlloc_v2"] == 0
    assert without["cuDeviceGetAttribute"] == 1, "the warp size is a constant, the number of multiprocessors is not"


def test_zluda_tells_an_nvidia_card(work):
    assert b"AMD Radeon RX 6800 XT [ZLUDA], 36 multiprocessors, warp 32" in work.ran.stdout
    assert b"capability 8.5" in work.ran.stdout
    told = work.database.value("SELECT args FROM calls WHERE name = 'cuDeviceGetAttribute' ORDER BY id LIMIT 1")
    assert "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT" in told and "36" in told


def test_a_correction_reaches_a_cuda_program_once(build, tmp_path):
    """The program is told 72, ZLUDA goes on with what HIP said."""
    done = Recorded(build, "cuda work 1", tmp_path,
                    options=("-e", harness.EVERYTHING, "--set", "device.0.multiProcessorCount=72"))
    assert b"72 multiprocessors" in done.ran.stdout
    assert done.database.rows("SELECT was, became, n FROM override_hits") == [("36", "72", 1)]
    facts = done.database.rows("SELECT told, received, told_by_zluda, received_from_zluda FROM device_facts "
                               "WHERE fact = 'multiprocessors'")
    assert facts == [("36", None, "36", "72")]
    assert done.database.value("SELECT count(*) FROM findings WHERE finding = 'count-overridden'") == 1


def test_the_cuda_side_can_be_turned_off(build, tmp_path):
    done = Recorded(build, "cuda work 5", tmp_path, options=("-e", "all,hot,-cuda"))
    hip = {name: n for name, n in done.ran.total.items() if name.startswith("hip")}
    assert harness.summed(done.database.counts("call_stats")) == hip


# ---------------------------------------------------------------- failures
def test_a_failure_of_hip_becomes_one_of_cuda(build, tmp_path):
    done = Recorded(build, "cuda fail", tmp_path)
    rows = [(row["name"], row["error"], row["hip_call"], row["hip_error"]) for row in done.report("cuda", "--errors")]
    assert rows == [("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY", "hipMalloc", "hipErrorOutOfMemory"),
                    ("cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND", "hipModuleGetFunction", "hipErrorNotFound"),
                    ("cuDeviceGetAttribute", "CUDA_ERROR_INVALID_VALUE", "", "")]


def test_any_failure_of_hip_is_passed_on(build, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", *build.command("cuda work 3")]
    ran = harness.run(command, build.environment("zluda", FADE_STANDIN_FAIL="hipModuleLaunchKernel:2:719"), tmp_path)
    assert ran.status == 99
    database = harness.Database(tmp_path / "run.db")
    assert database.rows("SELECT name, result, result_name FROM calls WHERE failed ORDER BY id") == [
        ("cuLaunchKernel", 719, "CUDA_ERROR_LAUNCH_FAILED"), ("hipModuleLaunchKernel", 719, "hipErrorLaunchFailure")]


def test_gaps_are_ranked_by_who_asked(build, tmp_path):
    done = Recorded(build, "cuda gaps", tmp_path)
    rows = [(row["name"], row["calls"], pathlib.Path(row["caller"]).name, row["or_names"])
            for row in done.report("gaps")]
    assert rows == [("cuMemAllocManaged", "5", "cuda", ""), ("cuStreamGetPriority", "3", "cuda", ""),
                    ("cuMemPoolDestroy", "1", "cuda", "")]
    assert done.report("gaps", "--name", "Pool")[0]["or_more"] == ""


def test_names_of_one_address_are_one_site_and_all_are_known(build, tmp_path):
    done = Recorded(build, "cuda gaps", tmp_path, runtime="zluda_folded")
    addresses = exported(build.runtimes / "zluda_folded" / "libnvcuda.so")
    sites = done.database.value("SELECT sites FROM modules WHERE role = 'zluda'")
    assert sites == len(set(addresses.values()))
    for name, calls in (("cuMemAllocManaged", 5), ("cuStreamGetPriority", 3)):
        same = sorted(other for other, address in addresses.items() if address == addresses[name])
        assert done.ran.total[same[0]] >= calls
        names = [other for (other,) in done.database.rows(
            f"SELECT other_name FROM function_names WHERE name = '{same[0]}' ORDER BY other_name")]
        assert names == same[1:] and name in same
        assert [row["or_more"] for row in done.report("gaps") if row["name"] == same[0]] == [str(len(same) - 1)]
    first = done.report("gaps")[0]
    assert int(first["calls"]) == 6 and "cuArray3DCreate" in (
        first["name"], *first["or_names"].split()), "cuMemPoolDestroy has the same code"


# ---------------------------------------------------------------- functions without names
def test_functions_of_a_table_are_seen(build, tmp_path):
    """The stand-in counts them as CUDART_INTERFACE_1 and _2, after their places in the table."""
    done = Recorded(build, "cuda table", tmp_path)
    named = {name.replace("_1", "[1]").replace("_2", "[2]"): n for name, n in done.ran.total.items()
             if name.startswith("CUDART")}
    found = harness.summed(done.database.counts("call_stats"))
    assert {name: n for name, n in found.items()
            if name.startswith("CUDART")} == named == {"CUDART_INTERFACE[1]": 4, "CUDART_INTERFACE[2]": 1}
    assert done.inside("CUDART_INTERFACE[1]") == {"hipModuleLoadData": 4}


# ---------------------------------------------------------------- a file is enough
def test_reports_need_the_database_only(work, tmp_path):
    copy = tmp_path / "elsewhere.db"
    source = sqlite3.connect(work.folder / "run.db")
    with sqlite3.connect(copy) as target:
        source.backup(target)
    for report in ("cuda", "gaps"):
        done = subprocess.run([work.build.fade_query, copy, report, "-f", "json"],
                              capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin"})
        assert done.returncode == 0, done.stderr
