"""fade-query on real recordings: terminals and pipes, files that are not what they should be, recordings that go on or were cut."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import time

import pexpect
import pytest

import harness

REPORTS = ["allocs", "calls", "categories", "copies", "copy-sizes", "cuda", "devices", "drops", "errors", "findings", "first-error", "flame", "flow", "gaps",
           "idle", "kernels", "launches", "leaks", "libraries", "lifecycle", "memory", "memory-free", "memory-libraries", "modules", "oom", "overhead",
           "overrides", "processes", "props", "ranges", "redirects", "schema", "stacks", "steps", "streams", "threads", "top", "tree", "verdict", "waits"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "FADE_PAGER": "cat"}


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("query")
    command = [build.fade_run, "-q", "-o", folder / "fade-demo.db", "--set", "device.0.multiProcessorCount=72", "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "fade-demo.db"


@pytest.fixture
def query(build, tmp_path):
    def ask(*words, folder=tmp_path, text=None, **environment):
        return subprocess.run([build.fade_query, *map(str, words)], cwd=folder, env={**ENVIRONMENT, **environment}, input=text, capture_output=True, text=True, timeout=60)
    return ask


def on_terminal(build, words, columns=80, **environment):
    child = pexpect.spawn(str(build.fade_query), [str(w) for w in words], env={**ENVIRONMENT, **environment}, dimensions=(50, columns), encoding="utf-8", timeout=30)
    child.expect(pexpect.EOF)
    child.close()
    return child.before.replace("\r\n", "\n")


# ---------------------------------------------------------------- formats
@pytest.mark.parametrize("report", [*REPORTS, "summary", "info", "probes", "list", "reports"])
def test_every_report_in_every_format(query, recording, report):
    words = [] if report in ("probes", "list", "reports") else [recording]
    answers = {}
    for form in ("table", "tsv", "csv", "json", "jsonl", "markdown", "line"):
        done = query(*words, report, "--format", form, "--limit", "20", folder=recording.parent)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        answers[form] = done.stdout
    rows = json.loads(answers["json"])
    assert [json.loads(line) for line in answers["jsonl"].splitlines()] == rows
    assert len(list(csv.reader(io.StringIO(answers["csv"])))) == len(rows) + 1
    assert len(answers["tsv"].splitlines()) == len(rows) + 1
    assert len(answers["markdown"].splitlines()) == len(rows) + 2
    if rows:
        assert list(rows[0]) == answers["tsv"].splitlines()[0].split("\t")


def test_a_pipe_gets_tsv_and_a_terminal_a_table(build, query, recording):
    assert query(recording, "top", "--columns", "name,calls").stdout.splitlines()[0] == "name\tcalls"
    assert re.search(r"^name +calls$", on_terminal(build, [recording, "top", "--columns", "name,calls", "--no-color"]), re.M)


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("report", [*REPORTS, "summary", "list", "info"])
def test_tables_fit_the_terminal(build, recording, report, columns):
    words = [recording.parent] if report == "list" else []
    text = on_terminal(build, [*([] if words else [recording]), report, *words, "--no-color"], columns)
    # Sentences may wrap; rows of tables, which are indented by at most two and hold wide gaps, may not.
    if report != "summary":
        assert max(map(len, text.splitlines())) <= columns, text


def test_colour_only_where_it_is_wanted(build, query, recording):
    assert "\x1b[" in on_terminal(build, [recording, "top"])
    assert "\x1b[" not in on_terminal(build, [recording, "top"], NO_COLOR="1")
    assert "\x1b[" not in on_terminal(build, [recording, "top"], TERM="dumb")
    assert "\x1b[" not in on_terminal(build, [recording, "top", "--color=never"])
    assert "\x1b[" in query(recording, "top", "-f", "table", CLICOLOR_FORCE="1").stdout
    assert "\x1b[" in query(recording, "top", "-f", "table", "--color=always").stdout


def test_a_locale_without_unicode_gets_ascii(build, recording):
    for report in ("top", "summary", "tree"):
        text = on_terminal(build, [recording, report, "--no-color"], 120, LANG="C", LC_ALL="C")
        assert text.isascii() and ("#" in text or report == "tree")


def test_an_output_file_is_not_overwritten(query, recording, tmp_path):
    assert query(recording, "top", "-o", "top.csv").returncode == 0
    assert (tmp_path / "top.csv").read_bytes().startswith(b"name,api,calls,")
    again = query(recording, "top", "-o", "top.csv")
    assert again.returncode == 1 and "it exists" in again.stderr and "--force" in again.stderr
    assert query(recording, "top", "-o", "top.csv", "--force", "-n", "1").returncode == 0
    assert len((tmp_path / "top.csv").read_text().splitlines()) == 2


def test_the_recording_itself_is_never_the_output(query, recording, tmp_path):
    copy = tmp_path / "fade-copy.db"
    copy.write_bytes(recording.read_bytes())
    os.link(copy, tmp_path / "link")
    for name in (copy, "link"):
        done = query(copy, "top", "-f", "tsv", "-o", name, "--force")
        assert done.returncode == 1 and "it is the recording that is read" in done.stderr
    assert query("top", "-f", "tsv", "-o", copy, "--force").returncode == 1  # as the newest here
    assert copy.read_bytes() == recording.read_bytes()


def test_without_an_answer_there_is_no_output_file(query, recording, tmp_path):
    assert query("missing.db", "top", "-o", "top.csv").returncode == 1
    assert query(recording, "top", "--where", "no_such_column", "-o", "top.csv").returncode == 2
    assert not (tmp_path / "top.csv").exists()


def test_a_reader_that_has_enough_is_no_error(build, recording):
    done = subprocess.run(f"{build.fade_query} {recording} calls --format jsonl | head -n 1", shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert json.loads(done.stdout)["id"] == 1 and done.stderr == ""


def test_a_full_disk_is_an_error(build, recording):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.fade_query, recording, "calls"], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert done.returncode == 1 and "No space left on device" in done.stderr


# ---------------------------------------------------------------- which recording
def test_the_newest_recording_is_taken(query, recording, tmp_path):
    for name, age in (("fade-old.db", 1000), ("fade-new.db", 2000), ("mine.db", 500)):
        (tmp_path / name).write_bytes(recording.read_bytes())
        os.utime(tmp_path / name, (age, age))
    assert query("info").stderr == "fade-query: reading fade-new.db\n"
    assert query("info", FADE_OUTPUT="mine.db").stderr == "fade-query: reading mine.db\n"
    assert query("fade-old.db", "info").stderr == ""
    assert [row.split("\t")[0] for row in query("list", "--no-header").stdout.splitlines()] == ["fade-new.db", "fade-old.db", "mine.db"]


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
    return {"other.db": "something else", "newer.db": "newer fade (schema 99", "empty.db": "empty", "text.db": "not an SQLite database",
            "folder.db": "directory", "none.db": "No such file", "cut.db": "malformed"}


def test_files_that_are_no_recordings(query, recording, tmp_path):
    for name, cause in broken(tmp_path, recording).items():
        done = query(name, "top")
        assert done.returncode == 1, name
        lines = done.stderr.splitlines()
        assert len(lines) == 3 and cause in done.stderr and lines[1].startswith("  cause: ") and lines[2].startswith("  fix:   "), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be")
def test_a_file_that_may_not_be_read(build, recording, tmp_path):
    os.chmod(recording, 0o600)
    done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", build.fade_query, recording, "top"], env=ENVIRONMENT, capture_output=True, text=True)
    if "setpriv" in done.stderr:
        pytest.skip("the programs lie where no other user may go")
    assert done.returncode == 1 and "Permission denied" in done.stderr


# ---------------------------------------------------------------- wrong use
@pytest.mark.parametrize("words, told", [
    (["tpo"], "did you mean 'top'?"),
    (["top", "more"], "cannot understand 'more'"),
    (["devices", "--tid", "1"], "has no --tid"),
    (["top", "--sort", "cals"], "--sort calls"),
    (["top", "--columns", "nmae"], "--columns name"),
    (["top", "--where", "calls >"], "cannot use --where"),
    (["top", "--name", "("], "regular expression"),
    (["top", "--fromat", "csv"], "--format"),
    (["top", "--format", "xml"], "table"),
    (["calls", "--from", "soon"], "soon"),
    (["top", "--session", "9"], "no session 9"),
    (["sql"], "needs a statement"),
    (["top", "--watch=now"], "now"),
])
def test_wrong_use_is_status_2_with_advice(query, recording, words, told):
    done = query(recording, *words)
    assert done.returncode == 2 and done.stdout == "" and told in done.stderr, done.stderr


# ---------------------------------------------------------------- SQL
def test_sql_reads_and_only_reads(query, recording):
    before = recording.read_bytes()
    assert query(recording, "sql", "SELECT count(*) AS n FROM kernel_stats").stdout == "n\n3\n"
    assert query(recording, "sql", "-", text="SELECT name FROM functions\nWHERE name REGEXP '^hipMalloc$';\n").stdout == "name\nhipMalloc\n"
    for statement in ("DELETE FROM call_", "CREATE TABLE t(a)", "ATTACH 'x.db' AS x", "PRAGMA journal_mode=WAL", "SELECT load_extension('x')", "VACUUM INTO 'copy.db'"):
        done = query(recording, "sql", statement)
        assert done.returncode == 1 and "cause:" in done.stderr, statement
    assert recording.read_bytes() == before


def test_sql_that_never_ends_is_cut(query, recording):
    started = time.monotonic()
    done = query(recording, "sql", "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "--timeout", "300ms")
    assert done.returncode == 1 and "longer than 0.3 s" in done.stderr and time.monotonic() - started < 30


def test_a_report_as_sql_gives_the_same_rows(query, recording):
    for report in REPORTS:
        sql = query(recording, report, "--sql")
        assert sql.returncode == 0, sql.stderr
        assert query(recording, "sql", sql.stdout).stdout == query(recording, report, "-f", "tsv").stdout, report


def test_shell_is_read_only(build, recording):
    child = pexpect.spawn(str(build.fade_query), [str(recording), "shell"], env=ENVIRONMENT, encoding="utf-8", timeout=20)
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
    script.write_text("import ctypes, time\nhip = ctypes.CDLL('libamdhip64.so.6')\nn = ctypes.c_int()\nwhile True:\n    hip.hipGetDeviceCount(ctypes.byref(n))\n    time.sleep(0.001)\n")
    process = subprocess.Popen([build.fade_run, "-q", "-o", tmp_path / "fade-live.db", "--", "/usr/bin/python3", script], env=build.environment("v6"), cwd=tmp_path)
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
    assert "recording" in query("list").stdout
    refused = query(database, "index")
    assert refused.returncode == 1 and "still being recorded" in refused.stderr


def test_watch_shows_new_numbers(build, query, endless):
    _, database = endless
    assert wait_for(lambda: database.exists() and calls_in(query, database) > 0)
    child = pexpect.spawn(str(build.fade_query), [str(database), "top", "--watch=0.2", "--columns", "name,calls", "--no-color"], env=ENVIRONMENT, encoding="utf-8", timeout=20)
    seen = set()
    for _ in range(40):
        child.expect(r"hipGetDeviceCount +([\d,]+)")
        seen.add(child.match.group(1))
        if len(seen) > 1:
            break
    child.close(force=True)
    assert len(seen) > 1


def test_a_recording_whose_fade_was_killed_says_so(query, endless):
    process, database = endless
    assert wait_for(lambda: database.exists() and calls_in(query, database) > 0)
    children = harness.descendants(process.pid)
    process.kill()
    process.wait()
    try:
        done = query(database, "summary", "-f", "table")
        assert done.returncode == 0 and "not closed cleanly (fade was killed, could not write, or is still running)" in done.stdout
        assert "hipGetDeviceCount" in done.stdout
        assert "state\tnot closed cleanly" in query(database, "info").stdout
        assert not pathlib.Path(f"{database}-wal").exists() or pathlib.Path(f"{database}-wal").stat().st_size == 0
        assert query(database, "sql", "SELECT count(*) > 0 AS some FROM calls").stdout == "some\n1\n"
    finally:
        for pid in children[1:]:
            os.kill(pid, signal.SIGKILL)


# ---------------------------------------------------------------- what a newcomer reads
def test_summary_of_the_demo(query, recording):
    text = query(recording, "-f", "table").stdout
    for words in ("fade-demo", "exit status 0", "AMD Radeon RX 6800 XT", "Top calls", "launches of 3 kernels", "Memory", "hipErrorOutOfMemory", "36 -> 72", "Next"):
        assert words in text, text


def test_summary_where_no_gpu_was_used(build, query, tmp_path):
    assert harness.run([build.fade_run, "-q", "-o", tmp_path / "none.db", "--", "/bin/true"], build.environment("v6"), tmp_path).status == 0
    assert "NOT USED  NOT_LOADED: no HIP library was ever loaded" in query("none.db", "-f", "table").stdout
    script = "import ctypes; ctypes.CDLL('libamdhip64.so.6')"
    assert harness.run([build.fade_run, "-q", "-o", tmp_path / "idle.db", "--", "/usr/bin/python3", "-c", script], build.environment("v6"), tmp_path).status == 0
    assert "NOT USED  LOADED_UNUSED" in query("idle.db", "-f", "table").stdout
    assert "none of the watched functions was ever called" in query("idle.db", "top").stderr


def test_names_in_a_recording_cannot_reach_the_terminal(build, query, recording, tmp_path):
    copy = tmp_path / "evil.db"
    copy.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE function_ SET name = name || char(27) || ']0;evil' || char(7) || char(155) || '31m' || char(8238) || char(10)")
    connection.execute("UPDATE session_ SET command = char(27) || '[2J' || command")
    connection.commit()
    connection.close()
    for form in ("table", "tsv", "csv", "json", "jsonl", "markdown", "line"):
        for report in ("top", "summary", "calls"):
            text = query(copy, report, "-f", form).stdout
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", text), (form, report)
    assert "\x1b" not in query("list", folder=tmp_path).stdout


def test_what_sqlite_says_of_a_recording_cannot_reach_the_terminal(query, recording, tmp_path):
    copy = tmp_path / "evil.db"
    copy.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(copy)
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'FROM', 'FROM \"' || char(27) || '[31m' || char(155) || '2J' || char(8238) || char(7) || '\", ') WHERE type = 'view'")
    connection.commit()
    connection.close()
    for report in ("summary", "top", "check"):
        text = query(copy, report).stderr
        assert "no such table" in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), text
