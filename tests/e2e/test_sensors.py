"""The sensors of GPUs while a program runs. The tree stands for the driver's, and the program itself writes what
changes there."""
import os
import shutil
import subprocess

import pytest

import harness
from devices import SYSFS
from queries import on_terminal

MIB = 1 << 20
FILES = {"gpu_busy_percent": "37", "mem_busy_percent": "12", "mem_info_vram_used": str(3 * MIB),
         "hwmon/hwmon0/power1_average": "251000000",
         "hwmon/hwmon0/temp1_input": "64000", "hwmon/hwmon0/freq1_input": "2300000000"}
# The shell is the recorded program: it holds 1 MiB as the driver tells it, then 2 MiB. Process 1 is not recorded.
HOLDS = ('d=$SYSFS/class/kfd/kfd/proc/$$; mkdir -p $d; echo 1048576 > $d/vram_18467; sleep 1.3; echo 2097152 > '
         '$d/vram_18467; sleep 1.3')


@pytest.fixture
def sysfs(tmp_path):
    """The RX 6800 XT of tests/sysfs, with sensors."""
    root = tmp_path / "sys"
    shutil.copytree(SYSFS / "rx6800xt", root)
    for name, value in FILES.items():
        file = root / "bus/pci/devices/0000:0a:00.0" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value + "\n")
    (root / "class/kfd/kfd/proc/1").mkdir(parents=True)
    (root / "class/kfd/kfd/proc/1/vram_18467").write_text(f"{MIB}\n")
    return root


@pytest.fixture
def record(build, tmp_path, sysfs):
    def run(*options, script=HOLDS, name="run.db"):
        path = tmp_path / name
        harness.run([build.fade_run, "-q", "--sysfs-root", sysfs, *options, "-o", path, "--", "sh", "-c", script],
                    build.environment("v6", SYSFS=str(sysfs)), tmp_path)
        return harness.Database(path)
    return run


def ask(build, path, *words):
    return subprocess.run([build.fade_query, path, *words], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "COLUMNS": "80"})


def test_each_second_has_a_row(record):
    database = record()
    rows = database.rows(
        "SELECT node, pci, busy_percent, busy_percent_most, memory_most, watts, celsius, mhz, memory_mhz, asleep FROM "
        "gpu_samples")
    assert len(rows) >= 2
    assert set(rows) == {(1, "0000:0a:00.0", 37.0, 37, 3 * MIB, 251.0, 64.0, 2300.0, None, 0)}
    assert database.value("SELECT max(looks) FROM gpu_samples") > 1
    assert database.rows("SELECT a.start FROM gpu_samples a, gpu_samples b "
                         "WHERE a.start > b.start AND a.start < b.start + b.duration") == []


def test_the_live_view_shows_the_last_second(build, record, tmp_path):
    record()
    shown = subprocess.run([build.folder / "cli" / "top" / "fade-top", "--once", tmp_path / "run.db"],
                           capture_output=True, text=True, timeout=60).stdout
    line = next(line for line in shown.splitlines() if line.startswith("GPU 1"))
    assert "busy  37 %" in line and "memory 3.00 MiB of " in line and "251 W  64 C" in line


def test_who_holds_memory_is_told(build, record, tmp_path):
    database = record()
    assert database.rows("SELECT bytes, recorded FROM gpu_holders ORDER BY recorded, start") == [
        (MIB, 0), (MIB, 1), (2 * MIB, 1)]
    answer = ask(build, tmp_path / "run.db", "sensors", "-f", "tsv")
    head, row = (line.split("\t") for line in answer.stdout.splitlines())
    told = dict(zip(head, row))
    assert (told["busy_percent"], told["idle_percent"], told["watts"], told["memory_mhz"]) == ("37", "0", "251", "")
    assert [told[name] for name in ("memory_bytes", "memory_total_bytes", "own_bytes",
                                    "others_bytes")] == [str(n) for n in (3 * MIB, 17163091968, 2 * MIB, MIB)]


