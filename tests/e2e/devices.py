"""Programs with stand-in devices, beside trees of the driver's topology (tests/sysfs)."""
import os
import pathlib
import subprocess

import pytest

import harness

SYSFS = pathlib.Path(__file__).resolve().parents[1] / "sysfs"
RX, XTX = "AMD Radeon RX 6800 XT", "AMD Radeon RX 7900 XTX"
WARNINGS = "SELECT finding, device FROM findings WHERE severity <> 'info' ORDER BY 1, 2"


@pytest.fixture
def record(build, tmp_path):
    """Records the tracee that asks for everything; returns the database."""
    def run(devices, buses, tree, *options, name="run", fails=False, **environment):
        root = SYSFS / tree if isinstance(tree, str) else tree
        ran = harness.run_supervised(build, "props", "v6", tmp_path / name, options=("--sysfs-root", root, *options),
                                     FADE_STANDIN_DEVICES=devices, FADE_STANDIN_BUSES=buses, **environment)
        assert (ran.status != 0) == fails and (ran.stderr == b"" or fails)
        return harness.Database(tmp_path / name / "run.db")
    return run


@pytest.fixture
def page(build, tmp_path):
    def show(*words, name="run", columns=80):
        done = subprocess.run([build.fade_query, tmp_path / name / "run.db", *words],
                              env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": str(columns)},
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return show


def tree(folder, *nodes, **revisions):
    """A tree of nodes given as (gpu_id, properties, bytes of memory); a node's properties may be missing."""
    for number, (gpu_id, properties, memory) in enumerate(nodes):
        node = folder / "class" / "kfd" / "kfd" / "topology" / "nodes" / str(number)
        (node / "mem_banks" / "0").mkdir(parents=True)
        (node / "gpu_id").write_text(f"{gpu_id}\n")
        (node / "mem_banks" / "0" / "properties").write_text(
            f"heap_type {1 if gpu_id else 0}\nsize_in_bytes {memory}\n")
        if properties is not None:
            (node / "properties").write_text("".join(f"{name} {value}\n" for name, value in properties.items()))
    return folder


CPU = (0, {"cpu_cores_count": 16}, 64 << 30)
MI210 = {"simd_count": 416, "simd_per_cu": 4, "gfx_target_version": 90010, "wave_front_size": 64,
         "vendor_id": 0x1002, "device_id": 0x740f, "location_id": 0x0300, "domain": 0, "max_engine_clk_fcompute": 1700}
