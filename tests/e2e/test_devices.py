"""Device truth: what a program was told, what the driver says (trees of tests/sysfs), what the reference table says."""
import json
import os
import re
import shutil
import subprocess

import pytest

import harness
from attaching import attach, start  # noqa: F401 (fixtures)
from devices import CPU, MI210, RX, SYSFS, WARNINGS, XTX, page, record, tree  # noqa: F401 (fixtures)


# ---------------------------------------------------------------- who is who
def test_a_healthy_cdna_card_has_no_finding(record, tmp_path):
    database = record("MI210", "3", tree(tmp_path / "mi210", CPU, (7, MI210, 64 << 30)))
    assert database.rows("SELECT * FROM findings") == []
    truth = ("SELECT told_multiprocessors, driver_compute_units, arch, driver_arch, matched_by, reference_name FROM "
             "device_truth")
    assert database.rows(truth) == [(104, 104, "gfx90a:sramecc+:xnack-", "gfx90a", "PCI address", "Instinct MI210")]


def test_healthy_rdna_cards_are_only_explained(record):
    database = record("RX 6800 XT,RX 7900 XTX", "3,4", "swapped")
    assert database.rows("SELECT finding, device, severity FROM findings ORDER BY device") == [
        ("wgp-count", 0, "info"), ("wgp-count", 1, "info")]
    assert database.rows("SELECT text FROM findings WHERE device = 0 AND text LIKE '36 WGP = 72 CU%'")
    assert database.rows("SELECT text FROM findings WHERE text LIKE '%wrong%'") == []
    assert database.rows("SELECT device, node, name, reference_name FROM device_truth ORDER BY device") == [
        (0, 2, RX, "Radeon RX 6800 XT"), (1, 1, XTX, "Radeon RX 7900 XTX")], "by address, not by number"


def test_side_by_side(record):
    database = record("RX 6800 XT", "a", "rx6800xt", "--set", "device.0.multiProcessorCount=72")
    facts = {row[0]: row[1:]
             for row in database.rows("SELECT fact, told, counts, received, driver, reference FROM device_facts")}
    assert facts["multiprocessors"] == ("36", "WGP", "72", 72, 72)
    assert facts["architecture"] == ("gfx1030", None, None, "gfx1030", "gfx1030")
    assert facts["memory"] == (str(16 << 30), None, None, 17163091968, 16 << 30)
    assert facts["clock"] == ("2575", None, None, 2575, 2250)
    assert facts["name"] == (RX, None, None, "navi21", "Radeon RX 6800 XT")


def test_the_page(record, page):
    record("RX 6800 XT", "a", "rx6800xt", "--set", "device.0.multiProcessorCount=72",
           ROCR_VISIBLE_DEVICES="0", CUDA_VISIBLE_DEVICES="0")
    text = page("devices", "--format", "table")
    lines = [re.sub(" +", " ", line).strip() for line in text.splitlines()]
    assert f"Device 0: {RX}" in lines
    assert "multiprocessors 36 WGP -> 72 72 CU 72 CU" in lines
    assert "clock 2575 MHz 2575 MHz 2250 MHz boost" in lines
    assert "at 0000:0a:00.0, node 1 of the driver (found by PCI address)" in " ".join(lines)
    assert ("ROCR_VISIBLE_DEVICES=0 comes first, then CUDA_VISIBLE_DEVICES=0 counts within what is left: "
            "device 0 is node 1") in " ".join(lines)
    assert "reported by hipGetDevicePropertiesR0600, hipGetDevicePropertiesR0000" in " ".join(lines)
    assert "hipDeviceGetAttribute" in text
    assert re.search(r"overwritten by fade: multiProcessorCount 36 -> 72, \d+ times", " ".join(lines))
    assert "wgp-count" in text and "-> " in text


def test_a_page_fits_its_terminal(build, record, tmp_path):
    pexpect = pytest.importorskip("pexpect")
    record("RX 6800 XT,RX 7900 XTX", "3,4", "swapped", ROC_GLOBAL_CU_MASK="0xff")
    for report in ("devices", "findings", "props"):
        for columns in (80, 200):
            child = pexpect.spawn(str(build.fade_query), [str(tmp_path / "run" / "run.db"), report],
                                  dimensions=(50, columns), encoding="utf-8", timeout=60,
                                  env={**os.environ, "LC_ALL": "C.UTF-8"})
            child.expect(pexpect.EOF)
            child.close()
            shown = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
            # a path is not broken
            lines = [line for line in shown.splitlines() if line.strip() != str(tmp_path / "run" / "run.db")]
            assert child.exitstatus == 0 and max(map(len, lines)) <= columns, shown


