"""Signals to the whole process group arrive once; those to fade-run alone are passed on. Every case also runs without
fade.

A program counts what it hears until END, which is sent to the process that was started: fade-run or, without fade, the
program. Signals that are passed on keep their order, so END comes after everything that was sent before."""
import contextlib
import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time

import pytest

import harness

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1]
RT = 40  # a real-time signal
END = 50  # of several that wait, the kernel delivers the one with the lowest number first
STATUS = 7  # of the program

# A process group whose leader is not fade-run, as of a script: starts its arguments, says their number and ends as they
# end.
LEADER = """
import signal, subprocess, sys
for number in (1, 2, 3, 10, 15, 40):
    signal.signal(number, lambda *_: None)
sys.exit(subprocess.call(["sh", "-c", 'echo pid $$; exec "$@"', "sh", *sys.argv[1:]]))
"""


class Started:
    """The program, alone or under fade-run, in a session of its own."""

    def __init__(self, command, **options):
        defaults = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        self.process = subprocess.Popen([str(word) for word in command], **{**defaults, **options})
        self.pid = self.process.pid  # of fade-run or the program

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in harness.descendants(self.process.pid):
            if self.process.poll() is None or pid != self.process.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.communicate()

    def read(self, line):
        assert self.process.stdout.readline() == line

    def number(self):
        """Of the process that a leader has started."""
        self.pid = int(self.process.stdout.readline().split()[1])

    def end(self):
        os.kill(self.pid, END)
        heard, _ = self.process.communicate(timeout=60)
        return heard, self.process.returncode


def under_fade(build, folder, command, *options):
    return [build.fade_run, "-q", "--force", *options, "-o", folder / "run.db", "--", *command]


@pytest.fixture
def both(build, tmp_path):
    """Runs `how` on a command without fade and under it, and returns what it returned."""
    def run(command, how, before=(), **options):
        options = {"env": build.environment("v6"), "cwd": tmp_path, **options}
        found = []
        for line in (command, under_fade(build, tmp_path, command)):
            with Started([*before, *line], **options) as started:
                found.append(how(started))
        return found
    return run


def hears(build, *words):
    return build.command(" ".join(["hears", *map(str, words)]))


def heard(number, times=1):
    name = "RT" if number == RT else signal.Signals(number).name[3:]
    return f"{name} {times}\n".encode() if times else b""


# ---------------------------------------------------------------- by the program itself
@pytest.mark.parametrize("pause_ms", [0, 50, 500])
@pytest.mark.parametrize("number", [*SIGNALS, RT])
def test_a_program_that_signals_its_group(build, both, number, pause_ms):
    def how(started):
        started.read(b"ready\n")
        return started.end()
    assert both(hears(build, "send", int(number), 3, pause_ms), how) == [(heard(number, 3), STATUS)] * 2


@pytest.mark.parametrize("number", SIGNALS)
def test_a_program_that_signals_its_parent(build, both, number):
    """The parent is that of fade-run. It has a handler, and goes on."""
    got = []
    signal.signal(number, lambda *_: got.append(number))

    def how(started):
        started.read(b"ready\n")
        while not got:
            time.sleep(0.005)
        got.clear()
        return started.end()
    try:
        assert both(hears(build, "parent", int(number)), how) == [(b"", STATUS)] * 2
    finally:
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


# ---------------------------------------------------------------- from elsewhere
@pytest.mark.parametrize("place", ["", "group", "session"])
@pytest.mark.parametrize("number", [*SIGNALS, RT])
def test_a_signal_to_the_group_that_fade_run_leads(build, both, number, place):
    """The leader of a group can have neither a session nor another group, so the program would be in it."""
    def how(started):
        started.read(b"ready\n")
        os.killpg(started.pid, number)
        return started.end()
    assert both(hears(build, place), how) == [(heard(number), STATUS)] * 2


@pytest.mark.parametrize("place, times", [("", 1), ("group", 0), ("session", 0)])
@pytest.mark.parametrize("number", [*SIGNALS, RT])
def test_a_signal_to_the_group_of_a_script(build, both, number, place, times):
    def how(started):
        started.number()
        started.read(b"ready\n")
        os.killpg(started.process.pid, number)
        return started.end()
    assert both(hears(build, place), how, before=[sys.executable, "-c", LEADER]) == [(heard(number, times), STATUS)] * 2


