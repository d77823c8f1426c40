"""What stands in front of CUDA's driver API or beside it: NVML, CUDA's runtime as a library and linked in, and ZLUDA's
constants."""
import subprocess

import pytest

import harness


@pytest.fixture
def record(build, tmp_path):
    """Runs a tracee natively and supervised on the stand-in ZLUDA; output and counts must agree. Gives the
    recording."""
    def run(line, runtime="zluda", **environment):
        alone = harness.run_alone(build, line, runtime, tmp_path, **environment)
        ran = harness.run_supervised(build, line, runtime, tmp_path, **environment)
        assert (ran.status, ran.stdout) == (alone.status, alone.stdout) and ran.status == 0, ran.stderr
        return harness.Database(tmp_path / "run.db")
    return run


def finding(database, name):
    """(severity, subject, text, advice) of each finding of that name."""
    return database.rows(
        f"SELECT severity, subject, text, advice FROM findings WHERE finding = '{name}' ORDER BY subject")


# ---------------------------------------------------------------- NVML
def test_nvml_is_recognised_by_what_it_exports(record):
    database = record("nvml")
    assert database.rows("SELECT soname, role FROM modules WHERE role = 'nvml'") == [("libnvidia-ml.so.1", "nvml")]
    asked = dict(database.rows("SELECT name, sum(calls) FROM call_stats WHERE category = 'nvml' GROUP BY name"))
    assert asked["nvmlDeviceGetCount_v2"] == 1 and asked["nvmlDeviceGetName"] == 2 and asked["nvmlShutdown"] == 1
    assert database.rows("SELECT DISTINCT category FROM function_categories WHERE name LIKE 'nvml%'") == [("REDIRECT",)]


def test_what_zludas_nvml_does_not_answer_is_a_finding_and_no_failure(record, build, tmp_path):
    database = record("nvml hip")
    (severity, _, text, advice), = finding(database, "nvml-partial")
    assert severity == "info" and "12 questions" in text and "nvmlDeviceGetName (2 times)" in text
    assert "rocm-smi" in advice
    assert database.rows("SELECT name, value FROM nvml_answers WHERE handle IS NULL ORDER BY id") == [
        ("driverVersion", "550.77"), ("count", "2")]
    assert database.rows("SELECT nvml_index, name, pci, device FROM nvml_devices ORDER BY 1") == [
        (0, None, None, None), (1, None, None, None)]
    assert database.rows("SELECT verdict, failures FROM verdicts") == [("QUERIED_ONLY", 0)]
    assert database.rows("SELECT n FROM checks WHERE condition = 'errors'") == [(0,)]
    gaps = subprocess.run([build.fade_query, tmp_path / "run.db", "gaps", "-f", "tsv", "--columns", "name,calls"],
                          capture_output=True, text=True, timeout=60).stdout
    assert "nvmlDeviceGetMemoryInfo\t2" in gaps


def test_a_complete_nvml_has_no_such_finding(record):
    database = record("nvml hip", FADE_STANDIN_NVML="3,4")
    text = finding(database, "nvml-partial")[0][2]
    assert text.startswith("2 questions") and "nvmlDeviceGetTemperature (2 times)" in text
    assert "nvmlDeviceGetName" not in text


def test_nvmls_devices_are_matched_by_address_never_by_number(record, build, tmp_path):
    database = record("nvml hip", FADE_STANDIN_NVML="4,3")  # HIP's device 0 is at 3
    assert database.rows("SELECT nvml_index, device, pci, capability FROM nvml_devices ORDER BY 1") == [
        (0, 1, "0000:04:00.0", "8.5"), (1, 0, "0000:03:00.0", "8.5")]
    told = database.rows("SELECT device, told_by_nvml FROM device_facts WHERE fact = 'name' ORDER BY device")
    assert told == [(0, "Stand-in board 03"), (1, "Stand-in board 04")]
    assert database.rows("SELECT told, told_by_nvml FROM device_facts WHERE fact = 'memory' AND device = 0") == [
        (str(16 << 30), 16 << 30)]
    page = subprocess.run([build.fade_query, tmp_path / "run.db", "devices", "--format", "table"],
                          capture_output=True, text=True, timeout=60).stdout
    assert "NVML told" in page and "Stand-in board 04" in page


@pytest.mark.parametrize("boards, hip, differs", [("3,4", "RX 6800 XT", True), ("3", "RX 6800 XT", False),
                                                  ("3,4", "none", True)])
def test_two_counts_of_gpus(record, boards, hip, differs):
    found = finding(record("nvml hip", FADE_STANDIN_NVML=boards, FADE_STANDIN_DEVICES=hip), "nvml-count")
    assert len(found) == differs
    if differs:
        assert found[0][0] == "warning" and "2 GPUs, HIP offered" in found[0][2]
        assert "HIP_VISIBLE_DEVICES" in found[0][3]


