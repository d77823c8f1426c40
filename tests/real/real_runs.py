"""Runs programs natively and under fade-run, and reads what each says about the calls that were made.

A program prints "call NAME RESULT" for each of its calls in order and "count NAME N" at the end (called.hpp): that is
the truth. The database is what fade made of it. Knows the programs' output and the views "calls", "functions",
"sessions" and "override_hits"; knows nothing of how the programs are built.
"""
import collections
import itertools
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT = 400  # s; it only ends what hangs, also beside other builds
# Written by the compiler around main() and into <<<>>>; the programs' own list has only what they call themselves.
REGISTRATION = ("__hipRegister", "__hipUnregister")
# Frequent and empty: fade records them only when they are asked for.
HOT = ("hipGetDevice", "hipGetLastError", "hipPeekAtLastError", "hipPointerGetAttribute", "__hipPushCallConfiguration",
       "__hipPopCallConfiguration")


@dataclass
class Run:
    code: int
    stdout: str
    stderr: str
    database: Path = None

    def lines(self, kind):
        return [line.split(" ", 1)[1] for line in self.stdout.splitlines() if line.startswith(kind + " ")]

    def calls(self):
        """(name, result) in order; the result is None where the program cannot know it or it is a text."""
        pairs = [line.split(" ", 1) for line in self.lines("call")]
        return [(name, int(result) if result.lstrip("-").isdigit() else None) for name, result in pairs]

    def counts(self):
        return {name: int(n) for name, n in (line.split() for line in self.lines("count"))}

    def facts(self):
        return self.lines("fact")


def run(command, environment, database=None):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"{' '.join(command)}\ndid not end within {TIME_LIMIT} s; so far it wrote:\n"
                             f"{late.stdout or b''}\n{late.stderr or b''}") from None
    return Run(done.returncode, done.stdout, done.stderr, database)


def native(release, program, **more_variables):
    return run(release.command(program), {**release.environment, **release.variables(program), **more_variables})


class Supervisor:
    """fade-run with a fresh database for every run."""

    def __init__(self, fade_run, folder):
        self.fade_run = fade_run
        self.folder = folder
        self.numbers = itertools.count()

    def __call__(self, release, program, *options):
        database = self.folder / f"{release.version}-{program}-{next(self.numbers)}.db"
        # For the program alone: fade-run itself must not meet the other C library.
        variables = [word for item in release.variables(program).items() for word in ("-E", "=".join(item))]
        command = [self.fade_run, "--no-summary", "-o", database, *variables, *options, "--", *release.command(program)]
        return run(command, release.environment, database)


def rows(database, sql, *values):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute(sql, values).fetchall()


def recorded_calls(database):
    """(name, result) of the calls that the program made itself, in order: not those the runtime makes inside of one."""
    found = rows(database, "SELECT name, result FROM calls WHERE parent_id IS NULL ORDER BY id")
    return [(name, signed(result)) for name, result in found if not name.startswith(REGISTRATION)]


def recorded_counts(database):
    return dict(collections.Counter(name for name, _ in recorded_calls(database)))


def signed(value):
    """An int of the API, which the store may keep as the register had it."""
    return value if value is None or value < 1 << 31 else value - (1 << 32) if value < 1 << 32 else value


def assert_same_behaviour(plain, watched):
    assert (watched.code, watched.stdout) == (plain.code, plain.stdout), watched.stderr


def assert_recorded(watched, hidden=HOT):
    """The database holds every call the program says it made, in its order, with its results, and no other."""
    made = [(name, result) for name, result in watched.calls() if name not in hidden]
    found = [(name, result) for name, result in recorded_calls(watched.database)]
    assert [name for name, _ in found] == [name for name, _ in made]
    for position, ((name, expected), (_, result)) in enumerate(zip(made, found)):
        assert expected is None or result == expected, f"call {position}, {name}: {result}, the program got {expected}"


def assert_counted(watched, hidden=HOT):
    made = {name: n for name, n in watched.counts().items() if name not in hidden}
    assert recorded_counts(watched.database) == made


def assert_closed(watched):
    assert rows(watched.database, "SELECT clean FROM sessions") == [(1,)]
    assert rows(watched.database, "PRAGMA integrity_check") == [("ok",)]
    assert rows(watched.database, "SELECT n, reason FROM drops") == []
