#!/usr/bin/python3
"""What --budget saves: how much longer programs take under fade-run with a budget and without one.

    /usr/bin/python3 tests/bench/budget.py --build-dir BUILD [--rounds 2] [--budget 3%] [--seconds 6]

Each round runs every program alone, under fade-run, and under fade-run with the budget. The lives are the shortest of
all rounds.
fade needs a second for each step, so the programs make as many calls as they can alone in --seconds. Without a budget
an eighth of the calls shows the slowdown. A run that lasts longer than --patience is ended, and the table says so.
"last" is how the function was recorded at the end.
Nothing here is a test. Needs a build with -DFADE_BENCHMARKS=ON."""
import argparse
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time

PROGRAMS = {  # what bench_calls is told: function, ns of work between two calls
    "hipGetDeviceCount, 200 ns of work between": ("hipGetDeviceCount", 200),  # and some hundred to look at the clock
    "hipGetDeviceCount, 2 us of work between": ("hipGetDeviceCount", 2_000),
    "hipPeekAtLastError, 2 us of work between": ("hipPeekAtLastError", 2_000),
    "hipMemcpy, 2 us of work between": ("hipMemcpy", 2_000),
}
FIRST = 50_000  # calls that show how long one takes
SHARE = 8  # without a budget, one call of so many
STEPS = {None: "rows", 0: "rows", 1: "sums", -1: "counts"}


class TooLong(Exception):
    pass


def life(command, environment, patience):
    """Ends the whole group: fade-run would leave its program running."""
    began = time.monotonic()
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        if process.wait(patience) != 0:
            raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise TooLong from None
    return time.monotonic() - began


def last_step(database):
    with sqlite3.connect(database) as recording:
        row = recording.execute("SELECT value FROM lifecycle WHERE kind = 'budget' ORDER BY id DESC LIMIT 1").fetchone()
    step = row[0] if row else None
    return STEPS.get(step, f"every {step}th")


class Measurement:
    def __init__(self, options, folder):
        self.build = options.build_dir.resolve()
        self.rounds, self.seconds = options.rounds, options.seconds
        self.budget, self.patience = options.budget, options.patience
        self.database = f"{folder}/run.db"
        self.environment = {"LD_LIBRARY_PATH": str(self.build / "tests" / "runtime" / "v6"), "LC_ALL": "C.UTF-8"}

    def times(self, command, base):
        """The command's life over the base's, as text."""
        try:
            best = min(life(command, self.environment, self.patience) for _ in range(self.rounds))
        except TooLong:
            return f"more than {self.patience / base:.0f} x"
        return f"{best / base:.2f} x"

    def alone(self, command):
        return min(life(command, self.environment, self.patience) for _ in range(self.rounds))

    def row(self, function, work):
        def program(n):
            return [str(self.build / "tests" / "bench" / "bench_calls"), function, str(n), "1", str(work)]
        calls = round(FIRST * self.seconds / self.alone(program(FIRST)))
        fade = [str(self.build / "cli" / "run" / "fade-run"), "-q", "--force", "-e", "all,hot", "-o", self.database]
        few, many = program(calls // SHARE), program(calls)
        plain = self.times([*fade, "--", *few], self.alone(few))
        native = self.alone(many)
        kept = self.times([*fade, "--budget", self.budget, "--", *many], native)
        return [f"{native:.2f} s", plain, kept, last_step(self.database)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--budget", default="3%", help="(default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=6,
                        help="about how long a program runs alone (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=60, help="seconds of one run (default: %(default)s)")
    options = parser.parse_args()
    print(f"| program | alone | fade-run | with --budget {options.budget} | last |")
    print("| --- | ---: | ---: | ---: | --- |", flush=True)
    for name, arguments in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {' | '.join([name, *Measurement(options, folder).row(*arguments)])} |", flush=True)


if __name__ == "__main__":
    os.environ.pop("FADE_OPTIONS", None)
    main()
