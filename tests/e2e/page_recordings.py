"""Recordings for the tests of fade-query page and serve."""
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import browser
import harness
from queries import ENVIRONMENT

PATIENCE = 90
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "a" * 10_000,
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "]]>&amp;<!--",
]


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.1)
    return value


@pytest.fixture(scope="module")
def record(build, tmp_path_factory):
    """Records a tracee, or the words of another program, and returns the recording."""

    def run(line, *options, program=None, **environment):
        folder = tmp_path_factory.mktemp("page")
        command = program or build.command(line)
        harness.run(
            [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *command],
            {**build.environment("v6"), **environment},
            folder,
        )
        return folder / "run.db"

    return run


@pytest.fixture(scope="module")
def train(build, record):
    return record("", "-k", "all", program=["/usr/bin/python3", build.demo / "train.py"])


@pytest.fixture(scope="module")
def worked(build, record, tmp_path_factory):
    """With times of the GPU."""
    libraries = f"{build.environment('v6')['LD_LIBRARY_PATH']}:{build.runtimes / 'hsa'}"
    truth = tmp_path_factory.mktemp("truth") / "truth"
    return record("gpu_work 300 2 4", "--gpu-times", LD_LIBRARY_PATH=libraries, FADE_STANDIN_HSA=str(truth))


def with_hostile_names(path, folder):
    """A copy of a recording in which functions, threads, frames, the command and the machine have hostile names."""
    copy = folder / "hostile.db"
    shutil.copy(path, copy)
    with contextlib.closing(sqlite3.connect(copy)) as database, database:
        for place, text in enumerate(HOSTILE):
            database.execute(
                "UPDATE function_ SET name = ? WHERE id = "
                "(SELECT id FROM function_ JOIN call_stat_ ON fn = id GROUP BY id LIMIT 1 OFFSET ?)",
                (text, place),
            )
        database.execute("UPDATE thread_ SET name = ?", (HOSTILE[1],))
        database.execute("UPDATE frame_ SET name = ?", (HOSTILE[0],))
        database.execute("UPDATE session_ SET command = ?, host = ?", (HOSTILE[0], HOSTILE[4]))
    return copy


def has_a_call(build, path):
    if not path.exists():
        return False
    asked = subprocess.run(
        [build.fade_query, path, "sql", "SELECT count(*) > 0 FROM call_stats"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    return asked.stdout.strip().endswith("1")


@contextlib.contextmanager
def under_way(build, folder):
    """A recording of a program that goes on calling, and a function that kills fade and the program."""
    path = folder / "live.db"
    fade = subprocess.Popen(
        [build.fade_run, "-q", "-o", path, "--", *build.command("bursts 20 1000000 50")],
        env=build.environment("v6"),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    seen = [fade.pid]

    def kill():
        if fade.poll() is None:
            seen[1:] = [pid for pid in harness.descendants(fade.pid) if pid != fade.pid]
        fade.kill()
        fade.wait()
        for pid in seen[1:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        seen[1:] = []

    try:
        wait_for(lambda: has_a_call(build, path), "a call")
        yield path, kill
    finally:
        kill()


@pytest.fixture(scope="module")
def chromium():
    if not browser.PROGRAM:
        pytest.skip(browser.NEEDS_BROWSER)
    return browser.Browser
