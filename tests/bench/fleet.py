"""How long the reports of fade-query --on take over millions of rows on one server: a job of 1024 ranks, 3240 steps.

The recordings of the tests' job are sent, and then multiplied inside the server.
python3 tests/bench/fleet.py --build-dir build/release
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import clickhouse  # noqa: E402  (needs the path above)
import fleets  # noqa: E402
from harness import Build  # noqa: E402

RANKS, LENGTH = 16, 270  # times as many ranks, and times as long
LONG = {"steps", "collective_calls", "rank_steps"}  # tables that grow with time, and that reports read
REPORTS = "jobs ranks stragglers top kernels steps errors verdict memory libraries devices diff".split()
MOVED = {
    "recording": "recording + k * 1000003",
    "rank": f"rank + k * {fleets.RANKS}",
    "host": "if(k = 0, host, concat(host, '-', toString(k)))",  # that of the rows that are there already
    "idx": f"idx + j * {fleets.STEPS}",
    "step": f"step + j * {fleets.STEPS}",
    "nth": f"nth + j * {fleets.STEPS}",
    "id": "id + j * 1000000",
    "start": "start + j * 5400000000",
    "gpu_start": "gpu_start + j * 5400000000",
    "gpu_end": "gpu_end + j * 5400000000",
}


def query(build, *words):
    env = {**os.environ, **clickhouse.environment()}
    return subprocess.run(
        [build.fade_query, *map(str, words)], env=env, capture_output=True, text=True, check=True
    ).stdout


def multiply(server):
    names = {name for name, in server.ask("SHOW TABLES", database="fade")}
    rows = 0
    for table in sorted(names):
        if table.endswith("_all") or table == "fade_schema":
            continue
        into = table if f"{table}_all" not in names else f"{table}_all"
        columns = [
            name
            for name, kind in server.ask(
                f"SELECT name, default_kind FROM system.columns WHERE database = 'fade' AND table = '{into}'"
            )
            if not kind
        ]
        long = LENGTH if table in LONG else 1
        plain = ", ".join(f'"{name}"' for name in columns)
        # The names of the moved columns would stand for their old values, so both have other names on the way.
        inner = ", ".join(f'"{name}" AS "{name}_"' for name in columns)
        outer = ", ".join(
            " ".join(w + "_" if w in columns else w for w in tokens(MOVED[name])) if name in MOVED else f'"{name}_"'
            for name in columns
        )
        server.ask(
            f"INSERT INTO {into} ({plain}) SELECT {outer} FROM (SELECT {inner}, arrayJoin(range({RANKS})) AS k, "
            f"arrayJoin(range({long})) AS j FROM {into}) WHERE k + j > 0",
            database="fade",
            max_insert_block_size=200000,
            min_insert_block_size_rows=200000,
            max_block_size=32,  # rows before they are multiplied
        )
        rows += server.number(f"SELECT count() FROM {into}")
    return rows


def tokens(expression):
    out, word = [], ""
    for c in expression:
        if c.isalnum() or c == "_":
            word += c
            continue
        out += [word, c] if word else [c]
        word = ""
    return [t for t in out + [word] if t.strip()]


def processor_time(process):
    """Of all threads of the server, in seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", default=str(ROOT / "build" / "release"))
    build = Build(pathlib.Path(parser.parse_args().build_dir).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = clickhouse.Server(folder / "server").start()
        try:
            query(build, "push", server.url, "--init")
            (folder / "job").mkdir()
            query(build, "push", server.url, "--job", "big", *fleets.make_job(build, folder / "job"))
            print(f"{multiply(server):,} rows; load {os.getloadavg()[0]:.1f}")
            for report in REPORTS:
                begun, used = time.monotonic(), processor_time(server.process)
                lines = (
                    query(build, "--on", server.url, report, "--job", "big", "-f", "tsv", "--limit", "50").count("\n")
                    - 1
                )
                wall, used = time.monotonic() - begun, processor_time(server.process) - used
                print(f"{report:12} {wall:6.2f} s, {used:6.2f} s of processors, {lines} rows shown")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
