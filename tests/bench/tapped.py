#!/usr/bin/python3
"""The processor time of a tapped call, of the program and fade together: in a tight loop, by function and detail.

    /usr/bin/python3 tests/bench/tapped.py --build-dir BUILD [--against OTHER_FADE_RUN] [--rounds 5] [--calls 1000000]

User and system time of a run, less that of a run of 1,000 calls, through the number of calls; the least of all rounds.
With --against both fade-runs run in turns. Wall time is left out, because it shows how busy the machine is. Nothing
here is a test. Needs a build with -DFADE_BENCHMARKS=ON."""
import argparse
import os
import pathlib
import subprocess
import tempfile

FEW = 1000
STATS = ("--detail", "stats")
ROWS = {  # function, threads, options; hipMemcpy has a book, hipPeekAtLastError has none
    "hipPeekAtLastError, `--detail stats`": ("hipPeekAtLastError", 1, STATS),
    "hipPeekAtLastError, `--detail stats`, 4 threads": ("hipPeekAtLastError", 4, STATS),
    "hipGetDeviceCount, `--detail stats`": ("hipGetDeviceCount", 1, STATS),
    "hipMemcpy, `--detail stats`": ("hipMemcpy", 1, STATS),
    "hipLaunchKernel, `--detail stats`": ("hipLaunchKernel", 1, STATS),
    "hipMemcpy, every call with a row": ("hipMemcpy", 1, ()),
}


class Bench:
    def __init__(self, build, calls, folder):
        self.program, self.calls, self.database = build / "tests" / "bench" / "bench_calls", calls, f"{folder}/run.db"
        self.environment = {"LD_LIBRARY_PATH": str(build / "tests" / "runtime" / "v6"), "LC_ALL": "C.UTF-8"}

    def seconds(self, command):
        process = subprocess.Popen([str(word) for word in command], env=self.environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"failed: {' '.join(map(str, command))}")
        return usage.ru_utime + usage.ru_stime

    def per_call(self, function, threads, prefix=()):
        """In ns. `prefix`: fade-run and its options."""
        many, few = (self.seconds([*prefix, self.program, function, calls, threads]) for calls in (self.calls, FEW))
        return 1e9 * (many - few) / self.calls

    def supervised(self, fade_run, row):
        function, threads, options = row
        prefix = (fade_run, "-q", "--force", "-e", "all,hot", "--engine", "taps", *options, "-o", self.database, "--")
        return self.per_call(function, threads, prefix)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--against", type=pathlib.Path, help="another fade-run, which is shown first")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=1_000_000)
    options = parser.parse_args()
    build = options.build_dir.resolve()
    fades = [fade for fade in (options.against, build / "cli" / "run" / "fade-run") if fade]
    print(f"| a tapped call | native |{' before |' * (len(fades) - 1)} ns |{' x before |' * (len(fades) - 1)}")
    print(f"| --- | ---: |{' ---: |' * (2 * len(fades) - 1)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, options.calls, folder)
        for name, row in ROWS.items():
            rounds = [(bench.per_call(*row[:2]), *(bench.supervised(fade, row) for fade in fades))
                      for _ in range(options.rounds)]
            native, *costs = (min(column) for column in zip(*rounds))
            ratio = [f"{costs[1] / costs[0]:.2f}"] if len(costs) > 1 else []
            print(f"| {' | '.join([name, f'{native:.0f}', *(f'{cost:.0f}' for cost in costs), *ratio])} |", flush=True)


if __name__ == "__main__":
    os.environ.pop("FADE_OPTIONS", None)
    main()
