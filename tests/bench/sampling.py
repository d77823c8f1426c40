"""What --sample costs: a Python program that computes in threads and calls now and then, alone, recorded, and recorded
with samples.

usage: sampling.py --build-dir BUILD [--rounds N] [--threads N]
"""
import argparse
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import tempfile

PROGRAM = """
import ctypes, sys, threading, time
hip = ctypes.CDLL("libamdhip64.so.6")
def inner(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
def outer(n):
    return inner(n) + inner(n // 2)
def work(rounds):
    for i in range(rounds):
        hip.hipDeviceSynchronize()
        outer(20000)
threads = [threading.Thread(target=work, args=(int(sys.argv[2]),)) for _ in range(int(sys.argv[1]))]
begin = time.perf_counter()
for thread in threads: thread.start()
for thread in threads: thread.join()
print(time.perf_counter() - begin)
"""


def run(arguments, folder, rate):
    """Seconds that the program took, and the processor time of fade."""
    build = pathlib.Path(arguments.build_dir).resolve()
    program = ["/usr/bin/python3", str(folder / "program.py"), str(arguments.threads), "300"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(build / "tests/runtime/v6"), "FADE_CONFIG": "/dev/null"}
    database = folder / "run.db"
    database.unlink(missing_ok=True)
    sample = ["--sample", str(rate)] if rate else []
    fade = [] if rate is None else [str(build / "cli/run/fade-run"), "-q", *sample, "-o", str(database), "--"]
    seconds = float(subprocess.run([*fade, *program], env=environment, stdout=subprocess.PIPE,
                                   text=True, check=True, cwd=folder).stdout)
    told = ""
    if rate:
        db = sqlite3.connect(database)
        (value, detail), = db.execute("SELECT value, detail FROM lifecycle WHERE kind = 'samples taken'").fetchall()
        each, unsteady = re.search(r"([\d.]+) us each.*; (\d+) were", detail).groups()
        told = f"{value} looks, {each} us each, {unsteady} left out"
    return seconds, told


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    rates = [None, 0, 50, 100, 1000]
    seconds, told = {rate: [] for rate in rates}, {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.py").write_text(PROGRAM)
        for _ in range(arguments.rounds):
            for rate in rates:
                took, told[rate] = run(arguments, folder, rate)
                seconds[rate].append(took)
    for rate in rates:
        name = "alone" if rate is None else "recorded" if rate == 0 else f"--sample {rate}"
        print(f"{name:<14} {statistics.median(seconds[rate]):.3f} s  {min(seconds[rate]):.3f} s at best  {told[rate]}")


if __name__ == "__main__":
    main()
