#!/usr/bin/python3
"""How long threads stand still for fade-attach: tests/bench/attach.py --build-dir BUILD [--threads 200] [--modules 150]
[--rounds 10]
  [--engine taps]

A program with many threads and libraries calls the stand-in runtime; fade-attach comes and goes ROUNDS times. Prints
what fade-attach says of each round and the medians; strace -p, in the same rounds, shows what its own coming and going
takes in all. Then it stays with a program that makes no calls and counts stops. No figure makes it fail."""
import argparse
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from harness import Build, Database  # noqa: E402

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern int hipMalloc(void**, unsigned long), hipFree(void*);
static int calls;
static void* work(void* arg) {
  for (void* p;; usleep(20000)) if (calls && (hipMalloc(&p, 64) || hipFree(p))) abort();
  return arg;
}
int main(int argc, char** argv) {
  const int threads = atoi(argv[1]);
  calls = atoi(argv[2]);
  for (int i = 3; i < argc; ++i) if (!dlopen(argv[i], RTLD_NOW)) abort();
  pthread_t t;
  for (int i = 1; i < threads; ++i) if (pthread_create(&t, NULL, work, NULL)) abort();
  puts("ready");
  fflush(stdout);
  work(NULL);
}
"""
TAPPED = ("SELECT min(t.start) - a.start FROM lifecycle t JOIN lifecycle a ON t.kind = 'tapped' AND a.kind = 'attach' "
          "HAVING count(*) > 0")
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
HELD = re.compile(r"(attaching|detaching): \d+ of \d+ threads: median ([\d.]+) (\S+), worst ([\d.]+) (\S+)")


def compile_world(build, folder, modules):
    (folder / "p.c").write_text(PROGRAM)
    (folder / "m.c").write_text("int fade_bench_module(int x) { return x + 1; }\n")
    link = build.runtimes / "link" / "libamdhip64.so"
    subprocess.run(["cc", "-O1", "-o", folder / "p", folder / "p.c", link, "-lpthread", "-ldl"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "m.so", folder / "m.c"], check=True)
    names = [folder / f"m{i}.so" for i in range(modules)]
    for name in names:
        shutil.copy(folder / "m.so", name)
    return names


def start(build, folder, threads, calls, modules):
    process = subprocess.Popen([folder / "p", str(threads), str(calls), *modules],
                               env=build.environment("v6"), stdout=subprocess.PIPE, cwd=folder)
    process.stdout.readline()
    return process


def attach(build, folder, pid, seconds, engine):
    database = folder / "x.db"
    ran = subprocess.run([build.folder / "cli" / "attach" / "fade-attach", "--force",
                          "--engine", engine, "-o", database, "-d", f"{seconds}s", str(pid)],
                         env=build.environment("v6", FADE_CONFIG="/dev/null", LC_ALL="C.UTF-8"),
                         cwd=folder, stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, timeout=120)
    if ran.returncode != 0:
        sys.exit(f"attach.py: {ran.stderr}")
    return ran.stderr, database


def holds(text):
    return {what: (float(median) * UNITS[u1], float(worst) * UNITS[u2])
            for what, median, u1, worst, u2 in HELD.findall(text)}


def strace(pid):
    """Seconds from its start to its end; it is told to go as soon as it says that it has come."""
    began = time.monotonic()
    process = subprocess.Popen(["strace", "-f", "-e", "trace=none", "-o", "/dev/null", "-p", str(pid)],
                               stderr=subprocess.PIPE)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=200)
    parser.add_argument("--modules", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--engine", default="breakpoints")
    options = parser.parse_args()
    build = Build(options.build_dir.resolve())
    with tempfile.TemporaryDirectory(prefix="fade-bench-") as name:
        folder = pathlib.Path(name)
        modules = compile_world(build, folder, options.modules)
        process = start(build, folder, options.threads, 1, modules)
        rounds, others, tapped = [], [], []
        for _ in range(options.rounds):
            text, database = attach(build, folder, process.pid, 0.3, options.engine)
            rounds.append(holds(text))
            tapped += Database(database).rows(TAPPED)
            if shutil.which("strace"):
                others.append(strace(process.pid))
        alive = process.poll() is None
        process.kill()
        process.wait()
        for what in ("attaching", "detaching"):
            medians, worsts = zip(*(r[what] for r in rounds))
            print(f"{what}: median {statistics.median(medians) / 1e6:.3f} ms, worst "
                  f"{statistics.median(worsts) / 1e6:.3f} ms "
                  f"(medians of {len(rounds)} rounds; greatest {max(worsts) / 1e6:.3f} ms)")
        if tapped:
            print(f"from attaching to tapped: median {statistics.median(ns for ns, in tapped) / 1e6:.0f} ms")
        if others:
            print(f"strace -f -p, from start to end: {statistics.median(others) * 1e3:.0f} ms")
        print(f"the program {'lives' if alive else 'IS DEAD'}")
        process = start(build, folder, options.threads, 0, modules)
        database = Database(attach(build, folder, process.pid, 3, options.engine)[1])
        print(f"stops in 3 s of a program that makes no calls: "
              f"{database.value('SELECT coalesce(sum(stops), 0) FROM overhead')}")
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
