"""fade-query on recordings that are not what they should be, that go on or were cut; SQL of the user."""
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pexpect
import pytest

import harness
from queries import ENVIRONMENT, REPORTS, query, recording  # noqa: F401 (fixtures)


# ---------------------------------------------------------------- which recording
def test_the_newest_recording_is_taken(query, recording, tmp_path):
    for name, age in (("fade-old.db", 1000), ("fade-new.db", 2000), ("mine.db", 500)):
        (tmp_path / name).write_bytes(recording.read_bytes())
        os.utime(tmp_path / name, (age, age))
    assert query("info").stderr == "fade-query: reading fade-new.db\n"
    assert query("info", FADE_OUTPUT="mine.db").stderr == "fade-query: reading mine.db\n"
    assert query("fade-old.db", "info").stderr == ""
    assert [row.split("\t")[0] for row in query("list", "--no-header").stdout.splitlines()] == [
        "fade-new.db", "fade-old.db", "mine.db"]


def test_no_recording_says_how_to_make_one(query):
    done = query()
    assert done.returncode == 1 and "fade-run -- PROGRAM" in done.stderr


def broken(tmp_path, recording):
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t(a)")
    connection.commit()
    newer = tmp_path / "newer.db"
    newer.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("not a database at all, but long enough")
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "cut.db").write_bytes(recording.read_bytes()[:9000])
    return {"other.db": "something else", "newer.db": "newer fade (schema 99", "empty.db": "empty",
            "text.db": "not an SQLite database",
            "folder.db": "directory", "none.db": "No such file", "cut.db": "malformed"}


def test_files_that_are_no_recordings(query, recording, tmp_path):
    for name, cause in broken(tmp_path, recording).items():
        done = query(name, "top")
        assert done.returncode == 1, name
        lines = done.stderr.splitlines()
        assert len(lines) == 3 and cause in done.stderr and lines[1].startswith(
            "  cause: ") and lines[2].startswith("  fix:   "), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be")
def test_a_file_that_may_not_be_read(build, recording, tmp_path):
    os.chmod(recording, 0o600)
    done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", build.fade_query, recording, "top"],
                          env=ENVIRONMENT, capture_output=True, text=True)
    if "setpriv" in done.stderr:
        pytest.skip("the programs lie where no other user may go")
    assert done.returncode == 1 and "Permission denied" in done.stderr


# ---------------------------------------------------------------- SQL
def test_sql_reads_and_only_reads(query, recording):
    before = recording.read_bytes()
    assert query(recording, "sql", "SELECT count(*) AS n FROM kernel_stats").stdout == "n\n3\n"
    assert query(recording, "sql", "-",
                 text="SELECT name FROM functions\nWHERE name REGEXP '^hipMalloc$';\n").stdout == "name\nhipMalloc\n"
    for statement in ("DELETE FROM call_", "CREATE TABLE t(a)", "ATTACH 'x.db' AS x",
                      "PRAGMA journal_mode=WAL", "SELECT load_extension('x')", "VACUUM INTO 'copy.db'"):
        done = query(recording, "sql", statement)
        assert done.returncode == 1 and "cause:" in done.stderr, statement
    assert recording.read_bytes() == before


def test_sql_that_never_ends_is_cut(query, recording):
    started = time.monotonic()
    done = query(recording, "sql",
                 "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
                 "--timeout", "300ms")
    assert done.returncode == 1 and "longer than 0.3 s" in done.stderr and time.monotonic() - started < 30


def test_a_report_as_sql_gives_the_same_rows(query, recording):
    for report in REPORTS:
        sql = query(recording, report, "--sql")
        assert sql.returncode == 0, sql.stderr
        assert query(recording, "sql", sql.stdout).stdout == query(recording, report, "-f", "tsv").stdout, report


def test_shell_is_read_only(build, recording):
    child = pexpect.spawn(str(build.fade_query), [str(recording), "shell"], env=ENVIRONMENT,
                          encoding="utf-8", timeout=20)
    child.expect("sqlite>")
    child.sendline("DELETE FROM call_;")
    child.expect("readonly database")
    child.expect("sqlite>")  # the terminal is the shell's again: what is typed before is lost
    child.sendeof()
    child.expect(pexpect.EOF)


