"""Words and values that fade cannot use: the first line says what was meant, and none is taken for something else."""
import os
import subprocess

import pytest

import harness

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    command = [build.fade_run, "-q", "-o", folder / "run.db", "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "run.db"


@pytest.fixture
def say(build, recording):
    """The standard error of one of the programs that must refuse, with status 1 or 2."""
    def ask(program, *words):
        done = subprocess.run([program, *words], cwd=recording.parent, env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode in (1, 2, 125), done.stdout
        assert done.stdout == ""
        return done.stderr
    return ask


def beside(build, name):
    return build.folder / "cli" / name / ("fade" if name == "fade" else f"fade-{name}")


@pytest.mark.parametrize("program, words, first", [
    ("fade", ["querry"], "unknown command 'querry' (did you mean 'query'?)"),
    ("query", ["topp"], "there is no report 'topp' (did you mean 'top'?)"),
    ("query", ["run.db", "top", "--sort", "totl"], "report top has no column 'totl' (did you mean 'total'?)"),
    ("query", ["run.db", "schema", "cals"], "there is no view 'cals' (did you mean 'calls'?)"),
    ("query", ["run.db", "kernels", "--rank", "0"], "report kernels has no --rank"),
    ("query", ["run.db", "overhead", "--rank", "0"], "report overhead has no --rank"),
    ("query", ["run.db", "drops", "--rank", "0"], "report drops has no --rank"),
    ("query", ["run.db", "code", "--rank", "0"], "report code has no --rank"),
    ("query", ["run.db", "summary", "--rank", "0"], "report summary has no --rank"),
    ("query", ["run.db", "check", "--rank", "0"], "report check has no --rank"),
    ("query", ["run", "verdict"], "there is no file or report 'run' (did you mean 'run.db'?)"),
    ("query", ["top", "--limti", "3"], "unknown option '--limti' (did you mean '--limit'?)"),
    ("run", ["--detail", "ful", "true"], "'ful' is not one of stats, calls, full (did you mean 'full'?)"),
    ("run", ["--detail", "calls,mem=ful", "true"], "'ful' is not one of stats, calls, full (did you mean 'full'?)"),
    ("run", ["--detail", "calls,memm=full", "true"], "--detail: no group is called 'memm' (did you mean 'mem'?)"),
    ("attach", ["--detail", "mem=full,memory=stats", "1"], "--detail: the group 'mem' is named twice"),
    ("trace", ["--detail", "calls,stats", "true"], "--detail: two levels are for all other groups"),
    ("run", ["--stacks", "al", "true"], "'al' is not understood (did you mean 'all' or 'alloc'?)"),
    ("run", ["--stacks", "aloc", "true"], "'aloc' is not understood (did you mean 'alloc'?)"),
])
def test_the_first_line_says_what_was_meant(build, say, program, words, first):
    said = say(beside(build, program), *words)
    assert first in said.splitlines()[0]
    assert "fix:   fade-run --help\n" not in said and "fix:   fade-query --help\n" not in said


@pytest.mark.parametrize("words, why", [
    (["-d", "0"], "nothing can be recorded in no time"),
    (["--max-size", "1"], "less than 1M"),
    (["-o", "x/y/z.db"], "directory x/y does not exist"),
    (["-o", "/tmp"], "it is a directory"),
])
def test_values_that_would_record_nothing_are_refused(build, say, words, why):
    assert why in say(build.fade_run, *words, "--", "true")


def test_the_nearest_view_is_named(build, say):
    assert "no such table: cals (did you mean 'calls'?)" in say(build.fade_query, "sql", "SELECT * FROM cals")


def test_an_unknown_ending_is_an_error(build, say, recording):
    assert "unknown ending '.html'" in say(build.fade_query, "top", "-o", "out.html").splitlines()[0]
    assert not (recording.parent / "out.html").exists()


@pytest.fixture
def answer(build, recording):
    def ask(program, *words):
        done = subprocess.run([beside(build, program), *words], cwd=recording.parent,
                              env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


def test_a_recording_is_found_whatever_its_name(answer, recording):
    (recording.parent / "results").write_bytes(recording.read_bytes())
    (recording.parent / "notes.db").write_text("SQLite format 3, and more")
    listed = answer("query", "list", "--columns", "file")
    assert sorted(listed.split()[1:]) == ["results", "run.db"]
    assert answer("query", "top", "results") == answer("query", "top") == answer("query", "results", "top")


def test_reports_are_commands_of_fade(build, answer, recording):
    environment = {**ENVIRONMENT, "PATH": f"{build.folder / 'cli' / 'query'}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run([beside(build, "fade"), "leaks", recording], env=environment,
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == answer("query", recording, "leaks")
    assert answer("fade", "version").startswith("fade ")


def test_other_words_for_a_report_are_understood(answer):
    assert answer("query", "hotspots") == answer("query", "top")


def test_scaled_times_have_three_decimals(answer):
    rows = answer("query", "top", "--units=us", "-f", "csv", "--columns", "total_ns", "-n", "20").split()[1:]
    assert rows and all(len(value.partition(".")[2]) <= 3 for value in rows)


# ---------------------------------------------------------------- names as a table shows them
@pytest.mark.parametrize("shown, named", [
    (["--sort", "-total", "-n", "5"], ["--sort", "-total_ns", "-n", "5"]),
    (["--columns", "name,Total"], ["--columns", "name,total_ns"]),
    (["--where", "total > 1000 AND name <> 'total'"], ["--where", "total_ns > 1000 AND name <> 'total'"]),
    (["--where", '"total" > 1000'], ["--where", "total_ns > 1000"]),
])
def test_headings_are_names_of_columns(answer, shown, named):
    assert answer("query", "top", *shown) == answer("query", "top", *named)


def test_yes_and_no_are_values_of_a_yes_or_no_column(answer):
    rows = lambda where: answer("query", "props", "--where", where)  # noqa: E731
    columns = [line.split("\t")[0] for line in answer("query", "reports", "props").splitlines() if "\tyesno\t" in line]
    for column in columns:
        assert rows(f"{column} = 'yes'") == rows(f"{column} = 1")
        assert rows(f"{column} <> 'no'") == rows(f"{column} <> 0")
