"""Recordings with and without times of the GPU, and the files of other profilers of the same run, for tests of
import."""

import json
import shutil
import sqlite3
import subprocess

import pytest

import harness
from queries import ENVIRONMENT
from gpu_works import recorded

TIMES = [
    f"gpu_{name}_"
    for name in ("kernel", "work", "stat", "second", "count", "span", "busy", "gap", "idle", "delay", "copy", "step")
]

FILES = ["out.db", "out.pt.trace.json.gz"]


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("import")
    recorded(build, "gpu_work 300 3 4", folder)
    return folder / "run.db"


def run(build, *words, folder=None, **more):
    return subprocess.run(
        [build.fade_query, *map(str, words)],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
        **more,
    )


def without_times(recording, path):
    shutil.copy(recording, path)
    connection = sqlite3.connect(path)
    for table in TIMES:
        connection.execute(f"DELETE FROM {table}")
    connection.commit()
    connection.close()
    return path


@pytest.fixture(scope="module", params=FILES)
def trace(build, recording, request):
    file = recording.parent / request.param
    if not file.exists():
        assert run(build, "export", recording, "-o", file).returncode == 0
    return file


@pytest.fixture(scope="module")
def rocpd(build, recording):
    file = recording.parent / "only.db"
    assert run(build, "export", recording, "-o", file).returncode == 0
    return file


def content(path):
    connection = sqlite3.connect(path)
    return "\n".join(connection.iterdump())


def changed_rocpd(rocpd, path, *statements):
    """`statements` know the file's suffix as {0}."""
    shutil.copy(rocpd, path)
    connection = sqlite3.connect(path)
    suffix = connection.execute("SELECT value FROM rocpd_metadata WHERE tag = 'uuid'").fetchone()[0]
    for statement in statements:
        connection.execute(statement.format(suffix))
    connection.commit()
    connection.close()
    return path


# ---------------------------------------------------------------- operators


def kineto(recording, path, events, **more):
    path.write_text(
        json.dumps(
            {
                "schemaVersion": 1,
                "traceEvents": events,
                "baseTimeNanoseconds": harness.Database(recording).value("SELECT start_ns FROM sessions"),
                **more,
            }
        )
    )
    return path


def event(name, category, pid, tid, start, end, **args):
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": start / 1000,
        "dur": (end - start) / 1000,
        "args": args,
    }
