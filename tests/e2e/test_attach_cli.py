"""fade-attach on terminals, pipes and the daemon's socket. The program it attaches to checks its own results."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pexpect
import pytest

from programs import fade  # noqa: F401 (fixtures)

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
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(library), str(folder)], stdin=subprocess.DEVNULL)
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
        process = subprocess.Popen([fade.path("fade-attach"), *map(str, arguments)], cwd=tmp_path, env=fade.environment, **options)
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


# ---------------------------------------------------------------- without a terminal
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_detach(attach, target, how):
    process = attach("-o", "x.db", target.pid)
    line_with(process.stderr, f"attached to python3 (pid {target.pid}), recording to x.db")
    assert " of 1 thread" in line_with(process.stderr, "fade: held ")
    target.goes_on()
    status, text = ends(process, how)
    assert status == 0
    assert f"detached from python3 (pid {target.pid})" in text and "all patched code, verified" in text
    assert target.tracer() == 0
    target.goes_on()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_in_the_first_moments(fade, target, tmp_path, how):
    """strace sends it while fade-attach has not even read its options."""
    strace = ["strace", "-o", "/dev/null", "-e", "trace=capget", "-e", f"inject=capget:signal={how.name}:when=1"]
    ran = subprocess.run([*strace, fade.path("fade-attach"), "-o", "x.db", str(target.pid)], cwd=tmp_path, env=fade.environment, text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    assert ran.returncode == 1 and "fade was asked to leave before it had come to the program" in ran.stderr, ran
    assert not (tmp_path / "x.db").exists() and target.tracer() == 0


def test_a_signal_in_the_first_moments_of_a_check(fade, target):
    """It has nothing to detach from: the signal ends it as it would any program."""
    ran = subprocess.run(["strace", "-o", "/dev/null", "-e", "trace=capget", "-e", "inject=capget:signal=SIGTERM:when=1",
                          fade.path("fade-attach"), "--check", str(target.pid)], env=fade.environment, capture_output=True, timeout=PATIENCE)
    assert ran.returncode == -signal.SIGTERM and ran.stdout == b""


def test_nohup_is_respected(attach, target):
    process = attach(target.pid, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    line_with(process.stderr, "attached to")
    process.send_signal(signal.SIGHUP)
    target.goes_on()
    assert target.tracer() == process.pid
    assert ends(process)[0] == 0


def test_the_duration_ends_it_and_it_may_come_again(attach, target):
    for name in ("a.db", "b.db"):
        process = attach("--attach-duration-msec", 200, "-o", name, target.pid)
        assert "detached from" in process.communicate(timeout=PATIENCE)[1].decode()
        assert (process.returncode, target.tracer()) == (0, 0)


def test_the_end_of_the_program_ends_it(attach, target):
    process = attach(target.pid)
    line_with(process.stderr, "attached to")
    target.end()
    assert f"(pid {target.pid}) ended" in process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0


def test_quiet_means_quiet(attach, target):
    process = attach("-q", "-d", "100ms", "-o", "x.db", target.pid)
    assert process.communicate(timeout=PATIENCE)[1] == b"" and process.returncode == 0


def test_a_summary_is_a_choice(attach, target):
    text = attach("--no-summary", "-d", "100ms", "-o", "x.db", target.pid).communicate(timeout=PATIENCE)[1].decode()
    assert f"fade: detached from python3 (pid {target.pid})\n" in text and "fade-query" not in text


def test_a_full_pipe_does_not_hold_the_program(attach, target):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    process = attach("-vv", "-o", "x.db", target.pid, stderr=writer)
    os.close(writer)
    until(lambda: target.tracer() == process.pid)
    target.goes_on()
    process.send_signal(signal.SIGTERM)
    until(lambda: target.tracer() == 0)
    with open(reader, "rb") as pipe:
        assert b"detached from" in pipe.read()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("arguments, status, say", [
    ([], 2, "no process given"),
    (["python3"], 2, "fade-attach --name 'python3'"),
    (["--name", "("], 2, "not a regular expression"),
    (["--set", "nonsense", "{pid}"], 2, "nonsense"),
    (["-e", "mmem", "{pid}"], 2, "did you mean 'mem'?"),
    (["4194304"], 4, "4194304"),
    (["--name", "^no such program$"], 4, ""),
    (["-o", "nowhere/x.db", "{pid}"], 1, "nowhere/x.db"),
])
def test_what_cannot_be_done_ends_with_its_status(fade, target, tmp_path, arguments, status, say):
    done = fade("fade-attach", *[word.format(pid=target.pid) for word in arguments], cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert say in done.stderr and done.stdout == ""
    assert target.tracer() == 0 and not list(tmp_path.glob("*.db"))


def test_check_says_why_and_changes_nothing(fade, attach, target, tmp_path):
    done = fade("fade-attach", "--check", target.pid, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith(f"python3 (pid {target.pid}) can be attached to\n  ✓ ")
    process = attach(target.pid, "-o", "x.db")
    line_with(process.stderr, "attached to")
    done = fade("fade-attach", "--check", target.pid, cwd=tmp_path, env={"LC_ALL": "C"})
    assert done.returncode == 3 and "cannot be attached to\n  ok " in done.stdout
    assert f"{process.pid}" in done.stdout  # who traces it
    assert ends(process)[0] == 0


# ---------------------------------------------------------------- on a terminal
@pytest.fixture
def on_terminal(fade, tmp_path):
    spawned = []

    def spawn(program, *arguments):
        environment = {**fade.environment, "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        child = pexpect.spawn(program, [*map(str, arguments)], cwd=str(tmp_path), env=environment, encoding="utf-8", timeout=PATIENCE,
                              dimensions=(24, 100))
        spawned.append(child)
        return child

    yield spawn
    for child in spawned:
        child.close(force=True)


def live_line(child):
    child.expect(r"\r● \d\d:\d\d:\d\d  \S+ calls/s  mem \+\S+ \S+ since attach  err 0  db \S+ \S+  \[Enter\] detach")


def finishes(child):
    child.expect(r"detached from python3 \(pid \d+\)")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_enter_detaches(fade, on_terminal, target):
    child = on_terminal(fade.path("fade-attach"), target.pid)
    child.expect("attached to python3")
    live_line(child)
    live_line(child)
    child.send("\r")
    finishes(child)
    assert target.tracer() == 0


def test_control_c_detaches(fade, on_terminal, target):
    child = on_terminal(fade.path("fade-attach"), target.pid)
    live_line(child)
    child.sendintr()
    finishes(child)


def test_control_z_does_not_stop_it(fade, on_terminal, target):
    child = on_terminal(fade.path("fade-attach"), target.pid)
    live_line(child)
    child.sendcontrol("z")
    child.expect("not stopping: .* Enter detaches")
    target.goes_on()
    live_line(child)
    child.send("\r")
    finishes(child)


def test_in_the_background_it_leaves_the_terminal_alone(fade, on_terminal, target):
    shell = on_terminal("sh", "-c", f'stty tostop; set -m; "{fade.path("fade-attach")}" {target.pid} & read typed; echo "typed: $typed"; kill %1; wait %1; echo "status $?"')
    shell.expect("attached to python3")
    target.goes_on()
    tracer = target.tracer()
    shell.send("something\r")
    shell.expect("typed: something")
    shell.expect("detached from")
    shell.expect("status 0")
    assert tracer != 0 and "calls/s" not in shell.before
    assert target.tracer() == 0


# ---------------------------------------------------------------- under the daemon
class Daemon:
    def __init__(self, attach, *arguments):
        self.socket, worker = socket.socketpair()
        self.process = attach("--control", worker.fileno(), *arguments, pass_fds=[worker.fileno()])
        worker.close()
        self.socket.settimeout(PATIENCE)
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def event(self, kind):
        for line in self.lines:
            message = json.loads(line)
            if message["event"] == kind:
                return message
        raise AssertionError(f"no event {kind}")

    def order(self, what):
        self.socket.sendall(json.dumps({"do": what}).encode() + b"\n")


def test_the_daemon_is_told_and_obeyed(attach, target, tmp_path):
    daemon = Daemon(attach, "-o", "x.db", target.pid)
    attached = daemon.event("attached")
    assert (attached["pid"], attached["database"], attached["holds"]["threads"]) == (target.pid, "x.db", 1)
    first = daemon.event("tick")
    assert set(first) == {"event", "elapsed_ns", "calls", "errors", "dropped", "memory_bytes", "peak_bytes", "database_bytes"}
    while daemon.event("tick")["calls"] <= first["calls"]:
        pass
    daemon.order("pause")
    calls = [daemon.event("tick")["calls"] for _ in range(3)]
    assert calls[-1] == calls[-2]  # the first may count what came before the order
    daemon.order("resume")
    while daemon.event("tick")["calls"] == calls[-1]:
        pass
    daemon.order("stop")
    ended = daemon.event("ended")
    assert (ended["ended"], ended["errors"], ended["bytes_differing"]) == (False, 0, 0) and ended["calls"] > calls[-1]
    assert daemon.process.wait(PATIENCE) == 0


def test_the_daemon_hears_why_it_failed(attach):
    daemon = Daemon(attach, 4194304)
    failed = daemon.event("failed")
    assert failed["code"] == 3 and "4194304" in failed["message"] and failed["cause"]  # ESRCH
    assert daemon.process.wait(PATIENCE) == 4


def test_recording_goes_on_without_the_daemon(attach, target):
    daemon = Daemon(attach, "-o", "x.db", target.pid)
    daemon.event("attached")
    daemon.lines.close()
    daemon.socket.close()
    target.goes_on()
    assert target.tracer() == daemon.process.pid
    assert ends(daemon.process)[0] == 0


def test_a_daemon_that_does_not_read_holds_nobody(attach, target):
    daemon = Daemon(attach, "-o", "x.db", target.pid)
    until(lambda: target.tracer() == daemon.process.pid)
    target.goes_on()
    daemon.order("stop")
    assert daemon.process.wait(PATIENCE) == 0
