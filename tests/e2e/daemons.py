"""faded and fadectl as tests use them: each daemon in a folder of its own, with targets that end with the test."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import pytest

import harness

USER = 23456  # nobody's number
OTHER = 23457
TIME_LIMIT = 120


def wait_until(condition, what="it", seconds=TIME_LIMIT):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
        time.sleep(0.01)
    return value


def as_user(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []


def status_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def alive(pid):
    """Whether a thread of it lives: a killed process whose leader is a zombie already may have others."""
    def lives(thread):
        try:
            return not status_of(thread)["State"].startswith(("Z", "X"))
        except OSError:
            return False
    try:
        return any(lives(thread) for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return False


def free(pid):
    return alive(pid) and status_of(pid)["TracerPid"] == "0"


class Daemon:
    """A daemon, or several one after the other, with one folder and one socket."""

    def __init__(self, build, root):
        self.build = build
        self.root = root
        self.socket = root / "s"
        self.state = root / "state"
        self.faded = build.folder / "daemon" / "faded" / "faded"
        self.fadectl = build.folder / "cli" / "ctl" / "fadectl"
        self.worker = build.folder / "cli" / "attach" / "fade-attach"
        self.process = None
        self.started = []
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("FADE", "XDG_"))},
                            "FADE_SOCKET": str(self.socket), "FADE_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8"}

    def start(self, *options, program=None, worker=None, environment=None):
        command = [program or self.faded, "--socket", self.socket, "--socket-mode",
                   "0666", "--state-dir", self.state, "--worker", worker or self.worker, *options]
        return self.start_command(command, environment)

    def start_command(self, command, environment=None):
        log = open(self.root / "log", "ab")
        self.process = subprocess.Popen([str(word) for word in command], env={
            **self.environment, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.started.append(self.process)
        wait_until(lambda: self.answers() or self.process.poll() is not None, "an answer")
        return self.process

    def answers(self):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(self.socket))
            return True
        return False

    def log(self):
        return (self.root / "log").read_text(errors="replace")

    def ctl(self, *arguments, uid=0, status=0, **options):
        done = subprocess.run([*as_user(uid), str(self.fadectl), *map(str, arguments)],
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIME_LIMIT, **options)
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.log()}"
        return done

    def json(self, *arguments, uid=0):
        return json.loads(self.ctl(*arguments, "--json", uid=uid).stdout)

    def attach(self, pid, *options, uid=0):
        return self.json("attach", pid, *options, uid=uid)[0]

    def sessions(self, uid=0):
        return {session["id"]: session for session in self.json("list", uid=uid)}

    def target(self, line="loop 2000000000", uid=0, folder=None):
        """A program that calls HIP on and on; it has begun."""
        folder = folder or pathlib.Path(tempfile.mkdtemp(dir=self.root))
        os.chmod(folder, 0o777)
        command = [*as_user(uid), *self.build.command(line)]
        process = subprocess.Popen(command, env=self.build.environment("v6"), cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.started.append(process)
        process.folder = folder
        wait_until(lambda: calls_of(process) > 20 or process.poll() is not None, "a call")
        assert process.poll() is None
        return process

    def raw(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIME_LIMIT)
        connection.connect(str(self.socket))
        return connection

    def end(self):
        workers = []
        with contextlib.suppress(OSError, ValueError):
            workers = [json.loads(path.read_text())["worker"] for path in self.state.glob("sessions/*.json")]
        for process in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait(timeout=TIME_LIMIT)
        for worker in workers:
            with contextlib.suppress(OSError):
                if "--control" in pathlib.Path(f"/proc/{worker}/cmdline").read_text():
                    os.kill(worker, signal.SIGKILL)


def calls_of(process):
    return sum(harness.summed(harness.read_counts(process.folder)).values())


def goes_on(process):
    """It makes calls, untraced."""
    before = calls_of(process)
    return wait_until(lambda: calls_of(process) > before + 100, "further calls") and free(process.pid)


def framed(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(data)) + data


def until_closed(connection):
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


@pytest.fixture
def daemon(build):
    root = pathlib.Path(tempfile.mkdtemp(prefix="faded-", dir="/tmp"))  # short: a socket's name has 107 bytes
    os.chmod(root, 0o755)
    daemon = Daemon(build, root)
    yield daemon
    daemon.end()
    shutil.rmtree(root, ignore_errors=True)


def own_program(daemon):
    """(command, rule for --exe) of a program that nothing else on this machine runs: a rule is for all of its
    processes."""
    copy = shutil.copy(daemon.build.tracees / "loop", daemon.root / "loop")
    return f"{copy} 2000000000", f"^{re.escape(str(copy))}$"
