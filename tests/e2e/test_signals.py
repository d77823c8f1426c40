"""Signals from outside: to the program, to fade-run, and the one that fade-run cannot catch."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import harness


def start(build, folder, line, *options):
    """fade-run on a tracee, once the program has made its first calls."""
    folder.mkdir(exist_ok=True)
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *build.command(line)]
    process = subprocess.Popen(command, env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: sum(harness.summed(harness.read_counts(folder)).values()) > 20 or process.poll() is not None)
    return process


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened for a minute"
        time.sleep(0.005)


def program_of(process):
    return harness.descendants(process.pid)[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1,
                                    signal.SIGINT, signal.SIGXCPU, signal.SIGALRM, signal.SIGRTMIN + 1])
def test_a_signal_to_fade_run_reaches_the_program(build, tmp_path, number):
    process = start(build, tmp_path, "cpu 100000")
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_program_gets_what_fade_run_was_to_get_at_its_parents_end(build, tmp_path, number):
    parent = ("import ctypes, os, sys\nif os.fork() == 0:\n"
              f"    ctypes.CDLL(None).prctl(1, {int(number)})\n    os.execv(sys.argv[1], sys.argv[1:])\n"
              "sys.stdin.read()\n")
    command = [sys.executable, "-c", parent, build.fade_run, "-q", "-o", tmp_path / "run.db",
               "--", *build.command("cpu 100000")]
    process = subprocess.Popen(command, env=build.environment("v6"), cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_until(lambda: sum(harness.summed(harness.read_counts(tmp_path)).values()) > 20)
    process.stdin.close()
    assert process.stdout.read() == b"" and process.wait(timeout=60) == 0  # nobody holds the pipe any more
    assert harness.Database(tmp_path / "run.db").rows("SELECT exit_signal FROM processes") == [(number,)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGTRAP])
def test_a_signal_to_the_program_is_mirrored(build, tmp_path, number):
    process = start(build, tmp_path, "cpu 100000")
    os.kill(program_of(process), number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert harness.Database(tmp_path / "run.db").rows("SELECT exit_signal FROM processes") == [(number,)]


@pytest.mark.parametrize("line, output", [
    ("loop 3000", b"done\n"), ("threads 8 300", b"8 threads\n"), ("exceptions", b"caught 20, destroyed 100\n"),
    ("fork_storm", b"forked, 0 wrong\n"),
    # What the program believed about SIGTRAP dies with fade: it is not blocked any more (DECISIONS.md, 14).
    ("sigtrap_blocked", b"masks intact( [01]){5}\n")])
@pytest.mark.parametrize("delay_ms", [0, 3, 17, 40])
def test_the_program_survives_the_death_of_fade_run(build, tmp_path, line, output, delay_ms):
    process = start(build, tmp_path, line)
    time.sleep(delay_ms / 1000)  # when it dies is arbitrary; that the program lives is not
    process.kill()
    assert re.fullmatch(output, process.stdout.read())  # the pipe closes when the program has ended too
    assert process.wait() == -signal.SIGKILL or process.returncode == 0
    # A recording that was cut off can still be read.
    database = harness.Database(tmp_path / "run.db")
    assert database.value("PRAGMA integrity_check") == "ok"


def test_a_stopped_fade_run_only_delays_the_program(build, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", *build.command("steady 2")]
    process = subprocess.Popen(command, env=build.environment("v6"), cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"go\n")
    process.stdin.flush()
    made = lambda: sum(harness.summed(harness.read_counts(tmp_path)).values())
    wait_until(lambda: made() > 20 or process.poll() is not None)
    assert process.poll() is None, (process.returncode, *process.communicate())
    process.send_signal(signal.SIGSTOP)
    wait_until(lambda: "T" in open(f"/proc/{process.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0])
    before = made()
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: made() > before + 20)
    stdout, _ = process.communicate(b"quiet\n", timeout=60)
    rounds = re.search(rb"quiet (\d+)\n$", stdout)
    assert process.returncode == 7 and rounds, (process.returncode, stdout)
    assert harness.Database(tmp_path / "run.db").value("SELECT sum(calls) FROM call_stats") == 5 * int(rounds[1])


# SIGTRAP is what breakpoints need, and a program may want it too, blocked and without a handler.
WAITED = [f"{how} {sent}" for sent in ("raise", "kill", "queue", "child")
          for how in ("signalfd", "poll", "epoll", "wait", "sleep", "pending")]
WAITED = [one for one in WAITED if one not in ("sleep raise", "pending child")] + ["signalfd kill dies"]


@pytest.mark.parametrize("line", WAITED)
def test_a_blocked_sigtrap_waits_where_the_program_looks_for_it(build, tmp_path, line):
    alone = harness.run_alone(build, f"sigtrap_waited {line}", "v6", tmp_path)
    supervised = harness.run_supervised(build, f"sigtrap_waited {line}", "v6", tmp_path)
    assert (supervised.stdout, supervised.stderr, supervised.status) == (alone.stdout, alone.stderr, alone.status)
    assert supervised.total == alone.total
    database = harness.Database(tmp_path / "run.db")
    unwatched = database.rows("SELECT detail FROM lifecycle WHERE kind = 'unwatched'")
    if line.startswith("sleep"):  # somebody is there to take it, and nothing is lost
        assert unwatched == [] and database.value("SELECT sum(calls) FROM call_stats") == sum(alone.total.values())
    if not line.endswith("child"):  # the process has sent it itself and looks at once
        assert line.startswith("sleep") or "blocks SIGTRAP" in unwatched[0][0]


def test_who_gets_its_sigtrap_back_is_told_that_the_recording_ended(build, tmp_path):
    command = [build.fade_run, "-o", "run.db", "--", *build.command("sigtrap_waited signalfd raise")]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert ran.status == 0 and b"was watched no longer from some moment on: it blocks SIGTRAP" in ran.stderr


def test_threads_go_on_while_the_program_gets_its_sigtrap_back(build, tmp_path):
    supervised = harness.run_supervised(build, "sigtrap_busy", "v6", tmp_path)
    assert (supervised.stdout, supervised.stderr, supervised.status) == (b"signal 5 from me, blocked 1\n", b"", 0)
