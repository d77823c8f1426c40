"""--set: every path to a fact agrees, neighbouring memory stays as it is, and only the callers named are told."""
import harness

RULE = "device.0.multiProcessorCount=72"


def supervise(build, tmp_path, line, *rules, runtime="v6"):
    options = [word for rule in rules for word in ("--set", rule)]
    ran = harness.run_supervised(build, line, runtime, tmp_path, options=options)
    assert ran.stderr == b""
    return ran.stdout.decode().splitlines(), harness.Database(tmp_path / "run.db")


def test_every_path_agrees(build, tmp_path):
    lines, database = supervise(build, tmp_path, "props", RULE)
    first, second = lines[:4], lines[4:]
    assert all(" mp 72" in line for line in first) and all(" mp 48" in line for line in second)
    assert "64 bytes behind it untouched" in first[2]
    assert database.value("SELECT count(*) FROM override_hits WHERE was = '36' AND became = '72'") >= 4


def test_all_devices_and_a_text(build, tmp_path):
    lines, _ = supervise(build, tmp_path, "props", "device.*.name=Radeon of dreams", "device.1.warpSize=64")
    assert sum("Radeon of dreams" in line for line in lines) == 6
    assert all(" warp 32" in line for line in lines[:4] if "unsuffixed" not in line)
    assert all(" warp 64" in line for line in lines[4:] if "unsuffixed" not in line)


def test_both_layouts_in_every_runtime(build, tmp_path):
    for runtime in ("v7", "plt", "hard"):
        lines, _ = supervise(build, tmp_path / runtime, "props", RULE, runtime=runtime)
        assert all(" mp 72" in line for line in lines[:4]), runtime


def test_only_the_callers_named(build, tmp_path):
    lines, _ = supervise(build, tmp_path, "clients", RULE + "@libtorch_hip*")
    assert lines == ["program 36 36", "torch 72 72", "rocblas 36"]


def test_libraries_that_compile_for_the_device_are_told_the_truth(build, tmp_path):
    lines, database = supervise(build, tmp_path, "rtc7", RULE, runtime="v7")
    assert lines[0] == "compile 0" and database.value("SELECT count(*) FROM override_hits") == 0
    lines, _ = supervise(build, tmp_path / "clients", "clients", RULE)
    assert lines == ["program 72 72", "torch 72 72", "rocblas 36"]


def test_a_rule_that_fits_nothing_is_refused_before_the_program_starts(build, tmp_path):
    for rule in ("device.0.multiProcessorCoun=72", "device.0.multiProcessorCount=many",
                 "device.0.multiProcessorCount=99999999999"):
        ran = harness.run([build.fade_run, "-o", tmp_path / "x.db", "--set", rule, "--", build.tracees / "loop"],
                          build.environment("v6"), tmp_path)
        assert ran.status in (2, 125) and ran.counts == {} and rule.encode()[:20] in ran.stderr, rule
