"""fade-attach on terminals and on the daemon's socket."""
import json
import socket
import sqlite3

import pexpect
import pytest

from attach_target import PATIENCE, attach, ends, target, until  # noqa: F401 (fixtures)
from harness import Database
from programs import fade  # noqa: F401 (fixtures)


# ---------------------------------------------------------------- on a terminal
@pytest.fixture
def on_terminal(fade, tmp_path):
    spawned = []

    def spawn(program, *arguments):
        environment = {**fade.environment, "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        child = pexpect.spawn(program, [*map(str, arguments)], cwd=str(tmp_path),
                              env=environment, encoding="utf-8", timeout=PATIENCE,
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
    shell = on_terminal("sh", "-c",
                        f'stty tostop; set -m; "{fade.path("fade-attach")}" {target.pid} & read typed; echo "typed: '
                        f'$typed"; kill %1; wait %1; echo "status $?"')
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
    assert set(first) == {"event", "elapsed_ns", "calls", "errors", "dropped", "memory_bytes",
                          "peak_bytes", "database_bytes",
                          "launches", "gpu_busy_ns", "gpus"}
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


def has_come(path):
    """Says the recording that fade has come? An order to stop before that ends it with another status."""
    try:
        return Database(path).value("SELECT count(*) FROM lifecycle WHERE kind = 'attach'") > 0
    except sqlite3.Error:
        return False


def test_a_daemon_that_does_not_read_holds_nobody(attach, target, tmp_path):
    daemon = Daemon(attach, "-o", "x.db", target.pid)
    until(lambda: has_come(tmp_path / "x.db"))
    target.goes_on()
    assert target.tracer() == daemon.process.pid
    daemon.order("stop")
    assert daemon.process.wait(PATIENCE) == 0
