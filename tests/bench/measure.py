"""Runs commands and says what they cost: wall time, CPU time of the command and its children, peak memory."""
import dataclasses
import os
import pathlib
import select
import statistics
import subprocess
import time

MAX_SECONDS = 600


class Failed(Exception):
    """A command that did not do what is measured; without it there is no figure."""


@dataclasses.dataclass(frozen=True)
class Cost:
    wall: float  # seconds
    cpu: float   # seconds, user and system, with all children that were waited for

    def __sub__(self, other):
        return Cost(self.wall - other.wall, self.cpu - other.cpu)

    def per(self, calls):
        return Cost(self.wall / calls, self.cpu / calls)


def run(command, environment, folder):
    """The cost of one run; Failed if it ends with an error or hangs."""
    with open(folder / "output.txt", "wb") as output:
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], env=environment,
                                   cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        try:
            _, status, usage = wait(process)
        except TimeoutError:
            process.kill()
            process.wait()
            raise Failed(f"still running after {MAX_SECONDS} s: {' '.join(map(str, command))}") from None
        wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = (folder / "output.txt").read_text(errors="replace")[-400:]
        raise Failed(f"exit status {process.returncode}: {' '.join(map(str, command))}: {tail.strip()}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def wait(process):
    """wait4 with a time limit, which Popen.wait has only by polling."""
    pidfd = os.pidfd_open(process.pid)
    try:
        if not select.select([pidfd], [], [], MAX_SECONDS)[0]:
            raise TimeoutError
    finally:
        os.close(pidfd)
    return os.wait4(process.pid, 0)


def peak_memory_mb(command, environment, folder):
    """Highest resident set of the command itself (not of its children), looked at every 20 ms; and its output."""
    peak = 0
    with open(folder / "output.txt", "wb") as output:
        process = subprocess.Popen([str(word) for word in command], env=environment,
                                   cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, high_water_kb(process.pid))
            time.sleep(0.02)
    text = (folder / "output.txt").read_text(errors="replace")
    if process.returncode:
        raise Failed(f"exit status {process.returncode}: {' '.join(map(str, command))}: {text[-400:].strip()}")
    return peak / 1024, text


def high_water_kb(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def median(values):
    return statistics.median(values)


def load():
    return os.getloadavg()[0]