def test_index_helps_and_changes_no_answer(query, recording, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(recording.read_bytes())
    assert query(copy, "index").returncode == 0
    for report in ("calls", "launches", "top"):
        assert query(copy, report).stdout == query(recording, report).stdout


# ---------------------------------------------------------------- recordings that go on, or were cut
@pytest.fixture
def endless(build, tmp_path):
    """A program that calls HIP until it is ended, under fade-run."""
    script = tmp_path / "endless.py"
    script.write_text(
        "import ctypes, time\nhip = ctypes.CDLL('libamdhip64.so.6')\nn = ctypes.c_int()\nwhile True:\n    "
        "hip.hipGetDeviceCount(ctypes.byref(n))\n    time.sleep(0.001)\n")
    process = subprocess.Popen([build.fade_run, "-q", "-o", tmp_path / "fade-live.db",
                                "--", "/usr/bin/python3", script], env=build.environment("v6"), cwd=tmp_path)
    yield process, tmp_path / "fade-live.db"
    for pid in harness.descendants(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def calls_in(query, database):
    done = query(database, "sql", "SELECT coalesce(sum(calls), 0) FROM call_stats")
    return int(done.stdout.splitlines()[1]) if done.returncode == 0 else -1


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_recording_is_read_while_it_goes_on(query, endless):
    process, database = endless
    assert wait_for(lambda: database.exists() and calls_in(query, database) > 0)
    first = calls_in(query, database)
    assert wait_for(lambda: calls_in(query, database) > first)
    assert f"process {process.pid} has it open" in query(database, "summary", "-f", "table").stdout
    assert "still being recorded" in query(database, "top").stderr
    assert_only_one_state_is_told(query, database, "fade is still recording", "-f", "json")
    assert "recording" in query("list").stdout
    refused = query(database, "index")
    assert refused.returncode == 1 and "still being recorded" in refused.stderr


def test_watch_shows_new_numbers(build, query, endless):
    _, database = endless
    assert wait_for(lambda: database.exists() and calls_in(query, database) > 0)
    child = pexpect.spawn(str(build.fade_query), [str(database), "top", "--watch=0.2", "--columns", "name,calls",
                                                  "--no-color"], env=ENVIRONMENT, encoding="utf-8", timeout=20)
    seen = set()
    for _ in range(40):
        child.expect(r"hipGetDeviceCount +([\d,]+)")
        seen.add(child.match.group(1))
        if len(seen) > 1:
            break
    child.close(force=True)
    assert len(seen) > 1


def assert_only_one_state_is_told(query, database, state, *form):
    """The views name both states; nothing that a user reads does."""
    told = ""
    for report in ["summary", "check", *REPORTS]:
        done = query(database, report, *form)
        told += done.stdout + done.stderr
    told += query(database, "page", "-o", "-").stdout
    told += query(database, "sql", "SELECT detail FROM checks WHERE condition = 'unclean'").stdout
    assert "or is still recording" not in told and f"the recording was not closed: {state}" in told


def test_a_recording_whose_fade_was_killed_says_so(query, endless):
    process, database = endless
    assert wait_for(lambda: database.exists() and calls_in(query, database) > 0)
    children = harness.descendants(process.pid)
    process.kill()
    process.wait()
    try:
        done = query(database, "summary", "-f", "table")
        assert done.returncode == 0 and "not closed cleanly (fade was killed, or could not write)" in done.stdout
        assert "hipGetDeviceCount" in done.stdout
        assert "state\tnot closed cleanly" in query(database, "info").stdout
        assert not pathlib.Path(f"{database}-wal").exists() or pathlib.Path(f"{database}-wal").stat().st_size == 0
        assert query(database, "sql", "SELECT count(*) > 0 AS some FROM calls").stdout == "some\n1\n"
        assert_only_one_state_is_told(query, database, "fade was killed")
    finally:
        for pid in children[1:]:
            os.kill(pid, signal.SIGKILL)
