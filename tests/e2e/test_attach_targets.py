"""Which processes fade-attach comes to, what it does to their answers, and what it says while it is there."""
import os
import re

import pexpect
import pytest

import attaching
from attaching import Look, attach, is_untouched, recorded, start, until  # noqa: F401 (fixtures)

RULE = "device.0.multiProcessorCount=72"


def finish(*targets):
    for target in targets:
        assert target.end() == ("", 7)


# ---------------------------------------------------------------- whom
@pytest.fixture
def two(start, tmp_path):
    pair = [start(f"steady {threads} {tmp_path}") for threads in (2, 3)]
    for target in pair:
        target.ask("rounds")
    return pair


def calls_of_both(attachment, two):
    attachment.has_come()
    before = [target.counts() for target in two]
    for target in two:
        target.ask("rounds")
    made = [target.counts() - was for target, was in zip(two, before)]
    database = attachment.leave()
    found = database.counts("calls")
    for target, calls in zip(two, made):
        assert found[target.pid] == calls
    return database


def test_several_at_once(attach, two):
    before = [Look(target) for target in two]
    attachment = attach(*two)
    calls_of_both(attachment, two)
    assert f"(pid {two[0].pid}) and 1 more process" in attachment.says()
    for target, was in zip(two, before):
        is_untouched(target, was)
    finish(*two)


def test_as_pidof_gives_them(attach, two):
    calls_of_both(attach("-p", f"{two[0].pid} {two[1].pid}"), two)
    finish(*two)


def test_by_name(attach, two, tmp_path):
    """The pattern has the folder of this test. Without it, fade-attach comes to targets of other tests, too."""
    calls_of_both(attach("--name", f"steady [23] {re.escape(str(tmp_path))}$"), two)
    finish(*two)


def test_by_pidfile(attach, start, tmp_path):
    target = start("steady 2")
    (tmp_path / "program.pid").write_text(f"{target.pid}\n")
    attachment = attach("--pidfile", tmp_path / "program.pid").has_come()
    target.ask("rounds")
    assert recorded(attachment.leave())["hipMalloc"] == 200
    finish(target)


def test_a_tree(build, attach, tmp_path):
    """A shell and the program that it waits for."""
    command = ["sh", "-c", '"$0" 2; echo "ended with $?"', build.tracees / "steady"]
    target = attaching.Target(command, build.environment("v6"), tmp_path / "tree")
    try:
        assert target.hear() == "ready"
        attachment = attach("--tree", target).has_come()
        assert "and 1 more process" in attachment.says()
        target.ask("rounds")
        database = attachment.leave()
        assert recorded(database)["hipMalloc"] == 200
        assert database.value("SELECT count(*) FROM processes") == 2
        assert target.end() == ("ended with 7\n", 0)
    finally:
        target.kill()


def test_one_of_several_is_refused_and_the_others_are_as_they_were(attach, two):
    first = attach(two[1]).has_come()
    before = Look(two[0])
    both = attach(*two)
    both.ends(3)
    assert f"{first.process.pid}" in both.says()
    is_untouched(two[0], before)
    two[1].ask("rounds")
    assert recorded(first.leave())["hipMalloc"] == 200
    finish(*two)


# ---------------------------------------------------------------- what cannot be
def test_a_second_one_is_told_who_was_first(attach, start):
    target = start("steady 2")
    first = attach(target).has_come()
    second = attach(target)
    second.ends(3)
    assert "fade-attach" in second.says() and str(first.process.pid) in second.says()
    assert not second.database.exists()
    target.ask("rounds")
    assert recorded(first.leave())["hipMalloc"] == 200
    finish(target)


def test_an_ended_process(attach, start):
    target = start("steady 2")
    finish(target)
    gone = attach(target)
    gone.ends(4)
    assert str(target.pid) in gone.says()


def test_a_zombie(attach, start):
    target = start("steady 2")
    target.process.stdin.close()
    until(lambda: target.states() == {"Z"}, "the end")
    zombie = attach(target)
    zombie.ends(4)
    assert "zombie" in zombie.says()
    assert target.process.wait(attaching.PATIENCE) == 7


def test_a_file_that_exists_is_not_overwritten(attach, start, tmp_path):
    target = start("steady 2")
    before = Look(target)
    (tmp_path / "mine.db").write_text("precious")
    attachment = attach(target, "-o", tmp_path / "mine.db")
    attachment.ends(1)
    assert "mine.db" in attachment.says() and (tmp_path / "mine.db").read_text() == "precious"
    is_untouched(target, before)
    finish(target)


# ---------------------------------------------------------------- how long
def test_a_duration(attach, start):
    target = start("steady 2")
    target.ask("go")
    attachment = attach(target, "-d", "300ms")
    attachment.ends(0)
    assert "fade: held " in attachment.says() and "detached from" in attachment.says() and target.tracers() == {0}
    target.calls_on()
    target.ask("quiet")
    finish(target)


def test_until_it_ends(attach, start):
    target = start("steady 2")
    attachment = attach(target).has_come()
    target.ask("rounds")
    finish(target)
    attachment.ends(0)
    assert f"(pid {target.pid}) ended" in attachment.says()


# ---------------------------------------------------------------- --set
def test_answers_are_changed_from_then_on_and_told(attach, start):
    target = start("steady 2")
    assert target.ask("mp") == "mp 36"
    attachment = attach(target, "--set", RULE).has_come()
    attachment.tells("is not changed by --set")  # what it has asked already
    assert [target.ask("mp") for _ in range(3)] == ["mp 72"] * 3
    database = attachment.leave()
    assert target.ask("mp") == "mp 36"
    assert database.value("SELECT sum(n) FROM override_hits WHERE was = '36' AND became = '72'") == 3
    assert database.value("SELECT count(*) FROM overrides") == 1
    finish(target)


# ---------------------------------------------------------------- on terminals and without
def test_without_a_terminal_in_a_session_of_its_own(attach, start):
    target = start("steady 2")
    attachment = attach(target, start_new_session=True).has_come()
    target.ask("rounds")
    assert recorded(attachment.leave())["hipMalloc"] == 200
    finish(target)


@pytest.mark.parametrize("columns, shown", [(40, ["calls/s"]), (80, ["calls/s", "mem", "err", "db"]),
                                            (200, ["calls/s", "mem", "err", "db", "[Enter] detach"])])
def test_the_live_line(build, start, tmp_path, columns, shown):
    """Each line fits, and says as much as there is room for."""
    target = start("steady 2")
    target.ask("go")
    environment = {**os.environ, "TERM": "xterm", "FADE_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8"}
    environment.pop("COLUMNS", None)
    child = pexpect.spawn(str(build.folder / "cli" / "attach" / "fade-attach"),
                          ["-o", str(tmp_path / "x.db"), str(target.pid)], env=environment,
                          encoding="utf-8", timeout=attaching.PATIENCE, dimensions=(24, columns), cwd=str(tmp_path))
    try:
        child.expect("fade: held ")
        lines = []
        for _ in range(3):
            child.expect(r"\r(●[^\r\n\b]*)")
            lines.append(child.match[1].rstrip())
        assert all(len(line) < columns for line in lines)
        assert all(word in line for line in lines for word in shown), lines
        assert any(re.search(r"\s[1-9][\d.]*[kM]? calls/s", line) for line in lines)
        child.send("\r")
        child.expect("detached from steady")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0 and target.tracers() == {0}
    finally:
        child.close(force=True)
    target.ask("quiet")
    finish(target)
