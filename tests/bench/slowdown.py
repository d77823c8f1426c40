#!/usr/bin/python3
"""Whether fade knows what it costs: the slowdown that a recording tells, against runs with and without fade-run.

    /usr/bin/python3 tests/bench/slowdown.py --build-dir BUILD [--rounds 7] [--engine breakpoints]

Each round runs every program alone and under fade-run. "told" and "true" are what fade added to the program's life:
told by the view slowdowns, and the difference of both lives. Of several threads, "told" is a range: from the cost of
the busiest thread to that of all. Both lives are the shortest of all rounds, since other work on the machine only adds
to them.
The goal is a ratio of 0.75 to 1.25. "times" is how many times as long the program took.
Where most of the life is fade's cost, a small error of that is a large one of the factor, and the reports say "more
than 3x" instead.
Nothing here is a test. Needs a build with -DFADE_BENCHMARKS=ON."""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

PROGRAMS = {  # what bench_calls is told: function, calls, threads, ns of work between two calls
    "hipMemcpy in a tight loop": ("hipMemcpy", 30_000, 1, 0),
    "hipLaunchKernel in a tight loop": ("hipLaunchKernel", 30_000, 1, 0),
    "hipMemcpy, 10 us of work between": ("hipMemcpy", 20_000, 1, 10_000),
    "hipMemcpy, 50 us of work between": ("hipMemcpy", 10_000, 1, 50_000),
    "hipMemcpy, 500 us of work between": ("hipMemcpy", 2_000, 1, 500_000),
    "2 threads, 50 us of work between": ("hipMemcpy", 10_000, 2, 50_000),
}


def alone(command, environment):
    """How long it ran, in ns."""
    began = time.monotonic_ns()
    pid = os.posix_spawn(command[0], command, environment)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit(f"{command} failed")
    return time.monotonic_ns() - began


def supervised(command, environment, fade_run, engine, folder):
    """How long it ran, what fade says that it added, the least and the most factor; in ns."""
    database = f"{folder}/run.db"
    subprocess.run([fade_run, "-q", "--force", "--engine", engine, "-o", database, "--", *command],
                   env=environment, check=True)
    query = ("SELECT p.duration, s.calls_ns + s.taps_ns + s.other_ns, s.busiest_ns FROM slowdowns s JOIN processes p "
             "ON p.session = s.session")
    with sqlite3.connect(database) as recording:
        return recording.execute(query).fetchone()


def measure(build, fade_run, engine, arguments, rounds, folder):
    command = [str(build / "tests" / "bench" / "bench_calls"), *map(str, arguments)]
    environment = {"LD_LIBRARY_PATH": str(build / "tests" / "runtime" / "v6"), "LC_ALL": "C.UTF-8"}
    samples = []
    for _ in range(rounds):
        native = alone(command, environment)
        life, told, busiest = supervised(command, environment, fade_run, engine, folder)
        samples.append((native, life, told, busiest))
    return samples


def span(least, most, digits):
    low, high = f"{least:.{digits}f}", f"{most:.{digits}f}"
    return low if low == high else f"{low} to {high}"


def told_factor(life, told, busiest):
    """As the reports say it (cli/table/slowdown.cpp): the range from the busiest thread's cost to the sum of all."""
    most, least = told / life, busiest / life
    if most >= 2 / 3:
        return "more than 3x" if least >= 2 / 3 else f"{1 / (1 - least):.2f} to more than 3x"
    return span(1 / (1 - least), 1 / (1 - most), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--engine", default="auto", help="of fade-run (default: %(default)s)")
    options = parser.parse_args()
    build = options.build_dir.resolve()
    fade_run = str(build / "cli" / "run" / "fade-run")
    print("| program | alone | under fade-run | true | told | told / true | times | told |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="fade-bench-") as folder:
        for name, arguments in PROGRAMS.items():
            samples = measure(build, fade_run, options.engine, arguments, options.rounds, folder)
            native = min(sample[0] for sample in samples)
            _, life, told, busiest = min(samples, key=lambda sample: sample[1])
            added, least = life - native, busiest if arguments[2] > 1 else told
            print(f"| {name} | {native / 1e6:.1f} ms | {life / 1e6:.1f} ms | {added / 1e6:.1f} ms | "
                  f"{span(least / 1e6, told / 1e6, 1)} ms | "
                  f"{span(least / added, told / added, 2)} | {life / native:.2f} | {told_factor(life, told, least)} |",
                  flush=True)


if __name__ == "__main__":
    main()
