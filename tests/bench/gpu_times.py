#!/usr/bin/python3
"""What --gpu-times costs a program for each launch, with each engine.

    /usr/bin/python3 tests/bench/gpu_times.py --build-dir BUILD [--rounds 5] [--launches 20000]

bench_calls launches a kernel again and again on the stand-in runtime. The runtime profiles its queues in all runs, and
asks for each time on a thread of its own, as AMD's does. So the difference between fade-run with and without
--gpu-times is fade's alone. Each round runs both once. The columns have medians and least of the rounds' differences,
for one launch: on the clock, CPU time of program and fade-run, CPU time of the program alone. "one core": program and
fade-run share it.
Nothing here is a test. Needs a build with -DFADE_BENCHMARKS=ON."""
import argparse
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time

ENGINES = ("breakpoints", "taps")
WORK_NS = 6_000  # between two launches: the GPU of the stand-in needs up to 6 us for each


class World:
    def __init__(self, options, folder):
        self.build, self.launches, self.folder = options.build_dir.resolve(), options.launches, folder
        runtimes = self.build / "tests" / "runtime"
        self.environment = {
            "LD_LIBRARY_PATH": f"{runtimes / 'v6'}:{runtimes / 'hsa'}",
            "LC_ALL": "C.UTF-8",
            "FADE_STANDIN_HSA": "/dev/null",
            "GPU_FORCE_QUEUE_PROFILING": "1",
            "BENCH_CPU": "1",
        }
        self.program = [str(self.build / "tests" / "bench" / "bench_calls"), "hipLaunchKernel"]

    def command(self, engine, calls, *options):
        program = [*self.program, str(calls), "1", str(WORK_NS)]
        if not engine:
            return program
        fade = [str(self.build / "cli" / "run" / "fade-run"), "-q", "--force", "--engine", engine, *options]
        return [*fade, "-o", f"{self.folder}/run.db", "--", *program]

    def cost(self, command, one_core):
        """Seconds on the clock and of CPU."""
        if one_core:
            command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        ran = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True)
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = next(float(line.split()[1]) for line in ran.stdout.splitlines() if line.startswith("cpu "))
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, own

    def check(self, launches):
        with sqlite3.connect(f"{self.folder}/run.db") as recording:
            seen, timed = recording.execute("SELECT sum(seen), sum(timed) FROM gpu_coverage").fetchone()
        if (seen, timed) != (launches, launches):
            raise SystemExit(f"{timed} of {launches} launches have a time, {seen} were seen")

    def extra(self, engine, one_core):
        """For one launch, in seconds: clock, CPU, CPU of the program."""
        launches = self.launches * (10 if engine == "taps" else 1)
        plain = self.cost(self.command(engine, launches), one_core)
        timed = self.cost(self.command(engine, launches, "--gpu-times"), one_core)
        self.check(launches)
        return [(b - a) / launches for a, b in zip(plain, timed)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--launches",
        type=int,
        default=20_000,
        help="of a run with breakpoints; with taps ten times as many (default: %(default)s)",
    )
    options = parser.parse_args()
    print("| engine | cores | clock, median | least | CPU, median | least | CPU of the program, median | least |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        world = World(options, folder)
        for engine in ENGINES:
            for one_core in (True, False):
                costs = list(zip(*(world.extra(engine, one_core) for _ in range(options.rounds))))
                figures = [f"{figure(of) * 1e6:.2f} us" for of in costs for figure in (statistics.median, min)]
                print(f"| {engine} | {'one' if one_core else 'two'} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    os.environ.pop("FADE_OPTIONS", None)
    main()
