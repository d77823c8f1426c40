"""A database that another process has locked: calls made are calls stored and calls reported as lost, exactly."""
import contextlib
import json
import pathlib
import re
import signal
import sqlite3
import subprocess
import time

import pytest

import harness

CALLS_A_ROUND = 6  # some_calls() in tests/tracees/tracee.h
# calls that memory holds while the database is locked: the batch in hand, and a queue of four times its size
KEPT = 32_768 * 5


class Recorded:
    """steady under fade-run; it calls until it is told to be quiet."""

    def __init__(self, build, folder, *options):
        folder.mkdir(exist_ok=True)
        self.build, self.folder, self.path = build, folder, folder / "run.db"
        command = [build.fade_run, "-e", harness.EVERYTHING, *options, "-o", self.path,
                   "--", *build.command("steady 2")]
        self.process = subprocess.Popen(command, env=build.environment("v6"), cwd=folder,
                                        text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def go(self):
        assert self.tell("go") == "going\n"
        await_that(self, lambda: self.made() > 1000 and self.stored() > 0)

    def quiet(self):
        """How many calls were made."""
        return int(self.tell("quiet").split()[1]) * CALLS_A_ROUND

    def made(self):
        return sum(harness.summed(harness.read_counts(self.folder)).values())

    def stored(self):
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            return database.execute("SELECT count(*) FROM call_").fetchone()[0]

    @contextlib.contextmanager
    def locked(self, how):
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        connection.execute(how)
        yield
        connection.execute("ROLLBACK")
        connection.close()

    def await_the_programs_end(self):
        """It ends before fade-run does, if not by its closed input."""
        pid = next(self.folder.glob("counts.*")).name.split(".")[1]
        end = time.monotonic() + 60
        while pathlib.Path(f"/proc/{pid}").exists() and self.process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None
        return self.process.communicate(timeout=60)[1]


def await_that(recorded, met):
    end = time.monotonic() + 120
    while not met():
        assert recorded.process.poll() is None and time.monotonic() < end
        time.sleep(0.01)


def lost(stderr):
    """As fade-run says it at its end."""
    found = re.search(r"([0-9,]+) calls? (?:was|were) not stored", stderr)
    return int(found[1].replace(",", "")) if found else 0


def reported(path):
    return harness.Database(path).value("SELECT coalesce(sum(n), 0) FROM drops")


@pytest.mark.parametrize("how", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_lock_that_memory_bridges_costs_no_call(build, tmp_path, how):
    recorded = Recorded(build, tmp_path / how)
    recorded.go()
    with recorded.locked(how):
        before = recorded.made()
        await_that(recorded, lambda: recorded.made() - before > KEPT // 4)
    made = recorded.quiet()
    assert lost(recorded.end()) == 0
    assert (recorded.stored(), reported(recorded.path)) == (made, 0)


def test_the_recording_goes_on_after_a_long_lock(build, tmp_path):
    recorded = Recorded(build, tmp_path / "long")
    recorded.go()
    with recorded.locked("BEGIN IMMEDIATE"):
        before = recorded.made()
        await_that(recorded, lambda: recorded.made() - before > KEPT + 10_000)
        last = recorded.made()
    await_that(recorded, lambda: recorded.made() - last > 2 * KEPT)
    made = recorded.quiet()
    stderr = recorded.end()
    database = harness.Database(recorded.path)
    missing = reported(recorded.path)
    assert recorded.process.returncode == 7 and missing > 0 and lost(stderr) == missing
    assert recorded.stored() + missing == made
    assert database.value("SELECT sum(calls) FROM top") == recorded.stored()
    assert database.value("SELECT clean FROM sessions") == 1
    (n, duration, reason), = database.rows("SELECT n, duration, reason FROM drops")
    assert (n, reason) == (missing, "another process had the database locked") and duration > 0
    assert database.rows("SELECT value FROM lifecycle WHERE kind = 'locked'") == [(missing,)]
    summary = subprocess.run([build.fade_query, recorded.path, "summary", "--format", "table"],
                             capture_output=True, text=True, check=True).stdout
    assert "another process had the database locked for" in summary
    check = subprocess.run([build.fade_query, recorded.path, "check", "--fail-on", "dropped", "--format", "json"],
                           capture_output=True, text=True)
    assert check.returncode == 1 and json.loads(check.stdout)[0]["n"] == missing


@pytest.mark.parametrize("ending", ["by itself", "by SIGTERM"])
def test_a_lock_that_outlasts_the_recording(build, tmp_path, ending):
    recorded = Recorded(build, tmp_path / "end")
    recorded.go()
    with recorded.locked("BEGIN IMMEDIATE"):
        before = recorded.made()
        await_that(recorded, lambda: recorded.made() - before > 10_000)
        made = recorded.quiet()
        if ending == "by SIGTERM":
            recorded.process.send_signal(signal.SIGTERM)
            recorded.await_the_programs_end()
        stderr = recorded.end()
    stored = recorded.stored()
    assert recorded.process.returncode == (7 if ending == "by itself" else -signal.SIGTERM)
    assert 0 < stored < made and stored + lost(stderr) == made
    assert "is locked" in stderr
