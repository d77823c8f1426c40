#!/usr/bin/python3
"""What stacks cost, and whether they are right: tests/bench/stacks.py --build-dir BUILD

stops        A real Python program is stopped at random moments; each stack is taken as a session does it (native and
             Python frames, merged and interned) and by libunwind-ptrace with its global cache, at the same stop.
deep         The same at one place in stacks of known depth, through Python, ctypes callbacks and Python again.
allocations  A Python program that does nothing but hipMalloc and hipFree, under fade-run with the usual stacks and with
none, on one core, in
             turns; a ratio is the median of the ratios within each turn.

Nothing here is a test: the goals stand beside the figures. allocations needs the programs of -DFADE_BENCHMARKS=ON.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import measure  # noqa: E402  (needs the path above)
from world import World  # noqa: E402

GOAL_US, GOAL_RATIO, GOAL_EQUAL, GOAL_RUN = 15, 0.25, 0.999, 1.10

# Python and C, one inside the other: recursion, callbacks of sorted() and re, parsers, compression, generators.
ANYWHERE = """
import functools, hashlib, json, re, zlib
def down(n, work):
    return work() if n == 0 else down(n - 1, work) + 1
def key(text):
    return len(re.sub("[a-f]", lambda found: found.group().upper(), text))
def generate(n):
    yield from (sum(map(len, (str(i), hex(i)))) for i in range(n))
def parse():
    data = json.loads(json.dumps({str(i): [i, {"x": i}] for i in range(50)}), object_hook=lambda pairs: pairs)
    return len(zlib.compress(repr(data).encode()))
def turn():
    texts = sorted((hashlib.md5(str(i).encode()).hexdigest() for i in range(30)), key=key)
    return functools.reduce(lambda a, b: a + len(b), texts, 0) + sum(generate(40)) + parse()
n = 0
while True:
    n += 1
    down(n % DEPTH, turn)
"""

# LEVELS times through C and back, with EACH calls of Python in Python between; stops on two lines in turn.
THROUGH_C = """
import ctypes, signal
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)
def stop():
    signal.raise_signal(signal.SIGUSR1)
def bottom():
    while True:
        stop()
        stop()
def down(n, then):
    return then() if n == 0 else down(n - 1, then)
def across(levels):
    if levels == 0:
        return bottom()
    return CALLBACK(lambda: down(EACH, lambda: across(levels - 1)))()
across(LEVELS)
"""
SHAPES = {"80 frames": (3, 5), "25 times through C": (25, 0)}

ALLOCATIONS = """
import ctypes, sys
hip = ctypes.CDLL("libamdhip64.so.6")
at = ctypes.c_void_p()
def allocate(n):
    for _ in range(n):
        hip.hipMalloc(ctypes.byref(at), 4096)
        hip.hipFree(at)
def down(depth, n):
    return allocate(n) if depth == 0 else down(depth - 1, n)
down(int(sys.argv[1]), int(sys.argv[2]))
"""


def compare(build, folder, stops, python, program, *words):
    script = folder / "program.py"
    script.write_text(program)
    ran = subprocess.run([build / "tests" / "stacks" / "compare_stacks", str(stops), *words, python, script],
                         capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"stacks.py: compare_stacks failed: {ran.stderr}")
    return json.loads(ran.stdout)


def verdict(met):
    return "met" if met else "MISSED"


def show(what, found, odd):
    ratio, share = found["again_us"] / found["libunwind_us"], found["equal"] / found["stops"]
    print(f"{what}: {found['stops']:,} stops, {found['merged_frames']} frames with Python's, {found['native_frames']} "
          f"native ones (medians)")
    print(f"  a stack that was there at an earlier stop  {found['known_us']:8.1f} us   goal {GOAL_US} us: "
          f"{verdict(found['known_us'] <= GOAL_US)}")
    print(f"  taken again at once                        {found['again_us']:8.1f} us")
    print(f"  a new one                                  {found['new_us']:8.1f} us   {found['new']:,} of them")
    print(f"  libunwind with its global cache, at once   {found['libunwind_us']:8.1f} us   ratio {ratio:.3f}, goal "
          f"{GOAL_RATIO}: {verdict(ratio <= GOAL_RATIO)}")
    print(f"  the native frames that libunwind sees      {100 * share:8.3f} %    goal {100 * GOAL_EQUAL} %: "
          f"{verdict(share >= GOAL_EQUAL)}")
    print(f"  the same with nothing remembered           {100 * found['same'] / found['stops']:8.3f} %")
    sys.stdout.flush()
    if odd:
        print(json.dumps(found["odd"], indent=1))


def allocations(build, folder, rounds, calls, python):
    world = World(build, folder)
    script = folder / "allocations.py"
    script.write_text(ALLOCATIONS)
    for depth in (0, 30):
        ratios, of_cpu = [], []
        for _ in range(rounds):
            took, order = {}, [("usual", ()), ("off", ("-k", "off"))]
            random.shuffle(order)
            for name, options in order:
                world.forget_recording()
                command = world.pinned(*world.supervised(python, script, depth, calls // 2, options=options))
                took[name] = measure.run(command, world.environment(), folder)
            ratios.append(took["usual"].wall / took["off"].wall)
            of_cpu.append(took["usual"].cpu / took["off"].cpu)
        ratio = measure.median(ratios)
        print(f"allocations, {calls:,} calls {depth} functions deep, {rounds} pairs: usual stacks / none {ratio:.3f} "
              f"({min(ratios):.3f} to {max(ratios):.3f}), of CPU time {measure.median(of_cpu):.3f}   goal "
              f"{GOAL_RUN:.2f}: {verdict(ratio <= GOAL_RUN)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True, help="folder that CMake built into")
    parser.add_argument("--only", choices=("stops", "deep", "allocations"))
    parser.add_argument("--stops", type=int, default=10_000, help="random stops [10000]")
    parser.add_argument("--depth", type=int, default=60, help="Python frames at most, of random stops [60]")
    parser.add_argument("--rounds", type=int, default=7, help="pairs of runs that allocate [7]")
    parser.add_argument("--calls", type=int, default=30_000, help="calls of each of them [30000]")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--odd", action="store_true", help="print stacks that differ")
    options = parser.parse_args()
    build = options.build_dir.resolve()
    with tempfile.TemporaryDirectory(prefix="fade-stacks-") as name:
        folder = pathlib.Path(name)
        if options.only in (None, "stops"):
            program = ANYWHERE.replace("DEPTH", str(options.depth))
            show("anywhere", compare(build, folder, options.stops, options.python, program), options.odd)
        for what, (levels, each) in SHAPES.items() if options.only in (None, "deep") else ():
            program = THROUGH_C.replace("LEVELS", str(levels)).replace("EACH", str(each))
            show(what, compare(build, folder, min(options.stops, 10_000), options.python, program, "--at-signal"),
                 options.odd)
        if options.only in (None, "allocations"):
            allocations(build, folder, options.rounds, options.calls, options.python)


if __name__ == "__main__":
    main()
