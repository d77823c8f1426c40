"""The systemd units: what systemd says of them, and their ExecStart under what they grant. systemd itself does not run
here."""
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess

import pytest

import harness
from daemons import OTHER, USER, as_user, daemon, free, goes_on, status_of, wait_until  # noqa: F401 (fixture)

CAPABILITIES = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19}
SERVER = 23500  # who the daemon runs as
MOST_EXPOSED = 2.5

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users' programs need root")


@pytest.fixture(scope="module")
def units(build, tmp_path_factory):
    """The units as they are installed, with the program they name."""
    prefix = tmp_path_factory.mktemp("units")
    subprocess.run(["cmake", "--install", build.folder, "--component", "daemon", "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL, timeout=120)
    return prefix / "lib" / "systemd"


def analyze(*words, **environment):
    return subprocess.run(["systemd-analyze", *map(str, words)],
                          env={**os.environ, "SYSTEMD_COLORS": "0", **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)


def settings(unit):
    """Key -> values, in the order written."""
    found = {}
    for line in unit.read_text().splitlines():
        if match := re.fullmatch(r"(\w+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


@needs_systemd
def test_systemd_finds_nothing_wrong(units, tmp_path):
    done = analyze("verify", "--man=no", units / "system/faded.service", units / "system/faded.socket")
    assert (done.returncode, done.stdout) == (0, "")
    done = analyze("verify", "--user", "--man=no", units / "user/faded.service",
                   units / "user/faded.socket", XDG_RUNTIME_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")


@needs_systemd
def test_the_service_is_little_exposed(units):
    done = analyze("security", "--offline=true", units / "system/faded.service")
    level = float(re.search(r"Overall exposure level for faded.service: ([\d.]+)", done.stdout)[1])
    assert level <= MOST_EXPOSED, done.stdout


def test_the_daemon_has_time_to_end_its_workers(units):
    for unit in units.glob("*/faded.service"):
        service = settings(unit)
        assert service["KillMode"] == ["process"] and int(service["TimeoutStopSec"][0]) > 30


# ---------------------------------------------------------------- with the rights of the unit
@pytest.fixture
def served(daemon, units):
    """The unit's ExecStart as the unit would start it: its user, its capabilities, its socket handed over."""
    if shutil.which("systemd-socket-activate") is None:
        pytest.skip("systemd-socket-activate is not installed")
    service = settings(units / "system/faded.service")
    assert set(service["CapabilityBoundingSet"][0].split()) == set(CAPABILITIES)
    assert service["AmbientCapabilities"] == service["CapabilityBoundingSet"]
    daemon.state.mkdir(mode=0o711)
    os.chown(daemon.state, SERVER, SERVER)
    granted = "-all," + ",".join("+" + name.removeprefix("CAP_").lower() for name in CAPABILITIES)
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(str(daemon.root / "notices"))
    notices.settimeout(120)
    os.chmod(daemon.root / "notices", 0o666)
    rights = ["setpriv", f"--reuid={SERVER}", f"--regid={SERVER}", "--clear-groups",
              f"--bounding-set={granted}", f"--inh-caps={granted}", f"--ambient-caps={granted}", "--no-new-privs"]
    passed = [f"--setenv=STATE_DIRECTORY={daemon.state}", f"--setenv=NOTIFY_SOCKET={daemon.root / 'notices'}",
              "--setenv=WATCHDOG_USEC=600000"]
    log = open(daemon.root / "log", "ab")
    process = subprocess.Popen(["systemd-socket-activate", f"--listen={daemon.socket}",
                                *passed, *rights, *service["ExecStart"][0].split(), "--worker", str(daemon.worker)],
                               env=daemon.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    log.close()
    daemon.started.append(process)
    daemon.process = process
    wait_until(daemon.socket.exists, "the socket")
    os.chmod(daemon.socket, 0o666)  # SocketMode and SocketGroup are systemd's to carry out
    yield daemon, notices
    notices.close()


def said(notices, what):
    while True:
        text = notices.recv(4096).decode()
        if what in text:
            return text


@needs_root
def test_the_service_works_with_what_it_is_granted(served):
    daemon, notices = served
    mine, roots = daemon.target(uid=USER), daemon.target()
    session = daemon.attach(mine.pid, uid=USER)  # starts the daemon
    said(notices, "READY=1")
    mask = sum(1 << bit for bit in CAPABILITIES.values())
    for pid in (daemon.process.pid, session["worker"]):
        status = status_of(pid)
        assert status["Uid"].split() == [str(SERVER)] * 4
        assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {mask}
        assert status["NoNewPrivs"] == "1"
    daemon.ctl("attach", roots.pid, uid=USER, status=3)
    assert free(roots.pid)

    # Its owner reads the recording while it is written and afterwards; nobody else does.
    database = daemon.state / str(USER) / session["database"]
    query = [daemon.build.fade_query, database, "sql", "SELECT sum(calls) FROM call_stats",
             "--format", "tsv", "--no-header"]
    read = lambda uid: subprocess.run([*as_user(uid), *map(str, query)], env=daemon.environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, timeout=120)  # noqa: E731
    wait_until(lambda: read(USER).stdout.strip() not in ("", "0"), "calls to be read")
    assert read(OTHER).returncode != 0
    assert stat.S_IMODE((daemon.state / str(USER)).stat().st_mode) & 0o007 == 0
    ended = daemon.json("stop", session["id"], uid=USER)[0]
    assert int(read(USER).stdout) == ended["calls"] > 0
    assert goes_on(mine)

    # Root's own sessions of other users' programs.
    session = daemon.attach(mine.pid)
    daemon.ctl("stop", session["id"], uid=USER, status=4)
    daemon.ctl("stop", session["id"])
    assert goes_on(mine)


@needs_root
def test_systemd_is_told_what_happens(served):
    daemon, notices = served
    target = daemon.target(uid=USER)
    session = daemon.attach(target.pid, uid=USER)
    said(notices, "READY=1")
    said(notices, "WATCHDOG=1")
    daemon.process.send_signal(signal.SIGHUP)
    said(notices, "RELOADING=1")
    said(notices, "READY=1")
    assert daemon.json("pause", session["id"], uid=USER)["state"] == "paused"
    daemon.process.terminate()
    said(notices, "STOPPING=1")
    assert daemon.process.wait(timeout=120) == 0
    assert goes_on(target)
    assert daemon.socket.exists()  # systemd's, not ours to remove


@needs_root
def test_a_killed_service_is_replaced_and_goes_on(served):
    daemon, _ = served
    target = daemon.target(uid=USER)
    session = daemon.attach(target.pid, uid=USER)
    daemon.process.kill()
    daemon.process.wait()
    granted = "-all," + ",".join("+" + name.removeprefix("CAP_").lower() for name in CAPABILITIES)
    rights = ["setpriv", f"--reuid={SERVER}", f"--regid={SERVER}", "--clear-groups",
              f"--bounding-set={granted}", f"--inh-caps={granted}", f"--ambient-caps={granted}", "--no-new-privs"]
    os.chown(daemon.root, SERVER, SERVER)  # it binds the socket itself this time
    daemon.socket.unlink()
    daemon.start_command([*rights, daemon.faded, "--socket", daemon.socket, "--socket-mode",
                          "0666", "--state-dir", daemon.state, "--worker", daemon.worker])
    assert daemon.json("pause", session["id"], uid=USER)["state"] == "paused"
    daemon.ctl("stop", session["id"], uid=USER)
    assert goes_on(target)


@needs_root
@needs_systemd
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_system_call_is_made_that_the_unit_forbids(daemon, units):
    """Everything from the daemon's start to its end, workers included, watched by strace."""
    allowed = permitted_calls(settings(units / "system/faded.service")["SystemCallFilter"])
    trace = daemon.root / "trace"
    daemon.start_command(["strace", "-f", "-qq", "-o", trace, daemon.faded, "--socket", daemon.socket,
                          "--socket-mode", "0666", "--state-dir", daemon.state, "--worker", daemon.worker])
    target = daemon.target()
    session = daemon.attach(target.pid)
    daemon.ctl("watch", "add", "--exe", "/nothing$")
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > 100, "recorded calls")
    daemon.ctl("pause", session["id"])
    daemon.ctl("reload")
    wait_until(lambda: "goes on" in daemon.log() and daemon.answers(), "the restart")
    daemon.ctl("stop", session["id"])
    faded = daemon.json("status")["pid"]
    os.kill(faded, signal.SIGTERM)
    assert daemon.process.wait(timeout=120) == 0
    used = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(errors="replace"), flags=re.M))
    assert {"ptrace", "pidfd_getfd", "accept", "execve"} <= used | {"accept4"}
    # As root the worker takes its user's rights; the service has none to take. And only who may raise a priority takes
    # SCHED_IDLE.
    as_root_only = {"setresuid", "setresgid", "setgroups", "chown", "fchown", "sched_setscheduler"}
    assert used - allowed - as_root_only == set()


def permitted_calls(filters):
    calls = set()
    for line in filters:
        names = line.removeprefix("~").split()
        expanded = {call for name in names for call in expand(name)}
        calls = calls - expanded if line.startswith("~") else calls | expanded
    return calls


def expand(name):
    if not name.startswith("@"):
        return {name}
    listed = [line.strip() for line in analyze("syscall-filter", "--no-pager", name).stdout.splitlines()[1:]]
    return {call for line in listed if line and not line.startswith("#") for call in expand(line)}