@pytest.mark.parametrize("place", ["", "group", "session"])
@pytest.mark.parametrize("number", [*SIGNALS, RT])
def test_a_signal_to_one_process(build, both, number, place):
    def how(started):
        started.number()
        started.read(b"ready\n")
        os.kill(started.pid, number)
        return started.end()
    assert both(hears(build, place), how, before=[sys.executable, "-c", LEADER]) == [(heard(number), STATUS)] * 2


def test_a_signal_to_the_group_of_a_stopped_job(build, both):
    """fade-run takes it long after the witness."""
    def how(started):
        started.read(b"ready\n")
        os.kill(started.pid, signal.SIGSTOP)
        while not re.search(r"\) T", status_line(started.pid)):
            time.sleep(0.005)
        os.killpg(started.pid, signal.SIGTERM)
        os.kill(started.pid, signal.SIGCONT)
        return started.end()
    assert both(hears(build), how) == [(heard(signal.SIGTERM), STATUS)] * 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_two_signals_to_the_group_do_not_end_the_recording(build, both, number):
    def how(started):
        started.read(b"ready\n")
        for _ in range(2):
            os.killpg(started.pid, number)
            time.sleep(0.5)  # two that were for fade-run alone would ask it to let the program go
        return started.end()
    assert both(hears(build), how) == [(heard(number, 2), STATUS)] * 2


def test_two_signals_to_fade_run_alone_let_the_program_go(build, tmp_path):
    command = under_fade(build, tmp_path, hears(build))
    with Started(command, env=build.environment("v6"), cwd=tmp_path) as started:
        started.read(b"ready\n")
        program = harness.descendants(started.pid)[1]
        for _ in range(2):
            os.kill(started.pid, signal.SIGTERM)
            time.sleep(0.5)  # two at once are one
        assert started.process.wait(60) == 125
        os.kill(program, END)
        assert started.process.stdout.read() == b"TERM 2\n"


def witness_of(pid):
    (found,) = [child for child, name in harness.children_by_name()[pid] if name == harness.WITNESS]
    return found


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_to_each_process_of_a_job(build, tmp_path, number):
    """As systemd and batch systems do, and pkill(1) with the program's command line."""
    with Started(under_fade(build, tmp_path, hears(build)), env=build.environment("v6"), cwd=tmp_path) as started:
        started.read(b"ready\n")
        for pid in (witness_of(started.pid), *harness.descendants(started.pid)):
            os.kill(pid, number)
        assert started.end() == (heard(number), STATUS)


def test_the_command_line_of_the_witness(build, tmp_path):
    command = under_fade(build, tmp_path, hears(build, "a", "b c"))
    with Started(command, env=build.environment("v6"), cwd=tmp_path) as started:
        started.read(b"ready\n")
        with open(f"/proc/{witness_of(started.pid)}/cmdline", encoding="utf-8") as file:
            title = file.read().rstrip("\0")
        assert title == f"signal-witness of process {started.pid}: {' '.join(hears(build, 'a', 'b c'))}"


def test_the_witness_dies_with_fade_run(build, tmp_path):
    with Started(under_fade(build, tmp_path, hears(build)), env=build.environment("v6"), cwd=tmp_path) as started:
        started.read(b"ready\n")
        program, witness = harness.descendants(started.pid)[1], witness_of(started.pid)
        started.process.kill()
        started.process.wait()
        while re.search(r"\) [^ZX]", status_line(witness)):
            time.sleep(0.005)
        os.kill(program, END)
        assert started.process.stdout.read() == b""  # it heard nothing, and no process holds the pipe


def status_line(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read()
    return ""


def test_without_its_witness_fade_run_passes_on(build, tmp_path):
    with Started(under_fade(build, tmp_path, hears(build)), env=build.environment("v6"), cwd=tmp_path) as started:
        started.read(b"ready\n")
        witness = witness_of(started.pid)
        os.kill(witness, signal.SIGKILL)
        while status_line(witness):
            time.sleep(0.005)
        os.kill(started.pid, signal.SIGTERM)
        assert started.end() == (heard(signal.SIGTERM), STATUS)


# ---------------------------------------------------------------- the terminal
@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    ours = [master, slave]
    yield ours
    for fd in ours:
        os.close(fd)


def with_terminal(slave):
    return dict(stdin=slave, preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))


