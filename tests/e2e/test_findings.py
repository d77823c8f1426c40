"""Findings as they are told: their number in the summary, the page, a filter by name; and those about kernels."""
import os
import pathlib
import subprocess

import pytest

import harness

SYSFS = pathlib.Path(__file__).resolve().parents[1] / "sysfs"
LAUNCHES = """import ctypes, sys
hip = ctypes.CDLL("libamdhip64.so.6")
module, function = ctypes.c_void_p(), ctypes.c_void_p()
assert hip.hipModuleLoadData(ctypes.byref(module), b"image") == 0
for name, times in zip(sys.argv[1::2], sys.argv[2::2]):
    assert hip.hipModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
    for _ in range(int(times)):
        assert hip.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, None, None) == 0
print("launched")
"""


@pytest.fixture
def launches(build, tmp_path):
    """Records a program that launches kernels of these names: "NAME TIMES NAME TIMES"."""
    (tmp_path / "launches.py").write_text(LAUNCHES)

    def run(words):
        command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "/usr/bin/python3",
                   tmp_path / "launches.py", *words.split()]
        ran = harness.run(command, build.environment("v6"), tmp_path)
        assert ran.stdout == b"launched\n", ran.stderr
        return harness.Database(tmp_path / "run.db")
    return run


@pytest.fixture
def query(build, tmp_path):
    def ask(*words):
        done = subprocess.run([build.fade_query, tmp_path / "run.db", *words], capture_output=True,
                              text=True, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


def test_miopens_naive_kernels_are_named(launches):
    database = launches(
        "naive_conv_fwd_nchw_fp16 3 igemm_fwd_gtcx 2 naive_conv_ab_nonpacked_wrw_nchw_float_double_float 1")
    (severity, text,
     advice), = database.rows("SELECT severity, text, advice FROM findings WHERE finding = 'miopen-naive'")
    assert severity == "info"
    assert ("launched 4 times (naive_conv_fwd_nchw_fp16: 3, "
            "naive_conv_ab_nonpacked_wrw_nchw_float_double_float: 1)") in text
    assert "tries them" in advice
    assert database.rows("SELECT n FROM checks WHERE condition = 'findings'") == [(0,)]


def test_other_kernels_are_not(launches):
    assert launches("igemm_fwd_gtcx 2 conv_naive 1").rows("SELECT * FROM findings WHERE finding = 'miopen-naive'") == []


@pytest.fixture
def devices(build, tmp_path):
    def run(line="props", *options, **environment):
        options = ("--sysfs-root", SYSFS / "rx6800xt", *options)
        ran = harness.run_supervised(build, line, "v6", tmp_path, options=options,
                                     FADE_STANDIN_BUSES="a", **environment)
        assert ran.status == 0, ran.stderr
    return run


def test_the_summary_counts_them(devices, query):
    devices(FADE_STANDIN_DEVICES="Card/gfx1030/8/64/16384", HSA_CU_MASK="0:0-7")
    summary = query("summary", "--format", "table")
    section = " ".join(summary[summary.index("\nFindings\n"):].split())  # a long path wraps the line
    assert section.startswith("Findings 3 warnings: fade-query ") and " findings" in section


def test_a_summary_without_findings_does_not_speak_of_them(devices, query):
    devices("steps compute=1")
    assert "Findings" not in query("summary", "--format", "table")


def test_the_page_takes_a_name(devices, query):
    devices(FADE_STANDIN_DEVICES="Card/gfx1030/8/64/16384", HSA_CU_MASK="0:0-7")
    page = query("findings", "--format", "table")
    assert "hsa-cu-mask" in page and "warp-size" in page
    chosen = query("findings", "--format", "table", "--name", "^warp")
    assert "warp-size" in chosen and "->" in chosen and "hsa-cu-mask" not in chosen
    assert "nothing to report" in query("findings", "--format", "table", "--name", "none-such")
    # On the page of devices a name is that of a device.
    assert "warp-size" in query("devices", "--format", "table", "--name", "no such card")
