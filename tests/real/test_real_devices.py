"""What AMD's runtime 7.2.4 says of the simulated RX 7900 XTX beside what a driver would: the same topology serves as
both.

The runtime reads it as HSA_MODEL_TOPOLOGY, fade as /sys.
"""
import pytest

import real_runs as runs

# Of devices: the tour also makes mistakes with memory on purpose.
FINDINGS = "SELECT finding, severity FROM findings WHERE finding NOT IN ('out-of-memory', 'unknown-pointer')"
WARNINGS = f"{FINDINGS} AND severity <> 'info'"


@pytest.fixture
def watched(hip724, supervised, tmp_path):
    """Runs `tour` with variables; asks the recording."""
    topology = tmp_path / "sys/class/kfd/kfd/topology"
    topology.parent.mkdir(parents=True)
    topology.symlink_to(hip724.topology)
    revision = tmp_path / "sys/bus/pci/devices/0000:03:00.0/revision"
    revision.parent.mkdir(parents=True)
    revision.write_text("0xc8\n")

    def run(*options, **variables):
        words = [word for item in variables.items() for word in ("-E", "=".join(item))]
        recorded = supervised(hip724, "tour", "--sysfs-root", tmp_path / "sys", *words, *options)
        return lambda sql: runs.rows(recorded.database, sql)

    return run


def test_the_card_is_found_by_address_and_unique_id(watched):
    ask = watched()
    assert ask("SELECT told_multiprocessors, driver_compute_units, told_warp_size, driver_wave_size, told_memory = "
               "driver_memory, told_clock_mhz, driver_mhz, matched_by, reference_name FROM device_truth") == [
        (48, 96, 32, 32, 1, 2482, 2482, "PCI address and unique id", "Radeon RX 7900 XTX")]
    assert ask(FINDINGS) == [("wgp-count", "info")]


def test_the_official_switch(watched):
    ask = watched(GPU_ENABLE_WGP_MODE="0")
    assert ask("SELECT told_multiprocessors FROM device_truth") == [(96,)]
    assert ask(FINDINGS) == [("wgp-mode-off", "info")]


@pytest.mark.parametrize("finding, severity, variable, value", [
    ("cu-mask", "warning", "ROC_GLOBAL_CU_MASK", "0xffff"),
    ("arch-override", "warning", "HSA_OVERRIDE_GFX_VERSION", "11.0.1"),
    ("all-hidden", "error", "HIP_VISIBLE_DEVICES", "1"),
    ("all-hidden", "error", "ROCR_VISIBLE_DEVICES", "1"),
    ("all-hidden", "error", "ROCR_VISIBLE_DEVICES", ""),
])
def test_what_variables_do_is_found(watched, finding, severity, variable, value):
    ask = watched(**{variable: value})
    assert ask(WARNINGS) == [(finding, severity)]
    assert f"{variable}={value}" in ask(f"SELECT text FROM findings WHERE finding = '{finding}'")[0][0]
    if finding == "all-hidden":
        assert ask("SELECT count(*) FROM errors WHERE error = 'hipErrorNoDevice'") != [(0,)]


def test_cuda_variable_counts_where_hips_is_empty(watched):
    assert watched(CUDA_VISIBLE_DEVICES="1")(WARNINGS) == [("all-hidden", "error")]
    assert watched(CUDA_VISIBLE_DEVICES="1",
                   HIP_VISIBLE_DEVICES="0")(WARNINGS) == [("cuda-variable-ignored", "warning")]