@pytest.mark.parametrize("place", ["", "group"])
@pytest.mark.parametrize("key, number", [(b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)])
def test_a_key_of_the_terminal(build, both, terminal, key, number, place):
    def how(started):
        started.read(b"ready\n")
        os.write(terminal[0], key)
        termios.tcdrain(terminal[1])
        wait_for_key(terminal[0])
        return started.end()
    assert both(hears(build, place), how, **with_terminal(terminal[1])) == [(heard(number), STATUS)] * 2


def wait_for_key(master):
    """The terminal echoes a key after it has sent the signal."""
    echoed = b""
    while not re.search(rb"\^[C\\]", echoed):
        echoed += os.read(master, 100)


def test_the_terminal_is_gone(build, tmp_path):
    """The kernel tells the leader of the session alone, which the program would be."""
    found = []
    for command in (hears(build), under_fade(build, tmp_path, hears(build))):
        master, slave = pty.openpty()
        with Started(command, env=build.environment("v6"), cwd=tmp_path, **with_terminal(slave)) as started:
            os.close(slave)
            started.read(b"ready\n")
            os.close(master)
            found.append(started.end())
    assert found == [(heard(signal.SIGHUP), STATUS)] * 2


# ---------------------------------------------------------------- real programs
def ends(started):
    out, _ = started.process.communicate(timeout=60)
    return out, started.process.returncode


# A job that has begun: before its exec it has bash's handlers.
JOB = 'coproc sh -c "echo up; exec sleep 100"; read up <&${COPROC[0]}; '


@pytest.mark.parametrize("script", [
    "trap 'kill 0' EXIT; " + JOB + "exit 3",
    "trap 'trap : TERM; kill 0; echo told' EXIT; " + JOB + "exit 3",
    "trap 'echo heard' TERM USR1; kill 0; kill -USR1 0; kill 0; echo end",
    "trap 'echo heard' TERM; setsid -w sh -c 'kill 0'; echo $?; kill 0; exit 4"])
def test_shell_scripts(both, script):
    alone, supervised = both(["bash", "-c", script], ends)
    assert supervised == alone


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_script_that_ends_its_jobs(build, both, number):
    """Has the program as a job, and signals its own group in the end."""
    job = """sh -c 'echo pid $$; exec "$@"' sh "$@" &"""
    script = f'trap "trap : {int(number)}; kill -{int(number)} 0" EXIT; {job} read line; exit 3'

    def how(started):
        started.number()
        started.read(b"ready\n")
        started.process.stdin.write(b"end\n")
        started.process.stdin.close()
        assert started.process.wait(60) == 3
        started.process.stdin = None
        return started.end()[0]
    assert both(hears(build), how, before=["bash", "-c", script, "bash"], stdin=subprocess.PIPE) == [heard(number)] * 2


@pytest.mark.parametrize("options", [[], ["-s", "INT"], ["--foreground"]])
def test_timeout(both, options):
    alone, supervised = both(["sleep", "100"], ends, before=["timeout", *options, "0.5"])
    assert alone == supervised == (b"", 124)


def test_processes_of_python(both):
    script = """
import multiprocessing, os, signal

def child(ready, go):
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    ready.release()
    go.wait()
    os._exit(len(heard))

heard = []
signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
ready, go = multiprocessing.Semaphore(0), multiprocessing.Event()
children = [multiprocessing.Process(target=child, args=(ready, go)) for _ in range(4)]
for one in children:
    one.start()
for _ in children:
    ready.acquire()
os.killpg(0, signal.SIGTERM)
go.set()
for one in children:
    one.join()
print(len(heard), [one.exitcode for one in children])
"""
    alone, supervised = both([sys.executable, "-c", script], ends)
    assert alone == supervised == (b"1 [1, 1, 1, 1]\n", 0)
