#!/usr/bin/python3
"""What fade-query export takes for a timeline of many calls: tests/bench/timeline.py --build-dir BUILD --calls 1000000

Records the demo, adds as many calls as asked for by writing the tables (every third a launch, each with arguments), and
exports in each format. Prints processor time, wall time, the highest memory and the size of the file. Nothing here is a
test.
"""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402


def record(build, path):
    command = [build.fade_run, "-q", "--detail", "full", "-o", path, "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), path.parent).status == 0


def add_calls(path, count):
    database = sqlite3.connect(path)
    last, launch, kernel = database.execute(
        "SELECT (SELECT max(id) FROM call_), launch, fn FROM call_ WHERE launch IS NOT NULL LIMIT 1").fetchone()
    thread, other, caller = database.execute(
        "SELECT (SELECT min(id) FROM thread_), (SELECT id FROM function_ WHERE name = 'hipMalloc'), (SELECT max(id) "
        "FROM call_site_)").fetchone()
    rows = ((last + i, 10**9 + i * 1000, 700, thread, other if i % 3 else kernel, caller, None if i % 3 else launch)
            for i in range(1, count + 1))
    database.executemany("INSERT INTO call_ (id, ts, dur, thread, fn, caller, launch) VALUES (?, ?, ?, ?, ?, ?, ?)",
                         rows)
    database.executemany("INSERT INTO arg_ VALUES (?, ?)",
                         ((last + i, f'{{"ptr":"0x7f{i * 4096:010x}","size":{i * 16}}}') for i in range(1, count + 1)))
    database.execute("UPDATE session_ SET end_ns = start_ns + ?", (10**9 + count * 1000,))
    database.commit()


def measure(build, recording, form):
    with tempfile.NamedTemporaryFile(dir=recording.parent) as out:
        begun = time.monotonic()
        process = subprocess.Popen([build.fade_query, "export", "--format", form, recording], stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        size = os.stat(out.name).st_size
        print(f"{form:9} {used.ru_utime + used.ru_stime:6.1f} s CPU {time.monotonic() - begun:6.1f} s "
              f"{used.ru_maxrss / 1024:6.0f} MiB at most, file {size / 2**20:6.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--calls", type=int, default=1_000_000)
    wanted = parser.parse_args()
    build = harness.Build(wanted.build_dir.resolve())
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "run.db"
        record(build, recording)
        add_calls(recording, wanted.calls)
        for form in ("perfetto", "chrome", "kineto"):
            measure(build, recording, form)


main()
