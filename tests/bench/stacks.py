#!/usr/bin/python3
"""What a stack costs, and whether it is right: tests/bench/stacks.py --build-dir BUILD

A real Python program is stopped at random moments; each stack is taken as a session does it (native and Python frames, merged and
interned) and by libunwind-ptrace with its global cache, at the same stop. Nothing here is a test: the goals stand beside the figures.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

GOAL_US, GOAL_RATIO, GOAL_EQUAL = 15, 0.25, 0.999

# Python and C, one inside the other: recursion, callbacks of sorted() and re, parsers, compression, generators.
PROGRAM = """
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


def measure(build, stops, depth, python):
    with tempfile.TemporaryDirectory(prefix="fade-stacks-") as folder:
        script = pathlib.Path(folder) / "program.py"
        script.write_text(PROGRAM.replace("DEPTH", str(depth)))
        ran = subprocess.run([build / "tests" / "stacks" / "compare_stacks", str(stops), python, script], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"stacks.py: compare_stacks failed: {ran.stderr}")
    return json.loads(ran.stdout)


def verdict(met):
    return "met" if met else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True, help="folder that CMake built into")
    parser.add_argument("--stops", type=int, default=10_000, help="random stops [10000]")
    parser.add_argument("--depth", type=int, default=60, help="Python frames at most [60]")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--odd", action="store_true", help="print stacks that differ")
    options = parser.parse_args()
    found = measure(options.build_dir.resolve(), options.stops, options.depth, options.python)
    share, ratio = found["equal"] / found["stops"], found["ours_us"] / found["libunwind_us"]
    print(f"{found['stops']} stops, {found['native_frames']} native frames (median)")
    print(f"  a stack met again    {found['ours_us']:8.1f} us   goal {GOAL_US} us: {verdict(found['ours_us'] <= GOAL_US)}")
    print(f"  a new one            {found['new_us']:8.1f} us")
    print(f"  libunwind, cached    {found['libunwind_us']:8.1f} us   ratio {ratio:.3f}, goal {GOAL_RATIO}: {verdict(ratio <= GOAL_RATIO)}")
    print(f"  equal native frames  {100 * share:8.3f} %    goal {100 * GOAL_EQUAL} %: {verdict(share >= GOAL_EQUAL)}")
    if options.odd:
        print(json.dumps(found["odd"], indent=1))


if __name__ == "__main__":
    main()
