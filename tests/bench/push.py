"""Processor time of fade-query push and of the server, for calls alone and for calls with launches.

python3 tests/bench/push.py --build-dir build/release [--calls 2400000] [--rounds 3] [--beside OTHER-FADE-QUERY]
"""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import clickhouse  # noqa: E402  (needs the path above)
import harness  # noqa: E402
from pushes import many_calls  # noqa: E402

PROGRAM = "alloc copy launch=60 count fail sync free".split()


def recordings(build, folder, calls):
    """Of the same calls: without launches, and with them."""
    for name, change in (("calls", "UPDATE call_ SET launch = NULL; DELETE FROM launch_"), ("calls and launches", "")):
        path = folder / f"{name.replace(' ', '-')}.db"
        command = [build.fade_run, "-q", "-o", path, "--", build.tracees / "parts", *PROGRAM]
        assert harness.run(command, build.environment("v6"), folder).status == 0
        with sqlite3.connect(path) as db:
            db.executescript(change)
        db.close()
        yield name, many_calls(path, calls)


def processor_time(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def push(program, server, path, job):
    """Rows, and seconds of the client and of the server."""
    before = processor_time(server.process.pid)
    env = {**os.environ, **clickhouse.environment()}
    client = subprocess.Popen([program, "push", server.url, path, "--job", job], env=env, stderr=subprocess.PIPE)
    said = client.stderr.read().decode()
    _, status, used = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    assert client.returncode == 0, said
    rows = int(said.split(": ")[2].split(" row")[0].replace(",", ""))
    wire = said.split(", ")[-1].split(" compressed")[0]
    return rows, used.ru_utime + used.ru_stime, processor_time(server.process.pid) - before, wire


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", default=str(ROOT / "build" / "release"))
    parser.add_argument("--calls", type=int, default=2_400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", help="another fade-query, by turns")
    words = parser.parse_args()
    build = harness.Build(pathlib.Path(words.build_dir).resolve())
    programs = [one for one in (words.beside, build.fade_query) if one]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = clickhouse.Server(folder / "server").start()
        try:
            push_init = [build.fade_query, "push", server.url, "--init"]
            subprocess.run(push_init, env={**os.environ, **clickhouse.environment()}, check=True, capture_output=True)
            for kind, path in recordings(build, folder, words.calls):
                best = {}
                for turn in range(words.rounds):
                    for program in programs:
                        one = push(program, server, path, f"{kind}-{turn}-{programs.index(program)}")
                        best[program] = [min(pair) for pair in zip(best.get(program, one), one)]
                for program, (rows, client, far, wire) in best.items():
                    print(
                        f"{kind:20} {str(program)[-30:]:30} {rows:,} rows, {wire}:"
                        f" client {client:.2f} s ({rows / client:,.0f} rows/s), server {far:.2f} s ({rows / far:,.0f} "
                        f"rows/s)"
                    )
        finally:
            server.stop()


if __name__ == "__main__":
    main()
