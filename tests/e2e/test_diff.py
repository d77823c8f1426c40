"""Two recordings beside each other. The program makes the calls that it is told to make."""
import subprocess

import pytest

import harness
from queries import query  # noqa: F401 (fixture)


@pytest.fixture
def record(build, tmp_path):
    def run(name, words, *options):
        harness.run([build.fade_run, "-q", *options, "-o", tmp_path / name, "--",
                     build.tracees / "parts", *words.split()], build.environment("v6"), tmp_path)
        return tmp_path / name
    return run


def values(query, *words):
    answer = query(*words, "-f", "tsv")
    assert answer.returncode == 0, answer.stderr
    rows = [line.split("\t") for line in answer.stdout.splitlines()[1:]]
    return {(section, item): (before, after) for section, item, unit, before, after, *rest in rows}


def test_what_changed_is_told(record, query):
    record("a.db", "alloc launch=4 free copy")
    record("b.db", "alloc alloc launch=6 free copy fail")
    told = values(query, "diff", "a.db", "b.db")
    assert told["run", "kernel launches"] == ("4", "6")
    assert told["calls of functions", "hipMalloc"] == ("2", "3")  # one is for the copy
    assert told["errors", "hipSetDevice: hipErrorInvalidDevice"] == ("", "1")
    assert ("copies", "h2d pageable") not in told
    assert told["memory", "device 0, left at the end"] == ("0", str(1 << 20))
    assert values(query, "a.db", "diff", "b.db") == told
    assert {key: (after, before) for key, (before, after) in values(query, "diff", "b.db", "a.db").items()} == told


def test_a_recording_equals_itself(record, query):
    record("a.db", "alloc launch=4 free copy")
    assert values(query, "diff", "a.db", "a.db") == {}
    page = query("diff", "a.db", "a.db", "-f", "table").stdout
    assert "values are equal on both sides" in page and "only" not in page


def test_what_was_not_watched_is_not_called_gone(record, query):
    record("a.db", "alloc launch=4 free")
    record("b.db", "alloc launch=4 free", "-e", "all,-mem")
    page = query("diff", "a.db", "b.db", "-f", "table", COLUMNS="100").stdout
    assert "not all calls were watched: 79 functions" in " ".join(page.split()).replace("functions were left out",
                                                                                        "functions")
    assert "only before" in page
    assert not any(word in page for word in ("gone", "new", "freed"))


def test_noise_takes_several_runs(record, query):
    for _ in range(3):
        record("a.db", "launch=4", "--append")
        record("b.db", "launch=6", "--append")
    answer = query("diff", "a.db", "b.db", "-f", "tsv").stdout.splitlines()
    launches = next(line.split("\t") for line in answer if line.startswith("run\tkernel launches"))
    assert launches[3:] == ["4", "6", "2", "3", "3", "clear"]
    assert "Welch" in query("diff", "a.db", "b.db", "-f", "table").stdout
    record("c.db", "launch=6")
    assert "Nothing is known about noise" in query("diff", "a.db", "c.db", "-f", "table").stdout


@pytest.mark.parametrize("words, cause", [
    (("diff",), "diff takes two recordings"),
    (("diff", "a.db", "missing.db"), "cannot open missing.db"),
    (("diff", "a.db", "text.db"), "text.db"),
    (("diff", "a.db", "a.db", "a.db"), "cannot understand 'a.db'"),
])
def test_bad_input_is_refused(record, query, tmp_path, words, cause):
    record("a.db", "launch=4")
    (tmp_path / "text.db").write_text("no database")
    answer = query(*words)
    assert answer.returncode != 0 and cause in answer.stderr and "fix:" in answer.stderr
    assert answer.stdout == ""


def test_a_pipe_that_closes_is_no_error(build, record, tmp_path):
    record("a.db", "launch=4")
    record("b.db", "launch=6")
    done = subprocess.run(["sh", "-c", '"$1" diff a.db b.db | head -1', "sh", str(build.fade_query)],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("section\titem") and done.stderr == ""
