"""The findings made of what programs were told of devices, of the driver and of the reference table."""
import pathlib
import re
import sqlite3
import subprocess

import pytest

from devices import CPU, MI210, RX, WARNINGS, page, record, tree  # noqa: F401 (fixtures)

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "cli" / "man" / "fade-findings.7.scd.in"
SCHEMA = pathlib.Path(__file__).parents[2] / "schema"


def test_the_official_switch_is_explained(record):
    database = record(f"{RX}!/gfx1030/72/32/16384", "a", "rx6800xt", GPU_ENABLE_WGP_MODE="0")
    assert database.rows("SELECT finding, severity FROM findings") == [("wgp-mode-off", "info")]


@pytest.mark.parametrize("finding, device, environment", [
    ("cu-mask", "Card/gfx1030/8/32/16384", {"ROC_GLOBAL_CU_MASK": "0xffff"}),
    ("hsa-cu-mask", "RX 6800 XT", {"HSA_CU_MASK": "0:0-7"}),
    ("count-differs", "Card/gfx1030/8/32/16384", {}),
    ("arch-override", "Card/gfx1100/36/32/16384", {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"}),
    ("memory-smaller", "Card/gfx1030/36/32/8192", {}),
    ("warp-size", "Card/gfx1030/36/64/16384", {}),
])
def test_each_warning_about_a_device(record, finding, device, environment):
    database = record(device, "a", "rx6800xt", **environment)
    assert database.rows(WARNINGS) == [(finding, 0)]
    text, advice = database.rows(f"SELECT text, advice FROM findings WHERE finding = '{finding}'")[0]
    assert text and advice and "NULL" not in text + advice
    assert all(f"{name}={value}" in text for name, value in environment.items())


def test_a_mask_that_hides_nothing_is_no_finding(record):
    assert record("RX 6800 XT", "a", "rx6800xt", ROC_GLOBAL_CU_MASK="0xfffffffff").rows(WARNINGS) == []


def test_an_architecture_changed_from_within_is_seen_too(record):
    database = record("Card/gfx1031/36/32/16384", "a", "rx6800xt")
    assert database.rows(WARNINGS) == [("arch-override", 0)]
    assert "was not set" in database.value("SELECT text FROM findings WHERE finding = 'arch-override'")


def test_rules_that_mislead_are_told(record):
    database = record("RX 6800 XT", "a", "rx6800xt", "--set", "device.0.multiProcessorCount=72",
                      "--set", "device.0.warpSize=64")
    assert database.rows(WARNINGS) == [("count-overridden", 0), ("warp-size", 0)]
    assert "x 36 blocks" in database.value("SELECT text FROM findings WHERE finding = 'count-overridden'")
    assert record("RX 6800 XT", "a", "rx6800xt", "--set", "device.0.multiProcessorCount=18",
                  name="less").rows(WARNINGS) == []


def test_clocks_are_compared_with_the_driver_only(record, tmp_path):
    properties = {**MI210, "max_engine_clk_fcompute": 1690}
    database = record("MI210", "3", tree(tmp_path / "other", CPU, (7, properties, 64 << 30)))
    assert database.rows("SELECT finding, severity FROM findings") == [("clock-differs", "info")]
    # The data sheet's 2250 MHz of the RX 6800 XT against 2575 is none.
    assert record("RX 6800 XT", "a", "rx6800xt",
                  name="boost").rows("SELECT * FROM findings WHERE finding LIKE 'clock%'") == []


def test_memory_of_an_apu_is_explained(record):
    database = record("AMD Radeon 780M/gfx1103/6/32/512", "c4", "apu")
    assert database.rows("SELECT finding, severity FROM findings WHERE finding LIKE 'memory%'") == [
        ("memory-shared", "info")]
    assert "0.5 GiB" in database.value("SELECT text FROM findings WHERE finding = 'memory-shared'")


def test_a_runtime_that_contradicts_itself(build, record, tmp_path):
    database = record("RX 6800 XT", "a", "rx6800xt")
    assert database.rows("SELECT * FROM findings WHERE finding = 'answers-differ'") == []
    with sqlite3.connect(tmp_path / "run" / "run.db") as connection:
        connection.execute("UPDATE device_prop_ SET value = '72' WHERE name = 'hipDeviceAttributeMultiprocessorCount'")
    assert "36 and 72 multiprocessors" in database.value("SELECT text FROM findings WHERE finding = 'answers-differ'")


def test_without_a_driver(record, page):
    database = record("RX 6800 XT", "a", "none")
    assert database.rows("SELECT finding, severity FROM findings ORDER BY 1") == [("no-kfd-topology", "info"),
                                                                                  ("wgp-count", "info")]
    assert database.value("SELECT reference_by FROM device_truth") == "name"
    (head,) = (line for line in page("devices", "--format", "table").splitlines() if line.startswith("  fact "))
    assert head.split() == "fact HIP told reference table".split(), "no column of nothing"


def test_a_device_that_the_driver_does_not_have(record):
    assert record("RX 6800 XT", "77", "rx6800xt").rows(WARNINGS) == [("no-kfd-node", 0)]


def test_a_node_that_tells_nothing(record, tmp_path, page):
    database = record("MI210", "3", tree(tmp_path / "half", CPU, (7, MI210, 64 << 30), (8, None, 0)))
    assert database.rows("SELECT finding, severity FROM findings") == [
        ("kfd-node-unreadable", "info")], "as in a container that was given one GPU"
    assert "node 2: unknown GPU: its properties cannot be read" in " ".join(
        page("devices", "--format", "table").split())


def test_only_nodes_that_tell_nothing(record, tmp_path):
    database = record("MI210", "3", tree(tmp_path / "refused", CPU, (7, None, 0), (8, None, 0)))
    assert database.rows(WARNINGS) == [("kfd-node-unreadable", None), ("no-kfd-node", 0)]
    assert "2 GPUs here, but their properties" in database.value(
        "SELECT text FROM findings WHERE finding = 'kfd-node-unreadable'")


def test_hidden_gpus(record, page):
    database = record("RX 6800 XT", "3", "swapped", HIP_VISIBLE_DEVICES="1", CUDA_VISIBLE_DEVICES="0")
    assert database.rows("SELECT finding, severity FROM findings WHERE finding <> 'wgp-count' ORDER BY 1") == [
        ("cuda-variable-ignored", "warning"), ("device-hidden", "info")]
    assert "HIP_VISIBLE_DEVICES=1 hides this GPU (0000:04:00.0)" in database.value(
        "SELECT text FROM findings WHERE finding = 'device-hidden'")
    text = " ".join(page("devices", "--format", "table").split())
    assert "node 1: Radeon RX 7900 XTX" in text
    assert "HIP_VISIBLE_DEVICES=1 (CUDA_VISIBLE_DEVICES=0 is not looked at): device 0 is node 2" in text


def test_variables_that_leave_nothing(record, page):
    database = record("none", "", "swapped", fails=True, ROCR_VISIBLE_DEVICES="7")
    assert database.rows("SELECT finding, severity FROM findings") == [("all-hidden", "error")]
    assert "ROCR_VISIBLE_DEVICES=7" in page("findings", "--format", "table")
    assert "No program was told about a device." in page("devices", "--format", "table")


def test_a_gpu_that_the_table_does_not_know(record, tmp_path):
    database = record("MI210", "3", tree(tmp_path / "new", CPU, (7, {**MI210, "device_id": 0x7fff}, 64 << 30)))
    assert database.rows("SELECT finding, severity FROM findings") == [("not-in-table", "info")]
    assert "1002:7fff" in database.value("SELECT text FROM findings")


def names_in(path):
    """A file has the finding of its name, those whose names begin so, or kinds of the view environment_findings."""
    text = path.read_text()
    if f"'{path.stem}'" in text:
        return {path.stem}
    if path.stem != "environment":
        return set(re.findall(rf"'({path.stem}-[a-z0-9-]+)'", text))
    kinds = set(re.findall(r"'([a-z-]+)'", (SCHEMA / "views" / "libraries.sql").read_text()))
    return kinds & set(re.findall(r"[a-z-]+", text.splitlines()[0]))


def test_every_finding_has_its_section_in_the_manual():
    files = list(SCHEMA.glob("*findings/*.sql"))
    assert all(names_in(path) for path in files)
    sections = set(re.findall(r"^## ([a-z0-9-]+)$", MANUAL.read_text(), re.M))
    assert sections == set().union(*map(names_in, files))


def test_a_check_may_fail_on_findings(build, record, tmp_path):
    def check(name):
        return subprocess.run([build.fade_query, tmp_path / name / "run.db", "check", "--fail-on", "findings"],
                              capture_output=True, text=True, timeout=60)
    record("RX 6800 XT", "a", "rx6800xt")
    record("Card/gfx1030/8/32/8192", "a", "rx6800xt", name="less")
    assert (check("run").returncode, check("run").stdout) == (0, "passed: no findings\n"), "explanations are no failure"
    assert check("less").returncode == 1
    assert check(
        "less").stdout == (f"failed: findings: fade-query {tmp_path}/less/run.db findings explains: "
                           f"count-differs,memory-smaller\n")
