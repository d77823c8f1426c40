"""What is said while a program runs: hangs, out of memory, crashes. The lines name the user's own file, not that of a
package."""
import contextlib
import os
import pathlib
import pty
import re
import signal
import subprocess
import textwrap

import pytest

import harness

PYTHON = "/usr/bin/python3"
WRAPPER = """
    import ctypes
    hip = ctypes.CDLL("libamdhip64.so.6")
    def synchronize():
        return hip.hipDeviceSynchronize()
    def empty(size):
        return hip.hipMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(size))
    def fault():
        return hip.hipMemcpy(ctypes.c_void_p(8), ctypes.c_void_p(16), ctypes.c_size_t(64), 0)
    """
JOB = """
    import sys
    sys.path.insert(0, "site-packages")
    import gpu
    def train_step(what, *args):
        print("begin", flush=True)
        getattr(gpu, what)(*args)  # the line that counts
        print("end", flush=True)
    train_step(sys.argv[1], *map(int, sys.argv[2:]))
    """
LINE = 1 + next(i for i, text in enumerate(textwrap.dedent(JOB).lstrip().splitlines()) if "that counts" in text)


@pytest.fixture
def job(tmp_path):
    """A program of the user's that uses a wrapper in site-packages."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "gpu.py").write_text(textwrap.dedent(WRAPPER))
    (tmp_path / "job.py").write_text(textwrap.dedent(JOB).lstrip())
    return tmp_path


def environment(build, **more):
    return {**build.environment("v6"), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "FADE_CONFIG": "/dev/null", **more}


def command(build, *words, options=()):
    return [build.fade_run, "--no-summary", *options, "-o", "run.db", "--", PYTHON, "job.py", *words]


def run(build, folder, *words, options=(), **more):
    return harness.run(command(build, *words, options=options), environment(build, **more), folder)


@contextlib.contextmanager
def started(build, folder, *words, options=(), **more):
    process = subprocess.Popen(command(build, *words, options=options), env=environment(build, **more),
                               cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        for pid in reversed(harness.descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)


def said(errors):
    """Without what fade-run says when it begins."""
    lines = [line for line in errors.decode().splitlines() if line.startswith("fade: ") and "recording " not in line]
    return [re.sub(r"pid \d+", "pid N", line) for line in lines]


def test_a_hang_is_said_while_it_lasts(build, job):
    with started(build, job, "synchronize", options=("--hang-timeout", "300ms"),
                 FADE_STANDIN_DELAY="hipDeviceSynchronize:1000s") as process:
        lines = iter(process.stderr.readline, b"")
        line = next(line for line in lines if b" has been in " in line).decode()
        assert process.poll() is None
        pid = harness.descendants(process.pid)[1]
        assert re.fullmatch(
            rf"fade: python3 job\.py \(pid {pid}\) has been in hipDeviceSynchronize for \d+(\.\d+)? m?s, at "
            rf"job\.py:{LINE} train_step\n", line)


def test_the_end_of_a_hang_is_said(build, job):
    ran = run(build, job, "synchronize", options=("--hang-timeout", "300ms"),
              FADE_STANDIN_DELAY="hipDeviceSynchronize:2s")
    assert ran.status == 0
    hang, end, *_ = said(ran.stderr)  # and what fade-run says when all has ended
    assert " has been in hipDeviceSynchronize for " in hang
    assert re.fullmatch(r"fade: python3 job\.py \(pid N\): hipDeviceSynchronize returned after \d+\.\d+ s", end)


def test_a_healthy_program_is_not_talked_about(build, job):
    assert said(run(build, job, "synchronize", options=("--hang-timeout", "100s")).stderr) == []


def test_out_of_memory_is_said(build, job):
    ran = run(build, job, "empty", str(17 << 30), FADE_STANDIN_FAIL="hipMalloc:1:2")
    assert (ran.status, ran.stdout) == (0, b"begin\nend\n")
    assert said(ran.stderr) == [
        f"fade: python3 job.py (pid N) is out of memory: hipMalloc of 17.0 GiB = hipErrorOutOfMemory, at "
        f"job.py:{LINE} train_step"]


def test_verbose_says_the_first_failure_of_each_kind(build, job):
    ran = run(build, job, "empty", "4096", options=("-v",), FADE_STANDIN_FAIL="hipMalloc:1:1")
    [failed] = [line for line in said(ran.stderr) if "for the first time" in line]
    assert failed == (f"fade: python3 job.py (pid N): hipMalloc returned hipErrorInvalidValue for the first time, at "
                      f"job.py:{LINE} train_step")
    assert b"compile it with -g" not in ran.stderr


def test_a_crash_is_said(build, job):
    ran = run(build, job, "fault", RANK="3")
    assert ran.status == -signal.SIGSEGV
    assert said(ran.stderr)[
        0] == f"fade: python3 job.py (rank 3, pid N) died of SIGSEGV in hipMemcpy, at job.py:{LINE} train_step"


@pytest.mark.parametrize("quiet", ["-q", "-qq"])
def test_quiet_is_quiet(build, job, quiet):
    ran = run(build, job, "empty", "4096", options=(quiet,), FADE_STANDIN_FAIL="hipMalloc:1:2")
    assert (ran.status, ran.stderr) == (0, b"")


def test_a_closed_standard_error_harms_nothing(build, job):
    words = " ".join(map(str, command(build, "empty", "4096")))
    ran = harness.run(["/bin/sh", "-c", f"exec {words} 2>&-"], environment(build, FADE_STANDIN_FAIL="hipMalloc:1:2"),
                      job)
    assert (ran.status, ran.stdout) == (0, b"begin\nend\n")


def test_an_announcement_begins_a_line_on_a_terminal(build, job):
    ours, its = pty.openpty()
    (job / "job.py").write_text((job / "job.py").read_text().replace('print("begin", flush=True)',
                                                                     'print("loss 0.3", end="", flush=True)'))
    process = subprocess.Popen(command(build, "empty", "4096"),
                               env=environment(build, FADE_STANDIN_FAIL="hipMalloc:1:2"), cwd=job,
                               stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    text = b""
    with contextlib.suppress(OSError):
        while more := os.read(ours, 4096):
            text += more
    process.wait(60)
    os.close(ours)
    said_at = text.index(b"fade: python3 job.py")
    assert text[said_at - 2:said_at] in (b"\r\n", b" \r"), text
    assert b"loss 0.3" in text[:said_at]
