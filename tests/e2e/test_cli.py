"""The command lines: what is said where, exit statuses, the database. Each test starts real programs."""
import os
import pathlib
import re
import signal
import sqlite3
import subprocess

import pytest

from programs import fade, run  # noqa: F401 (fixtures)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["fade-run", "fade-attach", "fade-trace", "fade-top", "fade-query"]


# ---------------------------------------------------------------- asking
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("option", ["-h", "--help", "--help-all"])
def test_help_goes_to_stdout(fade, program, option):
    done = fade(program, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: {program} ")


@pytest.mark.parametrize("program", PROGRAMS)
def test_short_help_is_one_screen(fade, program):
    lines = fade(program, "--help").stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("program", PROGRAMS)
def test_long_help_has_examples_and_every_option(fade, program):
    text = fade(program, "--help-all").stdout
    assert "Examples:" in text and f"man {program}" in text
    assert set(re.findall(r"--[a-z][a-z-]+", fade(program, "--help").stdout)) <= set(
        re.findall(r"--[a-z][a-z-]+", text))


@pytest.mark.parametrize("program", PROGRAMS)
def test_version_is_one_line(fade, program):
    assert re.fullmatch(rf"{program} \d+\.\d+\.\d+ \(schema \d+(, [a-z]+ [\d.]+)*\)\n",
                        fade(program, "--version").stdout)


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program != "fade-top"])
def test_a_mistyped_option_is_refused_with_the_near_one(fade, program):
    done = fade(program, "--ouput", "z")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{program}: unknown option '--ouput' (did you mean '--output'?)\n")


def test_the_dispatcher_starts_its_neighbours(fade):
    neighbours = {"PATH": ":".join([*(os.path.dirname(fade.path(name)) for name in PROGRAMS), os.environ["PATH"]])}
    assert fade("fade", "run", "--version", env=neighbours).stdout.startswith("fade-run ")
    assert fade("fade", "attach", "--version", env=neighbours).stdout.startswith("fade-attach ")
    assert fade("fade", "query", "--version", env=neighbours).stdout.startswith("fade-query ")
    assert fade("fade", "--version").stdout.startswith("fade ")
    assert "run a program" in fade("fade", "help").stdout
    assert "--kernel-include-regex" in fade("fade", "help", "run", env=neighbours).stdout


def test_the_dispatcher_refuses_what_it_does_not_know(fade):
    done = fade("fade", "rnu")
    assert done.returncode == 2 and "did you mean 'run'?" in done.stderr
    assert fade("fade").returncode == 2


