"""The stand-in runtime itself, without fade: the other tests believe what it exports and counts."""
import pathlib
import re
import subprocess

import pytest

import harness

EXPORTS = pathlib.Path(__file__).resolve().parents[1] / "runtime" / "exports.tsv"


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {tuple(re.split("@+", line.split()[2])) for line in lines
            if line.split()[1] in "TWi"} - {("fade_standin_add", "standin")}


@pytest.mark.parametrize("runtime, release", [("v5", "5.7"), ("v6", "6.4"), ("v7", "7.2"),
                                              ("plt", "6.4"), ("ifunc", "6.4"), ("hard", "6.4"),
                                              ("wheel", "6.4"), ("stripped", "7.2")])
def test_exports_what_the_real_library_exports(build, runtime, release):
    rows = [line.split("\t") for line in EXPORTS.read_text().splitlines() if not line.startswith("#")]
    wanted = {(name, node) for name, node, releases in rows if release in releases.split()}
    assert exported(next((build.runtimes / runtime).glob("libamdhip64.so*"))) == wanted


@pytest.mark.parametrize("runtime, first", [("v5", "push +%rbp"), ("v6", "endbr64"), ("plt", r"jmp +\*0x")])
def test_entries_look_as_they_should(build, runtime, first):
    command = ["objdump", "-d", "--no-show-raw-insn", "--disassemble=hipMalloc",
               build.runtimes / runtime / "libamdhip64.so"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.search(r"<hipMalloc(@@\w+)?>:\n\s+[0-9a-f]+:\s+" + first, text)


def test_counts_survive_everything(build, tmp_path):
    """exec, fork, _exit and SIGKILL: three calls before the kill are all there."""
    killed = harness.run_alone(build, "exits kill 9", "v6", tmp_path / "killed")
    assert killed.status == -9 and killed.total["hipMalloc"] == 3
    replaced = harness.run_alone(build, "exec leader {tracees}/loop 5", "v6", tmp_path / "replaced")
    assert replaced.total["hipMalloc"] == 4 + 5 and len(replaced.counts) == 1
    forked = harness.run_alone(build, "fork 4", "v6", tmp_path / "forked")
    assert sorted(names["hipMalloc"] for names in forked.counts.values()) == [1, 2, 3, 4, 4, 7]


def test_failures_delays_and_devices_on_request(build, tmp_path):
    failed = harness.run_alone(build, "loop 5", "v6", tmp_path / "failed", FADE_STANDIN_FAIL="hipMalloc:3:2")
    assert failed.status == 99 and failed.total["hipMalloc"] == 3 and failed.total["hipFree"] == 2
    delayed = harness.run_alone(build, "loop 2", "v6", tmp_path / "delayed", FADE_STANDIN_DELAY="hipFree:1ms")
    assert delayed.status == 0
    custom = harness.run_alone(build, "props", "v6", tmp_path / "custom",
                               FADE_STANDIN_DEVICES="Card/gfx942/304/64/1024,RX 6600")
    assert b"functions Card mp 304 warp 64 cc 9.4 mem 1073741824" in custom.stdout and b"RX 6600 mp 14" in custom.stdout
