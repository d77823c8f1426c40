"""Job control and the terminal, tried through an interactive shell: as if fade were not there."""
import os
import pathlib
import signal
import time

import pexpect
import pytest

import harness

PROMPT = "fade-test> "


@pytest.fixture
def shell(build, tmp_path):
    environment = {**build.environment("v6"), "PS1": PROMPT, "TERM": "dumb", "HISTFILE": "",
                   "PROGRAM": str(build.tracees / "tty"),
                   "FADE": f"{build.fade_run} -q -o"}
    child = pexpect.spawn("bash", ["--norc", "--noprofile", "--noediting", "-i"],
                          env=environment, cwd=str(tmp_path), encoding="utf-8", timeout=60)
    child.expect_exact(PROMPT)
    child.setecho(False)
    yield child
    child.close(force=True)


def say(shell, line):
    shell.sendline(line)
    return shell


def status(shell):
    say(shell, "echo status=$?").expect(r"status=(\d+)\r\n")
    code = int(shell.match.group(1))
    shell.expect_exact(PROMPT)
    return code


def quits(shell):
    say(shell, "quit").expect_exact("bye\r\n")
    shell.expect_exact(PROMPT)
    return status(shell)


def test_the_program_has_the_terminal(shell):
    say(shell, "$FADE a.db -- $PROGRAM").expect_exact("tty 1 1 foreground 1\r\n")
    say(shell, "hello").expect_exact("got hello\r\n")
    assert quits(shell) == 4


def test_end_of_input(shell):
    say(shell, "$FADE a.db -- $PROGRAM").expect_exact("foreground 1\r\n")
    shell.sendeof()
    shell.expect_exact("bye\r\n")
    shell.expect_exact(PROMPT)
    assert status(shell) == 4


def test_interrupt_ends_it(shell):
    say(shell, "$FADE a.db -- $PROGRAM").expect_exact("foreground 1\r\n")
    shell.sendintr()
    shell.expect_exact(PROMPT)
    assert status(shell) == 130


def test_interrupt_is_the_programs_business(shell):
    say(shell, "$FADE a.db -- $PROGRAM catch").expect_exact("foreground 1\r\n")
    shell.sendintr()
    shell.expect_exact("interrupted 1\r\n")
    say(shell, "still here").expect_exact("got still here\r\n")
    shell.sendintr()
    shell.expect_exact("interrupted 1\r\n")
    assert quits(shell) == 4


def test_suspend_and_resume(shell):
    say(shell, "$FADE a.db -- $PROGRAM").expect_exact("foreground 1\r\n")
    for word in ("one", "two"):
        shell.sendcontrol("z")
        shell.expect("Stopped")
        shell.expect_exact(PROMPT)
        say(shell, "jobs").expect("Stopped")
        shell.expect_exact(PROMPT)
        say(shell, "fg").expect_exact("$PROGRAM\r\n")  # bash repeats the command
        say(shell, word).expect_exact(f"got {word}\r\n")
    assert quits(shell) == 4


def test_suspending_is_the_programs_business(shell):
    say(shell, "$FADE a.db -- $PROGRAM tidy").expect_exact("foreground 1\r\n")
    for word in ("one", "two"):
        shell.sendcontrol("z")
        shell.expect_exact("stopping\r\n")
        shell.expect("Stopped")
        shell.expect_exact(PROMPT)
        say(shell, "fg").expect_exact("$PROGRAM tidy\r\n")
        shell.expect_exact("back\r\n")
        say(shell, word).expect_exact(f"got {word}\r\n")
    assert quits(shell) == 4


def test_a_program_may_refuse_to_be_suspended(shell):
    say(shell, "$FADE a.db -- $PROGRAM ignore").expect_exact("foreground 1\r\n")
    shell.sendcontrol("z")
    say(shell, "still here").expect_exact("got still here\r\n")
    assert quits(shell) == 4