# ---------------------------------------------------------------- fade-run and the program it starts
@pytest.mark.parametrize("status", [0, 1, 7, 125, 255])
def test_the_exit_status_is_the_programs(fade, tmp_path, status):
    assert run(fade, tmp_path, "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGUSR1])
def test_fade_dies_of_the_programs_signal(fade, tmp_path, number):
    assert run(fade, tmp_path, "sh", "-c", f"kill -{number.value} $$").returncode == -number
    assert not list(tmp_path.glob("core*"))


def test_standard_streams_belong_to_the_program(fade, tmp_path):
    done = run(fade, tmp_path, "--", "sh", "-c", "cat; echo to stderr >&2", stdin="to stdin")
    assert done.stdout == "to stdin"
    assert "to stderr\n" in done.stderr
    assert re.search(r"^fade: recording sh \(pid \d+\) to fade-sh-\d+\.db$", done.stderr, re.M)


# Results that nobody can get are an error, as for every other program; documented in each manual.
RESULTS = [("fade-run", "--help", 125), ("fade-run", "--list-probes", 125),
           ("fade-run", "--set device.0.warpSize=64 --dry-run -- true", 125),
           ("fade-run", "--version", 125), ("fade-attach", "--help-all", 1), ("fade-attach", "--list-probes", 1),
           ("fade-attach", "--check 1", 1),
           ("fade-query", "--help", 1), ("fade-query", "run.db", 1), ("fade-query", "run.db calls", 1),
           ("fade-query", "run.db schema", 1),
           ("fade-query", "run.db sql 'SELECT 1'", 1), ("fade-query", "list", 1), ("fade-query", "probes", 1),
           ("fade-query", "run.db info --format json", 1), ("fade-query", "run.db verdict", 1),
           ("fade-query", "run.db postmortem", 1)]


@pytest.mark.parametrize("where, cause", [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")])
@pytest.mark.parametrize("program, words, status", RESULTS, ids=lambda one: str(one).replace(" ", "_"))
def test_what_cannot_be_written_is_an_error(fade, tmp_path, program, words, status, where, cause):
    assert run(fade, tmp_path, "-q", "-o", "run.db", "--", "true").returncode == 0
    done = subprocess.run(["sh", "-c", f'"{fade.path(program)}" {words} {where}'],
                          cwd=tmp_path, env=fade.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    assert done.stderr.splitlines()[-2:] == [f"{program}: cannot write standard output", f"  cause: {cause}"]


def test_closed_streams_stay_closed_for_the_program(fade, tmp_path):
    script = f'exec "{fade.path("fade-run")}" -o x.db sh -c "ls -l /proc/self/fd > fds" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=fade.environment, timeout=60)
    assert done.returncode == 0
    listed = (tmp_path / "fds").read_text()
    assert "/dev/null" not in listed and "x.db" not in listed
    assert sqlite3.connect(tmp_path / "x.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_quiet_means_quiet(fade, tmp_path):
    assert run(fade, tmp_path, "-q", "true").stderr == ""


def test_a_missing_program_is_127(fade, tmp_path):
    done = run(fade, tmp_path, "no-such-program")
    assert done.returncode == 127 and "no-such-program" in done.stderr
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.parametrize("make", [lambda p: p.write_text("#!/bin/sh\n"), lambda p: p.mkdir()],
                         ids=["no x bit", "folder"])
def test_what_cannot_be_executed_is_126(fade, tmp_path, make):
    make(tmp_path / "thing")
    done = run(fade, tmp_path, "./thing")
    assert done.returncode == 126 and "thing" in done.stderr


def test_no_command_is_an_error_of_usage(fade, tmp_path):
    done = run(fade, tmp_path, "-o", "x.db")
    assert done.returncode == 2 and "no command given" in done.stderr


def test_environment_and_folder_of_the_program(fade, tmp_path):
    (tmp_path / "there").mkdir()
    done = run(fade, tmp_path, "-E", "GIVEN=a=b", "-E", "TAKEN", "--chdir", "there",
               "sh", "-c", 'echo "$GIVEN|$TAKEN|$PWD"',
               env={"TAKEN": "x"})
    assert done.stdout == f"a=b||{tmp_path / 'there'}\n"


# ---------------------------------------------------------------- the database
def test_the_output_name_is_expanded(fade, tmp_path):
    run(fade, tmp_path, "-o", "%q{JOB}-%e-%n.db", "true", env={"JOB": "a/b"})
    assert (tmp_path / "a_b-true-1.db").exists()


@pytest.mark.parametrize("name", [":memory:", "file:x.db", "file:x.db?mode=memory",
                                  "-x.db", " ", "new\nline.db", b"\xff.db"])
def test_the_output_may_have_any_name(fade, tmp_path, name):
    assert run(fade, tmp_path, "-o", name, "true").returncode == 0
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [os.fsencode(name)]
    asked = fade("fade-query", *(["--"] if name == "-x.db" else []), name, "processes", cwd=tmp_path)
    assert asked.returncode == 0 and "true" in asked.stdout


def test_an_existing_file_is_left_alone(fade, tmp_path):
    (tmp_path / "x.db").write_text("precious")
    done = run(fade, tmp_path, "-o", "x.db", "touch", "started")
    assert done.returncode == 125 and "x.db" in done.stderr and "--force" in done.stderr
    assert (tmp_path / "x.db").read_text() == "precious"
    assert not (tmp_path / "started").exists()


def sessions(path):
    with sqlite3.connect(path) as database:
        return database.execute("SELECT count(*) FROM sessions").fetchone()[0]


def test_force_replaces_and_append_adds(fade, tmp_path):
    for options, expected in (([], 1), (["--append"], 2), (["--force"], 1)):
        assert run(fade, tmp_path, "-o", "x.db", *options, "true").returncode == 0
        assert sessions(tmp_path / "x.db") == expected


def test_all_sessions_are_named(fade, tmp_path):
    run(fade, tmp_path, "-o", "x.db", "true")
    run(fade, tmp_path, "-o", "x.db", "--append", "false")
    page = " ".join(fade("fade-query", "x.db", "summary", "--session", "all", cwd=tmp_path).stdout.split())
    assert page.startswith("2 sessions session 1: true, exit status 0") and "session 2: false, exit status 1" in page


def test_a_folder_that_is_not_there_is_named(fade, tmp_path):
    done = run(fade, tmp_path, "-o", "nowhere/x.db", "touch", "started")
    assert done.returncode == 125 and "nowhere/x.db" in done.stderr
    assert not (tmp_path / "started").exists()


def test_the_database_is_its_owners_alone(fade, tmp_path):
    run(fade, tmp_path, "-o", "x.db", "true")
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o600
