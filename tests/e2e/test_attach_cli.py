"""fade-attach without a terminal: signals, times, exit statuses, pipes."""
import contextlib
import os
import signal
import subprocess

import pytest

from attach_target import PATIENCE, attach, ends, line_with, target, until  # noqa: F401 (fixtures)
from programs import fade, wait_for_a_call  # noqa: F401 (fixtures)


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
    ran = subprocess.run([*strace, fade.path("fade-attach"), "-o", "x.db", str(target.pid)],
                         cwd=tmp_path, env=fade.environment, text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    assert ran.returncode == 1 and "fade was asked to leave before it had come to the program" in ran.stderr, ran
    assert not (tmp_path / "x.db").exists() and target.tracer() == 0


def test_a_signal_in_the_first_moments_of_a_check(fade, target):
    """It has nothing to detach from: the signal ends it as it would any program."""
    ran = subprocess.run(["strace", "-o", "/dev/null", "-e", "trace=capget", "-e",
                          "inject=capget:signal=SIGTERM:when=1",
                          fade.path("fade-attach"), "--check", str(target.pid)],
                         env=fade.environment, capture_output=True, timeout=PATIENCE)
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


def test_a_full_pipe_does_not_hold_the_program(attach, target, tmp_path):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    process = attach("-vv", "-o", "x.db", target.pid, stderr=writer)
    os.close(writer)
    wait_for_a_call(tmp_path / "x.db")
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
