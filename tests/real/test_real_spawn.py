"""posix_spawn of a C library from 2.38 on makes its children without signal handlers: sid's library, on the stand-in
runtime."""
import os
import subprocess
import time

import pytest

CHILDREN = 60
WELL = f"0 of {CHILDREN} children died\n"
WAYS = ["spawn", "100000000", "100800000"]  # the flags of clone3: CLONE_CLEAR_SIGHAND, and CLONE_UNTRACED


@pytest.fixture(scope="module")
def program(hip724, build_dir):
    """(how) -> command line of a program that runs on sid's C library; (environment)."""
    loader = next(hip724.root.glob("usr/lib*/**/ld-linux-x86-64.so.2"))
    paths = f"{build_dir}/tests/runtime/v6:{hip724.libraries}"
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": f"{build_dir}/tests/runtime/v6"}

    def command(how):
        return [str(loader), "--library-path", paths, str(build_dir / "tests/tracees/bin/clear_handlers"),
                how, str(CHILDREN)]

    return command, environment


def start(words, environment, folder):
    return subprocess.Popen([str(word) for word in words], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)


@pytest.mark.parametrize("how", WAYS)
def test_children_live_under_fade(program, build_dir, tmp_path, how):
    command, environment = program
    alone = start(command(how), environment, tmp_path)
    assert alone.communicate(timeout=60)[0] == WELL
    fade = start([build_dir / "cli/run/fade-run", "-q", "-e", "all,hot", "-o", "run.db", "--", *command(how)],
                 environment, tmp_path)
    assert fade.communicate(timeout=120)[0] == WELL
    assert fade.returncode == 0


@pytest.mark.parametrize("how", WAYS)
def test_children_live_when_fade_was_killed(program, build_dir, tmp_path, how):
    command, environment = program
    fade = start([build_dir / "cli/run/fade-run", "-q", "-e", "all,hot", "-o", "run.db", "--", *command(how)],
                 environment, tmp_path)
    time.sleep(0.5)  # any moment will do
    fade.kill()
    assert fade.communicate(timeout=60)[0] in (WELL, "")  # nothing: killed before the program began