def test_a_program_that_asks_nvml_alone_did_not_use_hip(record):
    assert record("nvml", runtime="zluda").rows("SELECT verdict FROM session_verdicts") == [("LOADED_UNUSED",)]


def test_redirects_shows_who_answers_nvml(build, tmp_path):
    (tmp_path / "asks.c").write_text(
        "#include <stdio.h>\nint nvmlInit_v2(void), nvmlShutdown(void);\nint main(void) { printf(\"%d\\n\", "
        "nvmlInit_v2() + nvmlShutdown()); }\n")
    subprocess.run(["cc", "-Wl,-z,now", "-o", tmp_path / "asks", tmp_path / "asks.c",
                    f"-L{build.runtimes / 'zluda'}", "-lnvidia-ml"], check=True)
    ran = harness.run([build.fade_run, "-q", "-o", tmp_path / "run.db", "--", tmp_path / "asks"],
                      build.environment("zluda"), tmp_path)
    assert ran.stdout == b"0\n", ran.stderr
    rows = harness.Database(tmp_path / "run.db").rows(
        "SELECT api, state, functions, library FROM bindings WHERE api = 'nvml'")
    assert [row[:3] for row in rows] == [("nvml", "bound", 2)] and rows[0][3].endswith("zluda/libnvidia-ml.so.1")


# ---------------------------------------------------------------- CUDA's runtime
def test_the_runtime_as_a_library(record):
    database = record("cudart_shared")
    assert database.rows("SELECT role, version FROM modules WHERE soname = 'libcudart.so.12'") == [
        ("cudart", "12.4.127")]
    (severity, subject, text, _), = finding(database, "cuda-runtime")
    assert severity == "info" and subject.endswith("libcudart.so.12.4.127") and "are not recorded" in text
    assert database.rows("SELECT name FROM calls WHERE parent_id IS NULL ORDER BY id") == [
        ("cuInit",), ("cuMemAlloc_v2",), ("cuMemFree_v2",)]
    assert database.rows("SELECT DISTINCT api FROM bindings WHERE module LIKE '%/cudart_shared'") == [("cudart",)]


def test_the_runtime_linked_into_the_program(record):
    (severity, subject, text, advice), = finding(record("cudart_static"), "cuda-runtime")
    assert severity == "info" and subject.endswith("/cudart_static")
    assert "linked into it" in text and "-cudart shared" in advice


def test_where_it_cannot_be_told_nothing_is_said(record):
    database = record("cudart_hidden")
    assert finding(database, "cuda-runtime") == []
    assert database.rows("SELECT count(*) FROM calls WHERE name = 'cuMemAlloc_v2'") == [(1,)]


def test_programs_without_cuda_are_not_looked_at(record):
    assert finding(record("loop 3", runtime="v6"), "cuda-runtime") == []


# ---------------------------------------------------------------- ZLUDA's constants
def test_what_zluda_answers_by_itself_is_named(record):
    (severity, subject, text, advice), = finding(record("cuda work 1", FADE_STANDIN_DEVICES="RX 6800 XT"),
                                                 "zluda-constant")
    assert severity == "info" and "RX 6800 XT" in subject
    assert text.startswith("ZLUDA answered 3 of the program's questions with constants")
    assert all(word in text for word in ("WARP_SIZE 32", "compute capability major 8", "compute capability minor 5"))
    assert "MULTIPROCESSOR_COUNT" not in text
    assert "ZLUDA_CC" in advice


def test_hip_and_nvidias_driver_have_no_constants_of_zluda(record, build, tmp_path):
    assert finding(record("props", runtime="v6"), "zluda-constant") == []
    (tmp_path / "driver.c").write_text(
        "int cuInit(unsigned f) { return (int)f; }\nint cuDeviceGetCount(int *n) { *n = 1; return 0; }\n"
        "int cuDeviceGetAttribute(int *v, int a, int d) { (void)a; *v = 32 + d; return 0; }\n")
    (tmp_path / "driver").mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "driver" / "libcuda.so.1", tmp_path / "driver.c"],
                   check=True)
    (tmp_path / "asks.py").write_text(
        "import ctypes\nd = ctypes.CDLL('libcuda.so.1')\nv = ctypes.c_int()\nd.cuInit(0)\n"
        "d.cuDeviceGetAttribute(ctypes.byref(v), 10, 0)\nprint(v.value)\n")
    ran = harness.run([build.fade_run, "-q", "-o", tmp_path / "driver.db", "--",
                       "/usr/bin/python3", tmp_path / "asks.py"],
                      build.environment("v6", LD_LIBRARY_PATH=str(tmp_path / "driver")), tmp_path)
    assert ran.stdout == b"32\n", ran.stderr
    database = harness.Database(tmp_path / "driver.db")
    assert database.rows("SELECT name, value FROM device_properties") == [("CU_DEVICE_ATTRIBUTE_WARP_SIZE", "32")]
    assert finding(database, "zluda-constant") == []
