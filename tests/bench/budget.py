#!/usr/bin/python3
"""What --budget saves: how much longer programs take under fade-run with a budget and without one.

    /usr/bin/python3 tests/bench/budget.py --build-dir BUILD [--rounds 3] [--budget 3%]

Each round runs every program alone, under fade-run, and under fade-run with the budget. The lives are the shortest of all rounds.
fade needs a second for each step, so the programs run for some seconds. "last" is how the function was recorded at the end.
Nothing here is a test. Needs a build with -DFADE_BENCHMARKS=ON."""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

PROGRAMS = {  # what bench_calls is told: function, calls, threads, ns of work between two calls
    "hipGetDeviceCount, 200 ns of work between": ("hipGetDeviceCount", 20_000_000, 1, 200),
    "hipGetDeviceCount, 2 us of work between": ("hipGetDeviceCount", 4_000_000, 1, 2_000),
    "hipMemcpy, 2 us of work between": ("hipMemcpy", 4_000_000, 1, 2_000),
}
STEPS = {None: "rows", 0: "rows", 1: "sums", -1: "counts"}


def life(command, environment):
    began = time.monotonic()
    subprocess.run(command, env=environment, check=True)
    return time.monotonic() - began


def last_step(database):
    with sqlite3.connect(database) as recording:
        row = recording.execute("SELECT value FROM lifecycle WHERE kind = 'budget' ORDER BY id DESC LIMIT 1").fetchone()
    step = row[0] if row else None
    return STEPS.get(step, f"every {step}th")


def measure(build, arguments, budget, rounds, folder):
    command = [str(build / "tests" / "bench" / "bench_calls"), *map(str, arguments)]
    environment = {"LD_LIBRARY_PATH": str(build / "tests" / "runtime" / "v6"), "LC_ALL": "C.UTF-8"}
    database = f"{folder}/run.db"
    fade = [str(build / "cli" / "run" / "fade-run"), "-q", "--force", "-e", "all,hot", "-o", database]
    forms = ([*command], [*fade, "--", *command], [*fade, "--budget", budget, "--", *command])
    lives = [min(life(form, environment) for _ in range(rounds)) for form in forms]
    return *lives, last_step(database)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", default="3%", help="(default: %(default)s)")
    options = parser.parse_args()
    print(f"| program | alone | fade-run | with --budget {options.budget} | last |")
    print("| --- | ---: | ---: | ---: | --- |", flush=True)
    for name, arguments in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            native, plain, kept, last = measure(options.build_dir.resolve(), arguments, options.budget, options.rounds, folder)
        print(f"| {name} | {native:.2f} s | {plain / native:.2f} x | {kept / native:.2f} x | {last} |", flush=True)


if __name__ == "__main__":
    os.environ.pop("FADE_OPTIONS", None)
    main()