def test_a_program_that_was_stopped_from_elsewhere_gives_the_terminal_back(shell):
    say(shell, "$FADE a.db -- $PROGRAM").expect_exact("foreground 1\r\n")
    os.kill(harness.descendants(shell.pid)[-1], signal.SIGSTOP)
    shell.sendcontrol("z")
    shell.expect("Stopped")
    shell.expect_exact(PROMPT)
    say(shell, "fg").expect_exact("$PROGRAM\r\n")
    say(shell, "word").expect_exact("got word\r\n")
    assert quits(shell) == 4


def test_background_reader_is_stopped_and_comes_back(shell):
    say(shell, "$FADE a.db -- $PROGRAM &").expect_exact("tty 1 1 foreground 0\r\n")
    say(shell, 'until [ -n "$(jobs -s)" ]; do :; done').expect("Stopped")
    say(shell, "fg").expect_exact("$PROGRAM\r\n")
    say(shell, "hello").expect_exact("got hello\r\n")
    assert quits(shell) == 4


def test_quit_signal(shell):
    say(shell, "ulimit -c 0; $FADE a.db -- $PROGRAM").expect_exact("foreground 1\r\n")
    shell.sendcontrol("\\")
    shell.expect_exact(PROMPT)
    assert status(shell) == 131


def test_pipeline(shell):
    say(shell, "printf 'a\\nb\\nquit\\n' | $FADE a.db -- $PROGRAM | tail -n 3").expect_exact(
        "got a\r\ngot b\r\nbye\r\n")
    shell.expect_exact(PROMPT)
    assert status(shell) == 0


def test_summary_only_on_request_or_terminal(build, shell):
    say(shell, f"{build.fade_run} -o b.db -- {build.tracees / 'loop'} 3")
    shell.expect(r"fade: recording \S*loop \(pid \d+\) to b\.db\r\n")
    shell.expect_exact("done\r\n")
    shell.expect_exact("fade-query b.db verdict")  # it used no processor of the GPU, and the end block says so
    shell.expect_exact(PROMPT)
    assert status(shell) == 0


# ---------------------------------------------------------------- a shell as the program
INNER = "inner-test> "
SHELL = f"env PS1='{INNER}' bash --norc --noprofile --noediting -i"


@pytest.fixture(params=[False, True], ids=["alone", "supervised"])
def inner(request, shell):
    """An interactive shell, started by the outer one; both ways must go alike."""
    say(shell, ("$FADE a.db -- " if request.param else "") + SHELL).expect_exact(INNER)
    return shell


def inside(shell, line, expected):
    say(shell, line).expect(expected)
    shell.expect_exact(INNER)


def leave(shell, code):
    say(shell, f"exit {code}").expect_exact(PROMPT)
    assert status(shell) == code


def wait_for_sleep(shell):
    """A job of the inner shell is in the foreground: there is a process of that name, in the terminal's group."""
    for _ in range(3000):
        for pid in harness.descendants(shell.pid):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
            if fields[0].endswith("(sleep") and fields[1].split()[2] == fields[1].split()[
                5] and fields[1].split()[0] == "S":
                return
        time.sleep(0.01)
    raise AssertionError("no job in the foreground")


def test_a_shell_suspends_itself(inner):
    for _ in range(2):
        say(inner, "suspend").expect("Stopped")
        inner.expect_exact(PROMPT)
        say(inner, "jobs").expect("Stopped")
        inner.expect_exact(PROMPT)
        inner.sendline("fg")
        inside(inner, "echo again$((1 + 1))", "again2\r\n")
    leave(inner, 7)


def test_jobs_of_a_shell(inner):
    inner.sendline("sleep 1000")
    wait_for_sleep(inner)
    inner.sendcontrol("z")
    inner.expect("Stopped")
    inner.expect_exact(INNER)
    inside(inner, "bg", "sleep 1000 &")
    inside(inner, "jobs", "Running")
    inner.sendline("fg")
    wait_for_sleep(inner)
    inner.sendintr()
    inner.expect_exact(INNER)
    inside(inner, "echo left$?", "left130\r\n")
    inside(inner, "(kill -STOP $BASHPID; echo woke$((1 + 1))) &", r"\[1\] \d+")
    inside(inner, "until [ -n \"$(jobs -s)\" ]; do :; done; echo ready$((1 + 1))", "ready2\r\n")
    inside(inner, "fg", "woke2\r\n")
    leave(inner, 3)