def test_rows_for_programs(record, page):
    record("RX 6800 XT", "a", "rx6800xt", "--set", "device.0.multiProcessorCount=72")
    (device,) = json.loads(page("devices", "--format", "json"))
    assert (device["multiprocessors"], device["compute_units"], device["node"],
            device["reference"]) == (72, 72, 1, "Radeon RX 6800 XT")
    assert "36 -> 72" in device["overwritten"] and device["was"] == "multiprocessors 36"
    props = json.loads(page("props", "--format", "json"))
    told = {(p["property"], p["source"]): p for p in props}[("multiProcessorCount", "api:hipGetDevicePropertiesR0600")]
    assert (told["value"], told["driver"], told["reference"]) == ("36", "72 CU", "72 CU")
    assert {p["property"]: p["driver"] for p in props}["clockRate"] == "2575 MHz"
    assert [f["finding"] for f in json.loads(page("findings", "--format", "json"))] == ["count-overridden", "wgp-count"]
    assert page("devices", "--columns", "ordinal,compute_units", "--format",
                "table").split() == ["ordinal", "compute", "units", "0", "72"]


def test_reports_show_what_the_program_received(record, page):
    rules = ("device.*.multiProcessorCount=72", 'device.0.name="Fake GPU"', 'device.0.gcnArchName="gfx90a"',
             "device.0.totalGlobalMem=8G")
    database = record("RX 6800 XT,RX 7900 XTX", "3,4", "swapped", *(word for rule in rules for word in ("--set", rule)))
    told = ("SELECT ordinal, name, arch, multiprocessors, total_memory, told_name, told_arch, told_multiprocessors "
            "FROM devices ORDER BY ordinal")
    assert database.rows(told) == [(0, "Fake GPU", "gfx90a", 72, 8 << 30, RX, "gfx1030", 36),
                                   (1, XTX, "gfx1100", 72, 24 << 30, XTX, "gfx1100", 48)]
    first, second = json.loads(page("devices", "--format", "json"))
    assert (first["name"], first["arch"], first["multiprocessors"],
            first["memory_bytes"]) == ("Fake GPU", "gfx90a", 72, 8 << 30)
    assert first["was"] == f"multiprocessors 36, name {RX}, arch gfx1030, memory 16.0 GiB"
    assert (second["name"], second["multiprocessors"], second["was"]) == (XTX, 72, "multiprocessors 48")
    text = " ".join(page("summary", "--format", "table", columns=200).split())
    assert "Fake GPU gfx90a 72 8.00 GiB" in text
    assert (f"device 0, before fade overwrote it: name was {RX}, arch was gfx1030, multiprocessors was 36, "
            "memory was 16.0 GiB") in text
    hits = dict(database.rows("SELECT was, sum(n) FROM override_hits WHERE rule_id = 1 GROUP BY was"))
    assert f"device.*.multiProcessorCount=72: {hits['36']} times 36 -> 72, {hits['48']} times 48 -> 72" in text


def test_a_number_that_nobody_saw_is_not_claimed(record, tmp_path):
    text = "SELECT text FROM findings WHERE finding = 'wgp-count'"
    assert "The driver sees all 72 compute units" in record("RX 6800 XT", "a", "rx6800xt").value(text)
    (tmp_path / "empty").mkdir()
    unseen = record("RX 6800 XT", "a", tmp_path / "empty", name="unseen").value(text)
    assert "By the reference table" in unseen and "view was not available" in unseen


