"""Python stacks of versions that this machine does not have: every Python 3 of Debian 13 and sid, unpacked, run by
sid's loader."""
import re
import subprocess
import sys

import pytest

import real_world as world

sys.path.insert(0, str(world.HERE.parent / "stacks"))

import python_oracle as oracle  # noqa: E402  (needs the path above)

LEAST = {"3.13"}  # Debian 13's own


@pytest.fixture(scope="module")
def pythons(build_dir):
    """The unpacked root. Nothing of it is needed elsewhere, so a machine without the archive goes without these
    tests."""
    folder = build_dir / "real/python"
    done = subprocess.run([world.HERE / "sysroot.sh", folder, "python"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          timeout=900)
    if done.returncode != 0:
        pytest.skip(f"no other versions of Python: {done.stdout.strip()}")
    return folder / "root"


def test_every_frame_and_line_is_as_the_program_says(pythons, build_dir, tmp_path):
    programs = sorted(path for path in (pythons / "usr/bin").iterdir() if re.fullmatch(r"python3\.\d+", path.name))
    versions = {program.name.removeprefix("python") for program in programs}
    assert LEAST <= versions
    libraries = pythons / world.LIBRARIES
    environment = {**world.clean_environment(), "PYTHONHOME": str(pythons / "usr"), "LC_ALL": "C.UTF-8"}
    for program in programs:
        version = program.name.removeprefix("python")
        command = [pythons / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", libraries, program]
        said, seen = oracle.run(build_dir, command, tmp_path / f"said.{version}", environment)
        if any("newer than what this fade knows" in stop.get("error", "") for stop in seen):
            continue  # said so, as it must; only the newest may
        oracle.compare(said, seen, version)
