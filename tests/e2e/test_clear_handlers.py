"""Children without signal handlers (CLONE_CLEAR_SIGHAND) have our breakpoints, but not the handler that makes them
harmless."""
import os
import random
import signal
import subprocess
import time

import pytest

import harness

CLEAR, UNTRACED = 0x100000000, 0x00800000
WAYS = {"traced": f"{CLEAR:x}", "untraced": f"{CLEAR | UNTRACED:x}", "spawned": "spawn"}
CHILDREN = 60
LIVES = int(os.environ.get("FADE_STORMS", "12")) // 4 or 1  # programs of each kind whose fade is killed
WELL = f"0 of {CHILDREN} children died\n".encode()


@pytest.mark.parametrize("way", WAYS)
def test_they_live_while_fade_lives(build, tmp_path, way):
    ran = harness.run_supervised(build, f"clear_handlers {WAYS[way]} {CHILDREN}", "v6", tmp_path)
    assert (ran.status, ran.stdout) == (0, WELL), ran.stderr
    if way != "untraced":
        found = harness.summed(harness.Database(tmp_path / "run.db").counts("calls"))
        assert not harness.differences(ran.total, {name: found.get(name, 0) for name in ran.total}, 0)


def start(build, folder, *words):
    return subprocess.Popen([*map(str, words)], env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def calls(folder):
    return sum(harness.summed(harness.read_counts(folder)).values())


def wait_for_calls(folder, process):
    end = time.monotonic() + 60
    while calls(folder) < 20:
        assert process.poll() is None and time.monotonic() < end, "the program made no calls"
        time.sleep(0.002)


@pytest.mark.parametrize("way", WAYS)
def test_they_live_when_fade_run_was_killed(build, tmp_path, way):
    rng = random.Random(way)
    for number in range(LIVES):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = start(build, folder, build.fade_run, "-q", "-e", harness.EVERYTHING, "-o", "run.db", "--",
                    *build.command(f"clear_handlers {WAYS[way]} {CHILDREN}"))
        wait_for_calls(folder, run)
        time.sleep(rng.uniform(0, 0.05))
        run.kill()
        said, _ = run.communicate(timeout=60)  # to the end of the program, which has the pipe too
        assert said == WELL


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "left"])
@pytest.mark.parametrize("way", WAYS)
def test_they_live_when_fade_attach_came_and_went(build, tmp_path, way, end):
    rng = random.Random(way)
    for number in range(LIVES):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = start(build, folder, *build.command(f"clear_handlers {WAYS[way]} {CHILDREN}"))
        wait_for_calls(folder, program)
        fade = start(build, folder, build.folder / "cli" / "attach" / "fade-attach",
                     "-q", "-e", harness.EVERYTHING, "-o", "fade.db",
                     program.pid)
        time.sleep(rng.uniform(0, 0.15))
        fade.send_signal(end)
        fade.communicate(timeout=60)
        said, _ = program.communicate(timeout=60)
        assert (said, program.returncode) == (WELL, 0)
