#!/usr/bin/python3
"""What fade-query page takes for many calls: tests/bench/page.py --build-dir BUILD --calls 10000000

store_bench records a synthetic training loop. Prints processor time and size of the page, three times, and when a
browser paints it first, if chromium is installed. Nothing here is a test.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import browser  # noqa: E402

PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def write_page(build, recording):
    """Processor time of it in seconds."""
    process = subprocess.Popen(
        [build / "cli" / "query" / "fade-query", recording, "page", "--force"], cwd=recording.parent
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


def first_paint(page, folder):
    with browser.Browser(folder) as one:
        one.open(page.as_uri(), PAINTED)
        return one.value(PAINTED)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--calls", type=int, default=10_000_000)
    arguments = parser.parse_args()
    build = arguments.build_dir.resolve()
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = pathlib.Path(name).resolve()
        recording, page = folder / "run.db", folder / "run.html"
        subprocess.run([build / "tests" / "bench" / "store_bench", str(arguments.calls), folder, recording], check=True)
        times = [write_page(build, recording) for _ in range(3)]
        print("processor time", *(f"{seconds:.2f} s" for seconds in times), f"  {page.stat().st_size / 1e6:.2f} MB")
        if browser.PROGRAM:
            print("first paint", *(f"{first_paint(page, folder / f'profile{i}'):.0f} ms" for i in range(3)))


if __name__ == "__main__":
    main()
