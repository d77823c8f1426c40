#!/usr/bin/python3
"""What fade costs a program that makes no calls for a while: the CPU time of fade-run meanwhile.

    /usr/bin/python3 tests/bench/idle.py --build-dir BUILD [--seconds 10]

The program makes 20,000 calls, rests, and makes as many again. fade-run's processor time is read two seconds after it
began, and again --seconds later. Nothing here is a test."""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

REST_BEFORE = 2  # seconds; the rings are read less often after 20 empty reads
FORMS = {"breakpoints": ("--engine", "breakpoints"), "taps": ("--engine", "taps"),
         "taps and a budget": ("--engine", "taps", "--budget", "3%")}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(build, options, seconds, folder):
    program = [build / "tests" / "tracees" / "bin" / "bursts", "20000", "2", str((seconds + REST_BEFORE + 3) * 1000)]
    fade = [build / "cli" / "run" / "fade-run", "-q", "--force", *options, "-o", f"{folder}/run.db", "--"]
    environment = {"LD_LIBRARY_PATH": str(build / "tests" / "runtime" / "v6"), "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen([*fade, *program], env=environment, stdout=subprocess.DEVNULL)
    time.sleep(REST_BEFORE + 1)
    before = cpu_seconds(process.pid)
    time.sleep(seconds)
    used = cpu_seconds(process.pid) - before
    if process.wait(60) != 0:
        raise SystemExit(f"exit status {process.returncode}")
    return used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    print("| fade-run with | CPU time | share |\n| --- | ---: | ---: |", flush=True)
    for name, form in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            used = measure(options.build_dir.resolve(), form, options.seconds, folder)
        print(f"| {name} | {1000 * used:.0f} ms | {100 * used / options.seconds:.2f} % |", flush=True)


if __name__ == "__main__":
    os.environ.pop("FADE_OPTIONS", None)
    main()
