#!/usr/bin/env python3
"""Kills fade at random moments while it comes to a program, watches it and leaves it. The program must not notice.

    python3 tests/chaos/chaos.py --build-dir build/release --kills 300 --jobs 2 [--row v6/sfx/4] [--seed 7] [--target 3]

Prints a row for each kind of target, and of each target that was lost how it happened and what state it is in. Ends
with 1 if there was one. The same seed gives the same plans, though not the same microseconds."""
import argparse
import concurrent.futures
import ctypes
import math
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from harness import Build  # noqa: E402
from life import Life, Outcome, Timing  # noqa: E402
from rows import ROWS, named  # noqa: E402
from target import become_subreaper  # noqa: E402

KILLS_OF_ONE = range(1, 7)  # fades that come to one target: fewer where few kills are asked for
COLUMNS = ("kills", "targets", "lost", "wrong", "repaired", "failed", "unstarted")
worker = {}


def small_disk(folder):
    """A tmpfs that vanishes with this process; without the right to mount, an ordinary folder."""
    CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
    libc = ctypes.CDLL(None)
    folder.mkdir(parents=True)
    if libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0:
        libc.mount(b"chaos", bytes(folder), b"tmpfs", 0, b"size=256k")
    return folder


def begin_worker(build_dir, folder):
    become_subreaper()
    own = pathlib.Path(tempfile.mkdtemp(dir=folder))
    worker.update(build=Build(pathlib.Path(build_dir).resolve()), folder=own, disk=small_disk(own / "disk"), timing={})


def live(row, index, seed, kills):
    timing = worker["timing"].setdefault(row.name, Timing())
    folder = worker["folder"] / f"{row.name.replace('/', '_')}.{index}"
    return Life(worker["build"], row, index, seed, folder, worker["disk"], timing).live(kills)


def kills_of_one(kills, rows):
    return min(max(math.ceil(kills * 1.1 / len(rows)), KILLS_OF_ONE[0]), KILLS_OF_ONE[-1])


def rounds(kills, rows, only):
    """Targets of each row that are likely to be enough for so many kills: some fades end by themselves."""
    if only is not None:
        return range(only, only + 1)
    return range(max(1, math.ceil(kills * 1.1 / kills_of_one(kills, rows) / len(rows))))


def summed(outcomes, name):
    total = Outcome(name, 0, targets=0)
    for outcome in outcomes:
        for column in COLUMNS:
            setattr(total, column, getattr(total, column) + getattr(outcome, column))
    return total


def table(outcomes, rows):
    names = [row.name for row in rows]
    lines = [summed([o for o in outcomes if o.row == name], name) for name in names] + [summed(outcomes, "all")]
    width = max(map(len, names)) + 2
    text = ["".join([f"{'target':<{width}}", *[f"{column:>10}" for column in COLUMNS]])]
    return "\n".join(text + ["".join([f"{line.row:<{width}}", *[f"{getattr(line, column):>10}" for column in COLUMNS]])
                             for line in lines])


def must_be_built(build, rows):
    """A program without its runtime ends as one that was killed before it began, and nothing would be tested."""
    missing = {row.runtime for row in rows if not any((build.runtimes / row.runtime).glob("libamdhip64.so*"))}
    if missing:
        raise SystemExit(f"not built: the runtimes {' '.join(sorted(missing))}")


def run(build_dir, kills, seed, jobs, rows, only=None, say=print):
    """All outcomes. What was lost is told at once."""
    must_be_built(Build(pathlib.Path(build_dir).resolve()), rows)
    folder = tempfile.mkdtemp(prefix="fade-chaos-")
    outcomes = []
    with concurrent.futures.ProcessPoolExecutor(jobs, initializer=begin_worker, initargs=(build_dir, folder)) as pool:
        def live_all(indexes):
            before = len(outcomes)
            each = kills_of_one(kills, rows)
            lives = [pool.submit(live, row, index, seed, each) for index in indexes for row in rows]
            for done in concurrent.futures.as_completed(lives):
                outcomes.append(done.result())
                if outcomes[-1].text:
                    say(f"{outcomes[-1].text}\nagain: --seed {seed} --row {outcomes[-1].row} --target "
                        f"{outcomes[-1].index}\n")
            return summed(outcomes[before:], "").kills

        made = brought = live_all(indexes := rounds(kills, rows, only))
        while only is None and brought and made < kills:  # on a slow machine more of them are killed before they begin
            indexes = range(indexes.stop, indexes.stop + 1)
            made += (brought := live_all(indexes))
    if not any(outcome.text for outcome in outcomes):
        shutil.rmtree(folder, ignore_errors=True)
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--row", action="append", help="only rows with this in their name; may be repeated")
    parser.add_argument("--target", type=int, help="only this target of each row")
    options = parser.parse_args()
    rows = named(options.row) if options.row else ROWS
    began = time.monotonic()
    outcomes = run(options.build_dir, options.kills, options.seed, options.jobs, rows, options.target)
    print(table(outcomes, rows))
    print(f"seed {options.seed}, {time.monotonic() - began:.0f} s")
    return any(outcome.lost or outcome.wrong for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main())
