"""fade-query push and fade-run --push as the tests run them, and what a file has."""
import sqlite3
import subprocess

import pytest

import clickhouse
import harness
from queries import ENVIRONMENT


def push(build, *words, **environment):
    env = {**ENVIRONMENT, **clickhouse.environment(), **environment}
    return subprocess.run(
        [build.fade_query, "push", *map(str, words)], env=env, capture_output=True, text=True, timeout=200
    )


def start_push(build, *words):
    env = {**ENVIRONMENT, **clickhouse.environment()}
    return subprocess.Popen(
        [build.fade_query, "push", *map(str, words)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture
def record(build, tmp_path):
    def run(words="alloc copy launch=6 count fail sync free", name="run.db", *options, **environment):
        command = [build.fade_run, "-q", *options, "-o", tmp_path / name, "--", build.tracees / "parts", *words.split()]
        assert harness.run(command, build.environment("v6", **environment), tmp_path).status == 0
        return tmp_path / name

    return run


def many_calls(path, calls):
    """The rows of calls again and again, with the next ids and later times, to the wanted number."""
    with sqlite3.connect(path) as db:
        most, span = db.execute("SELECT max(id), max(ts) + 1 FROM call_").fetchone()
        columns = "ts, dur, thread, fn, caller, up, result, launch, id"
        while most < calls:  # twice as many each time
            values = f"ts + {span}, dur, thread, fn, caller, up, result, launch, id + {most}"
            db.execute(f"INSERT INTO call_({columns}) SELECT {values} FROM call_ WHERE id <= {calls - most}")
            most, span = min(2 * most, calls), 2 * span
        db.execute("UPDATE session_ SET last_call = ?", [calls])
    db.close()
    return path


def view_rows(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        rows = db.execute(sql).fetchall()
    db.close()
    return rows


def run_with_push(build, folder, url, name, words="alloc launch=9 wait copy free", *options, **environment):
    env = build.environment("v6", **{"FADE_JOB": name, **clickhouse.environment(), **environment})
    command = [
        build.fade_run,
        "--no-summary",
        *options,
        "--push",
        url,
        "-o",
        folder / f"{name}.db",
        "--",
        build.tracees / "parts",
        *words.split(),
    ]
    return subprocess.Popen(
        command, env=env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
