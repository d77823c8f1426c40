"""Python stacks read from outside, against what the program says of itself, with the interpreter of this machine."""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stacks"))

import python_oracle as oracle  # noqa: E402  (needs the path above)

PYTHON = "/usr/bin/python3"
ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}


def version_of(python):
    return subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout.strip()


def others():
    """More interpreters to try, from FADE_PYTHONS: paths with colons between them."""
    return [path for path in os.environ.get("FADE_PYTHONS", "").split(":") if path]


@pytest.mark.parametrize("python", [PYTHON, *others()])
def test_every_frame_and_line_is_as_the_program_says(build, tmp_path, python):
    said, seen = oracle.run(build.folder, [python], tmp_path / "said", ENVIRONMENT)
    oracle.compare(said, seen, version_of(python))


def test_a_snapshot_holds_what_a_second_look_needs(build, tmp_path):
    """wanted() and the stack are enough for frames that lie on neither heap nor other chunks."""
    said, seen = oracle.run(build.folder, [PYTHON], tmp_path / "said", ENVIRONMENT)
    if version_of(PYTHON) == "3.10":
        pytest.skip("frames of 3.10 are objects on the heap, one read each")
    plain = [stop for what, _, stop in oracle.in_order(said, seen)
             if what in ("recursion", "callback", "main", "lambda")]
    assert plain and all(stop["outside"] == 0 for stop in plain)
