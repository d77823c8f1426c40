#!/usr/bin/env python3
"""How fast fade-attach --find-cached searches a program's memory, and what that costs: cached.py --build-dir BUILD."""
import argparse
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile

PROGRAM = """
import mmap, os, sys
block, size = os.urandom(1 << 20), int(sys.argv[1])
memory = mmap.mmap(-1, size << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(size):
    memory[i << 20:(i + 1) << 20] = block
print("ready", flush=True)
sys.stdin.read()
"""


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def search(fade_attach, pid, folder, index):
    database = folder / f"{index}.db"
    before = cpu()
    subprocess.run([fade_attach, "-q", "-o", database, "--find-cached", "-d", "0s", str(pid)], check=True)
    used = cpu() - before
    size, ns = sqlite3.connect(database).execute("SELECT sum(bytes), sum(ns) FROM cached_searches").fetchone()
    print(f"{size / 1e9:.2f} GB: {size / ns:.2f} GB/s, {size / 1e9 / used:.2f} GB a second of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--mib", type=int, default=3072)
    options = parser.parse_args()
    fade_attach = options.build_dir / "cli" / "attach" / "fade-attach"
    command = [sys.executable, "-c", PROGRAM, str(options.mib)]
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        program.stdout.readline()
        for index in range(3):
            search(fade_attach, program.pid, pathlib.Path(folder), index)
        program.communicate()


if __name__ == "__main__":
    main()
