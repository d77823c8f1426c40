"""Children and threads that the kernel keeps from a tracer (CLONE_UNTRACED): they live, are found, and what was missed
is said."""
import contextlib
import os
import sqlite3
import subprocess
import time

import pytest

import harness

UNSEEN = "made with CLONE_UNTRACED, and ended before it was seen: none of its calls is recorded"


def start(build, folder, how, *options):
    folder.mkdir()
    command = [build.fade_run, *options, "-e", harness.EVERYTHING, "-o", "run.db",
               "--", *build.command(f"untraced {how}")]
    return subprocess.Popen(command, env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def rows(folder, sql):
    with contextlib.suppress(sqlite3.OperationalError):  # not there yet
        return harness.Database(folder / "run.db").rows(sql)
    return []


def wait_for(process, condition, what):
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, f"ended before {what}: {process.communicate()}"
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.02)


def child_of(folder):
    return int((folder / "child").read_text())


def alone(build, folder, how):
    folder.mkdir()
    (folder / "go").touch()
    return harness.run(build.command(f"untraced {how}"), build.environment("v6"), folder)


# Until when it is not recorded: own memory is watched anew, shared memory is from the moment that the child is ours.
FOUND = {"fork": "SELECT 1 FROM modules WHERE role = 'hip' AND sites > 0 AND pid = {}",
         "vm": "SELECT 1 FROM lifecycle WHERE kind = 'untraced' AND value = {}"}
FOUND.update(clone3=FOUND["fork"], orphan=FOUND["fork"], thread=FOUND["vm"])


@pytest.mark.parametrize("how", FOUND)
def test_it_is_found_and_recorded_from_then_on(build, tmp_path, how):
    expected = alone(build, tmp_path / "alone", how)
    folder = tmp_path / "supervised"
    process = start(build, folder, how)
    wait_for(process, lambda: (folder / "child").exists() and rows(folder, FOUND[how].format(child_of(folder))),
             "child found")
    (folder / "go").touch()
    stdout, stderr = process.communicate(timeout=60)
    assert (stdout, process.returncode) == (expected.stdout, expected.status)
    child = child_of(folder)
    column = "tid" if how == "thread" else "pid"
    (calls,) = rows(folder, f"SELECT count(*) FROM calls WHERE name = 'hipDeviceSynchronize' AND {column} = {child}")[0]
    assert 20 <= calls <= 25, "20 calls behind `go`; it may have been found before or after its first 5"
    (detail,) = rows(folder, "SELECT detail FROM lifecycle WHERE kind = 'untraced'")[0]
    assert "made with CLONE_UNTRACED: recorded from here on" in detail
    assert b"CLONE_UNTRACED" in stderr and b"fade-query lifecycle" in stderr
    if how != "orphan":  # it may end after us
        assert harness.summed(harness.read_counts(folder)) == expected.total


def test_one_that_has_ended_is_told(build, tmp_path):
    expected = alone(build, tmp_path / "alone", "short")
    folder = tmp_path / "supervised"
    process = start(build, folder, "short")
    stdout, stderr = process.communicate(timeout=60)
    assert (stdout, process.returncode) == (expected.stdout, expected.status)
    assert harness.summed(harness.read_counts(folder)) == expected.total  # it lives, with our breakpoints in its memory
    assert rows(folder, "SELECT value, detail FROM lifecycle WHERE kind = 'untraced'") == [(child_of(folder), UNSEEN)]
    assert b"CLONE_UNTRACED" in stderr
    check = subprocess.run([build.fade_query, folder / "run.db", "check", "--fail-on", "unwatched"],
                           capture_output=True, text=True, timeout=60)
    assert check.returncode == 1 and "CLONE_UNTRACED" in check.stdout


def test_one_whose_end_nobody_hears_of_is_told_at_its_parents_end(build, tmp_path):
    folder = tmp_path / "supervised"
    process = start(build, folder, "silent")
    stdout, _ = process.communicate(timeout=60)
    assert (stdout, process.returncode) == (b"silent: exit 0\n", 0)
    assert rows(folder, "SELECT value FROM lifecycle WHERE kind = 'untraced'") == [(child_of(folder),)]


def test_where_children_are_not_followed_nothing_is_said(build, tmp_path):
    expected = alone(build, tmp_path / "alone", "short")
    folder = tmp_path / "supervised"
    process = start(build, folder, "short", "--no-follow")
    stdout, stderr = process.communicate(timeout=60)
    assert (stdout, process.returncode) == (expected.stdout, expected.status)
    assert harness.summed(harness.read_counts(folder)) == expected.total
    assert rows(folder, "SELECT * FROM lifecycle WHERE kind = 'untraced'") == [] and b"CLONE_UNTRACED" not in stderr


@pytest.mark.parametrize("how", ["fork", "vm", "thread"])
def test_it_lives_when_fade_is_killed(build, tmp_path, how):
    folder = tmp_path / "supervised"
    process = start(build, folder, how)
    wait_for(process, lambda: (folder / "child").exists()
             and harness.summed(harness.read_counts(folder)).get("hipDeviceSynchronize", 0) >= 6, "calls")
    process.kill()
    process.wait()
    (folder / "go").touch()
    assert process.stdout.read() == b"%s: exit %d\n" % (how.encode(), 0 if how == "thread" else 7)


def test_it_lives_when_the_program_is_let_go(build, tmp_path):
    folder = tmp_path / "supervised"
    process = start(build, folder, "busy")
    wait_for(process, lambda: harness.summed(harness.read_counts(folder)).get("hipDeviceSynchronize", 0) > 100
             if folder.exists() else False, "calls")
    while process.poll() is None:  # two within three seconds let it go; a slow machine may need more
        process.terminate()
        time.sleep(0.2)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)  # a third one would end fade-run itself while it leaves
    assert process.returncode == 125
    (folder / "go").touch()
    assert process.stdout.read() == b"busy: exit 7\n"
