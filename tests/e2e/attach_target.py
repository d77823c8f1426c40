"""A program for fade-attach that checks its own results, and fade-attach beside it."""
import contextlib
import pathlib
import signal
import subprocess
import sys
import time

import pytest

PATIENCE = 60
PROGRAM = """
import ctypes, os, sys, time
hip, folder = ctypes.CDLL(sys.argv[1]), sys.argv[2]
pointer, rounds, failures = ctypes.c_void_p(), 0, 0
while not os.path.exists(folder + "/stop"):
    failures += hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) + hip.hipFree(pointer)
    rounds += 1
    with open(folder + "/rounds.new", "w") as file:
        file.write(str(rounds))
    os.rename(folder + "/rounds.new", folder + "/rounds")
    time.sleep(0.005)
sys.exit(failures != 0)
"""


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


class Target:
    """A running program that calls HIP and counts its rounds."""

    def __init__(self, library, folder):
        self.folder = folder
        folder.mkdir()
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(library), str(folder)],
                                        stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.goes_on()

    def rounds(self):
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "rounds").read_text())
        return 0

    def goes_on(self):
        before = self.rounds()
        until(lambda: self.rounds() > before + 20 or self.process.poll() is not None)
        assert self.process.poll() is None

    def tracer(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("TracerPid")).split()[1])

    def end(self):
        (self.folder / "stop").touch()
        return self.process.wait(PATIENCE)


@pytest.fixture
def target(build, tmp_path):
    target = Target(next((build.runtimes / "v6").glob("libamdhip64.so*")), tmp_path / "target")
    yield target
    assert target.end() == 0  # whatever was done to it
    assert not list(tmp_path.glob("core*"))


@pytest.fixture
def attach(fade, tmp_path):
    """Starts fade-attach, which is killed at the end if it is still there."""
    started = []

    def start(*arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([fade.path("fade-attach"), *map(str, arguments)],
                                   cwd=tmp_path, env=fade.environment, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def line_with(stream, words):
    """The first line that holds them."""
    for line in stream:
        if words in line.decode():
            return line.decode()
    raise AssertionError(f"never said: {words}")


def ends(process, how=signal.SIGTERM):
    process.send_signal(how)
    stderr = process.communicate(timeout=PATIENCE)[1]
    return process.returncode, (stderr or b"").decode()