def test_nothing_is_needed_but_the_file(record, page, tmp_path):
    shutil.copytree(SYSFS / "rx6800xt", tmp_path / "gone")
    record("RX 6800 XT", "a", tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    assert "36 WGP" in page("devices", "--format", "table")


def test_what_zluda_answers_stands_beside_it(build, tmp_path):
    options = ("--sysfs-root", SYSFS / "rx6800xt", "-e", harness.EVERYTHING)
    harness.run_supervised(build, "cuda work 1", "zluda", tmp_path, options=options,
                           FADE_STANDIN_DEVICES="RX 6800 XT", FADE_STANDIN_BUSES="a")
    database = harness.Database(tmp_path / "run.db")
    told = {fact: (hip, zluda) for fact, hip, zluda in database.rows(
        "SELECT fact, told, told_by_zluda FROM device_facts WHERE device = 0")}
    assert told["multiprocessors"] == ("36", "36") and told["name"] == (RX, RX + " [ZLUDA]")
    assert told["warp size"] == ("32", "32")
    assert database.rows(WARNINGS) == []
    done = subprocess.run([build.fade_query, tmp_path / "run.db", "devices", "--format", "table"],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert "... [ZLUDA]" in done.stdout and "ZLUDA told" in done.stdout and "multiprocessors  36 WGP" in done.stdout


# ---------------------------------------------------------------- the option
def test_a_root_that_is_none_is_refused(build, tmp_path):
    ran = harness.run([build.fade_run, "--sysfs-root", tmp_path / "absent", "-o",
                       tmp_path / "x.db", "--", build.tracees / "props"], build.environment("v6"), tmp_path)
    assert ran.status == 2 and b"is not a directory" in ran.stderr and ran.counts == {}
    assert not (tmp_path / "x.db").exists()


def test_an_attachment_records_the_driver_too(start, attach):  # noqa: F811
    attachment = attach(start("steady 1"), "--sysfs-root", SYSFS / "swapped")
    attachment.has_come()
    database = attachment.leave()
    assert database.rows("SELECT node, kind, arch, compute_units, pci FROM kfd_nodes ORDER BY node") == [
        (0, "cpu", None, None, None), (1, "gpu", "gfx1100", 96, "0000:04:00.0"),
        (2, "gpu", "gfx1030", 72, "0000:03:00.0")]
    assert database.rows("SELECT root, problem FROM kfd_topology") == [(str(SYSFS / "swapped"), None)]


# ---------------------------------------------------------------- rules that take the driver's numbers
def test_the_drivers_count_as_an_answer(record):
    database = record(RX, "a", "rx6800xt", "--set", "device.*.computeUnits=auto")
    assert set(database.rows("SELECT DISTINCT was, became FROM override_hits")) == {("36", "72")}


ASKS = """import ctypes
hip = ctypes.CDLL("libamdhip64.so.6")
def count(device):
    value = ctypes.c_int()
    assert hip.hipDeviceGetAttribute(ctypes.byref(value), 63, device) == 0
    return value.value
properties = (ctypes.c_char * 1472)()
print([count(d) for d in (0, 1)])
for device in (0, 1):
    assert hip.hipGetDevicePropertiesR0600(properties, device) == 0
    print(int.from_bytes(properties[388:392], "little"))
print([count(d) for d in (0, 1)])
"""


def test_gpus_that_differ_are_told_by_their_address(build, tmp_path):
    """The driver's order is not HIP's; each device gets the number of its own address, once that is known."""
    (tmp_path / "asks.py").write_text(ASKS)
    command = [build.fade_run, "-q", "--sysfs-root", SYSFS / "swapped", "--set",
               "device.*.computeUnits=auto", "-o", tmp_path / "x.db", "--", "/usr/bin/python3", tmp_path / "asks.py"]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert ran.stdout.decode().split("\n") == ["[36, 48]", "72", "96", "[72, 96]", ""], ran.stderr
    database = harness.Database(tmp_path / "x.db")
    assert set(database.rows("SELECT device, was, became, spec FROM override_hits")) == {
        (0, "36", "72", "device.*[0000:03:00.0].computeUnits=72"),
        (1, "48", "96", "device.*[0000:04:00.0].computeUnits=96")}
    notes = database.rows("SELECT detail FROM lifecycle WHERE detail LIKE '%was not applied%'")
    assert len(notes) == 1 and "hipDeviceGetAttribute" in notes[0][0] and "PCI address" in notes[0][0]


def test_an_address_may_be_written_in_a_rule(build, tmp_path):
    (tmp_path / "asks.py").write_text(ASKS)
    command = [build.fade_run, "-q", "--set", "device.*[0000:04:00.0].computeUnits=7",
               "-o", tmp_path / "x.db", "--", "/usr/bin/python3", tmp_path / "asks.py"]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert ran.stdout.decode().split("\n") == ["[36, 48]", "36", "7", "[36, 7]", ""], ran.stderr


def test_through_zluda_too(build, tmp_path):
    ran = harness.run_supervised(build, "cuda work 1", "zluda", tmp_path,
                                 options=("--sysfs-root", SYSFS / "swapped", "--set", "device.*.computeUnits=auto"))
    assert b"72 multiprocessors" in ran.stdout, ran.stderr