HIP_ALLOCATES = """import ctypes, os, time
hip = ctypes.CDLL("libamdhip64.so")
assert hip.hipMalloc(ctypes.byref(ctypes.c_void_p()), 1 << 20) == 0
time.sleep(1.3)
"""
HOLDS_MORE = 'd=$SYSFS/class/kfd/kfd/proc/$$; mkdir -p $d; echo 3145728 > $d/vram_18467; exec python3 allocates.py'


def test_the_ledger_is_compared_with_the_driver(build, record, tmp_path):
    (tmp_path / "allocates.py").write_text(HIP_ALLOCATES)
    database = record(script=HOLDS_MORE)
    told = database.rows("SELECT ledger, held, beside, others, in_use, total, doubt FROM gpu_memory")
    assert told == [(MIB, 3 * MIB, 2 * MIB, MIB, 3 * MIB, 17163091968, None)]
    shown = ask(build, tmp_path / "run.db", "gpu-memory", "-f", "tsv").stdout.splitlines()
    figures = dict(zip(*(line.split("\t") for line in shown)))
    assert (figures["hip_bytes"], figures["beside_bytes"],
            figures["others_bytes"]) == (str(MIB), str(2 * MIB), str(MIB))


def test_a_process_that_the_driver_does_not_name_is_said_to_be_unknown(record, tmp_path):
    (tmp_path / "allocates.py").write_text(HIP_ALLOCATES)
    database = record(script="exec python3 allocates.py")
    assert database.rows("SELECT held, beside, doubt FROM gpu_memory") == [
        (None, None, "the driver did not say what this process held")]


FAILS = """import ctypes
hip = ctypes.CDLL("libamdhip64.so")
assert hip.hipMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 50)) == 2
"""


def test_others_that_hold_much_are_named_where_memory_ran_out(build, record, sysfs, tmp_path):
    (sysfs / "class/kfd/kfd/proc/1/vram_18467").write_text(f"{4 << 30}\n")
    (tmp_path / "allocates.py").write_text(FAILS)
    record(script=HOLDS_MORE)
    text = " ".join(on_terminal(build, [tmp_path / "run.db", "oom"], NO_COLOR="1").split())
    held = "this process held 3.00 MiB and other processes 4.00 GiB of that device"
    assert f"By the driver, within a second, {held}; the largest is process 1." in text


def test_a_terminal_shows_the_load_over_time(build, record, tmp_path):
    record()
    text = " ".join(on_terminal(build, [tmp_path / "run.db", "sensors"], NO_COLOR="1").split())
    assert "GPU of node 1 (navi21, 0000:0a:00.0) busy 37.0 % on average, 37 % at most; without load 0.0 % of" in text
    assert "memory 3.00 MiB of 16.0 GiB at most; recorded processes held 2.00 MiB, others 1.00 MiB" in text
    assert "251 W on average, 251 W at most; 64 degrees Celsius at most; shaders at 2300 MHz" in text
    assert "100 % busy │" in text and "▇" in text


def test_a_gpu_that_sleeps_is_not_asked(build, record, sysfs, tmp_path):
    (sysfs / "bus/pci/devices/0000:0a:00.0/power").mkdir()
    (sysfs / "bus/pci/devices/0000:0a:00.0/power/runtime_status").write_text("suspended\n")
    database = record(script="true")
    assert database.rows("SELECT busy_percent, memory, asleep = looks FROM gpu_samples") == [(None, None, 1)]
    assert "100" in ask(build, tmp_path / "run.db", "sensors", "-f", "tsv").stdout


@pytest.mark.parametrize("options", [["--no-sensors"], ["--delay", "1h"]])
def test_nothing_is_read_if_nothing_is_wanted(build, record, tmp_path, options):
    assert record(*options).rows("SELECT * FROM gpu_samples") == []
    answer = ask(build, tmp_path / "run.db", "sensors", "-f", "table")
    assert answer.returncode == 0 and "no sensor of an AMD GPU was read" in " ".join(answer.stdout.split())


def test_a_driver_without_sensors_gives_no_values(record, sysfs):
    shutil.rmtree(sysfs / "bus")
    database = record(script="true")
    assert database.rows("SELECT busy_percent, memory, watts, asleep FROM gpu_samples") == [(None, None, None, 0)]
    assert database.rows("SELECT bytes FROM gpu_holders") == [(MIB,)]
