"""fade-query on a real recording: terminals and pipes, output files, wrong use, texts for newcomers."""
import csv
import io
import json
import os
import re
import sqlite3
import subprocess

import pytest

import harness
from queries import ENVIRONMENT, REPORTS, on_terminal, query, recording  # noqa: F401 (fixtures)


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
    assert re.search(r"^name +calls$", on_terminal(build, [recording, "top", "--columns", "name,calls", "--no-color"]),
                     re.M)


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
    done = subprocess.run(f"{build.fade_query} {recording} calls --format jsonl | head -n 1",
                          shell=True, env=ENVIRONMENT, capture_output=True, text=True)
    assert json.loads(done.stdout)["id"] == 1 and done.stderr == ""


def test_a_full_disk_is_an_error(build, recording):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.fade_query, recording, "calls"], stdout=full,
                              stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert done.returncode == 1 and "No space left on device" in done.stderr


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


# ---------------------------------------------------------------- what a newcomer reads
def test_summary_of_the_demo(query, recording):
    text = query(recording, "-f", "table").stdout
    for words in ("fade-demo", "exit status 0", "AMD Radeon RX 6800 XT", "Top calls",
                  "launches of 3 kernels", "Memory", "hipErrorOutOfMemory", "36 -> 72", "Next"):
        assert words in text, text


def test_summary_where_no_gpu_was_used(build, query, tmp_path):
    assert harness.run([build.fade_run, "-q", "-o", tmp_path / "none.db", "--", "/bin/true"],
                       build.environment("v6"), tmp_path).status == 0
    assert "NOT USED  NOT_LOADED: no HIP library was ever loaded" in query("none.db", "-f", "table").stdout
    script = "import ctypes; ctypes.CDLL('libamdhip64.so.6')"
    assert harness.run([build.fade_run, "-q", "-o", tmp_path / "idle.db", "--", "/usr/bin/python3", "-c", script],
                       build.environment("v6"), tmp_path).status == 0
    assert "NOT USED  LOADED_UNUSED" in query("idle.db", "-f", "table").stdout
    assert "none of the watched functions was ever called" in query("idle.db", "top").stderr


def test_names_in_a_recording_cannot_reach_the_terminal(build, query, recording, tmp_path):
    copy = tmp_path / "evil.db"
    copy.write_bytes(recording.read_bytes())
    connection = sqlite3.connect(copy)
    connection.execute(
        "UPDATE function_ SET name = name || char(27) || ']0;evil' || char(7) || char(155) || '31m' || char(8238) || "
        "char(10)")
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
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(sql, 'FROM', 'FROM \"' || char(27) || '[31m' || char(155) || '2J' || "
        "char(8238) || char(7) || '\", ') WHERE type = 'view'")
    connection.commit()
    connection.close()
    for report in ("summary", "top", "check"):
        text = query(copy, report).stderr
        assert "no such table" in text and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), text
