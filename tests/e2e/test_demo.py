"""The bundled programs, as the README runs them."""
import re

import harness


def run_demo(build, tmp_path, *command, options=()):
    words = [build.fade_run, "-o", tmp_path / "run.db", *options, "--", *command]
    return harness.run(words, build.environment("v6"), tmp_path)


def test_hip_program(build, tmp_path):
    ran = run_demo(build, tmp_path, build.demo / "fade-demo")
    assert ran.status == 0 and b"36 multiprocessors" in ran.stdout
    database = harness.Database(tmp_path / "run.db")
    assert database.rows("SELECT name, launches FROM kernel_stats ORDER BY launches DESC, name") == [
        ("add(float const*, float const*, float*, int)", 20), ("scale(float*, float, int)", 20),
        ("reduce(float const*, float*, int)", 10)]
    assert database.rows("SELECT name, args IS NOT NULL FROM calls WHERE failed") == [("hipMalloc", 1)]
    assert database.value("SELECT count(*) FROM allocations WHERE \"end\" IS NULL") == 0


def test_python_program(build, tmp_path):
    ran = run_demo(build, tmp_path, "python3", build.demo / "train.py")
    assert ran.status == 0 and re.search(rb"step  60  loss 0\.00", ran.stdout)
    database = harness.Database(tmp_path / "run.db")
    assert dict(database.rows("SELECT name, launches FROM kernel_stats")) == {"linear_forward": 60,
                                                                              "linear_backward": 60, "sgd_step": 60}
    assert database.rows("SELECT direction, count(*) FROM copies GROUP BY direction ORDER BY direction") == [
        ("d2h", 60), ("h2d", 60)]


def test_corrected_device(build, tmp_path):
    ran = run_demo(build, tmp_path, "python3", build.demo / "train.py",
                   options=["--set", "device.0.multiProcessorCount=72"])
    assert b"72 multiprocessors" in ran.stdout


def test_a_failing_call_is_stored_with_its_name(build, tmp_path):
    words = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "python3", build.demo / "train.py"]
    ran = harness.run(words, build.environment("v6", FADE_STANDIN_FAIL="hipMemcpy:3:1"), tmp_path)
    assert ran.status == 1 and b"train.py: hipMemcpy: invalid argument" in ran.stderr
    assert harness.Database(tmp_path / "run.db").rows("SELECT name, code, error FROM errors") == [
        ("hipMemcpy", 1, "hipErrorInvalidValue")]
