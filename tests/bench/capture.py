#!/usr/bin/python3
"""What recording costs, against the least it can cost and against other tools, in one run: tests/bench/capture.py
--build-dir BUILD

Rounds are interleaved and shuffled, so that whatever else the machine does hits every row alike; a ratio is the median
of the ratios within each round. Nothing here is a test: the goals are printed beside the figures, met or not. Needs a
build with -DFADE_BENCHMARKS=ON; ltrace and gdb are measured where they are installed.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import calls  # noqa: E402  (needs the path above)
import measure  # noqa: E402
import report  # noqa: E402
import taps  # noqa: E402
import whole  # noqa: E402
from world import World  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True, help="folder that CMake built into")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds [7]")
    parser.add_argument("--calls", type=int, default=60_000, help="calls of one supervised run [60000]")
    parser.add_argument("--only", choices=("calls", "taps", "whole"),
                        help="calls: cost of one call; taps: of one without a stop; whole: start-up, threads, memory, "
                             "store, query")
    parser.add_argument("--quick", action="store_true", help="3 rounds and small files: a first look")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--folder", type=pathlib.Path,
                        help="where recordings are written and removed [the system's temporary folder]")
    return parser.parse_args()


def main():
    options = parse()
    if options.quick:
        options.rounds = min(options.rounds, 3)
    with tempfile.TemporaryDirectory(prefix="fade-bench-", dir=options.folder) as folder:
        world = World(options.build_dir.resolve(), pathlib.Path(folder))
        if missing := world.missing():
            sys.exit(f"capture.py: not built: {', '.join(missing)}; configure with -DFADE_BENCHMARKS=ON and build")
        loads = [measure.load()]
        sections = []
        if options.only in (None, "calls"):
            sections.append(calls.section(world, options.rounds, options.calls))
        if options.only in (None, "taps"):
            sections.append(taps.section(world, options.rounds))
        if options.only in (None, "whole"):
            sections.append(whole.section(world, options.rounds, options.quick))
        loads.append(measure.load())
    print(report.text(sections, loads, options.markdown))


if __name__ == "__main__":
    try:
        main()
    except measure.Failed as failure:
        sys.exit(f"capture.py: {failure}")
