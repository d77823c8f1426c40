"""Programs that execute themselves every few milliseconds, from any thread, while fade comes, watches, leaves or is
killed."""
import os
import random
import signal
import subprocess
import time

import pytest

import harness

MODES = ["alone", "leader", "thread", "sleeping", "busy"]
EXECS = 40
LIVES = int(os.environ.get("FADE_STORMS", "6"))  # programs of each kind
LONGEST = 60  # seconds until a watchdog takes fade or the program for dead


class Storm:
    def __init__(self, build, folder, mode, execs=EXECS):
        folder.mkdir(parents=True, exist_ok=True)
        self.execs, self.errors = execs, folder / "storm.stderr"
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(build.command(f"exec_storm {mode} {execs}"),
                                            env=build.environment("v6"), cwd=folder,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)

    def must_end_well(self):
        try:
            stdout, _ = self.process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise AssertionError("the program hangs") from None
        said = self.errors.read_text(errors="replace")
        assert (self.process.returncode, stdout) == (0, f"executed {self.execs} times\n".encode()), said

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Fade:
    """A fade-attach, watched from outside."""

    def __init__(self, build, folder, pid, *options):
        self.errors = folder / "fade.stderr"
        words = [build.folder / "cli" / "attach" / "fade-attach", "-q", "--force",
                 "-e", harness.EVERYTHING, "-o", folder / "fade.db",
                 *options, str(pid)]
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=errors,
                                            stdout=subprocess.DEVNULL, cwd=folder,
                                            env={"PATH": os.environ["PATH"], "FADE_CONFIG": "/dev/null"})

    def must_end(self, statuses=(0,), within=LONGEST):
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise AssertionError("fade hangs") from None
        assert status in statuses, self.errors.read_text(errors="replace")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def lives(build, tmp_path):
    """Starts storms, one after the other, each with a fade-attach after a random while."""
    rng, started = random.Random(14), []

    def begin(mode, *options):
        for _ in range(LIVES):
            storm = Storm(build, tmp_path, mode)
            started.append(storm)
            time.sleep(rng.uniform(0, 0.06))
            fade = Fade(build, tmp_path, storm.process.pid, *options)
            started.append(fade)
            yield storm, fade, rng

    yield begin
    for one in started:
        one.end()


GONE = 4  # the program may end before fade comes


@pytest.mark.parametrize("mode", MODES)
def test_come_and_leave(lives, mode):
    for storm, fade, _ in lives(mode, "-d", "0s"):
        fade.must_end((0, GONE))
        storm.must_end_well()


@pytest.mark.parametrize("mode", MODES)
def test_stay_to_the_end(lives, mode):
    for storm, fade, _ in lives(mode):
        storm.must_end_well()
        fade.must_end((0, GONE))


@pytest.mark.parametrize("mode", MODES)
def test_killed(lives, mode):
    for storm, fade, rng in lives(mode):
        time.sleep(rng.uniform(0, 0.15))
        fade.process.kill()
        fade.must_end((0, GONE, -signal.SIGKILL))
        storm.must_end_well()


INTERRUPTED = 1  # asked to leave before it had come


@pytest.mark.parametrize("mode", MODES)
def test_asked_to_leave(lives, mode):
    """Whatever it does just then."""
    for storm, fade, rng in lives(mode):
        time.sleep(rng.uniform(0, 0.15))
        fade.process.send_signal(rng.choice([signal.SIGTERM, signal.SIGINT]))
        fade.must_end((0, GONE, INTERRUPTED, -signal.SIGTERM, -signal.SIGINT))
        storm.must_end_well()


@pytest.mark.parametrize("mode", MODES)
def test_launched(build, tmp_path, mode):
    ran = harness.run_supervised(build, f"exec_storm {mode} {EXECS}", "v6", tmp_path)
    assert (ran.status, ran.stdout) == (0, f"executed {EXECS} times\n".encode()), ran.stderr
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT count(*) FROM lifecycle WHERE kind = 'exec'") == EXECS + 1
    if mode == "busy":  # threads that an exec ends in the middle of a call: five of them, each time
        slack = 5 * EXECS
        found = harness.summed(database.counts("calls"))
        assert not harness.differences(ran.total, {name: found.get(name, 0) for name in ran.total}, slack)


@pytest.mark.parametrize("mode", MODES)
def test_launched_and_killed(build, tmp_path, mode):
    rng = random.Random(15)
    for number in range(LIVES):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = subprocess.Popen([build.fade_run, "-q", "-o", folder / "run.db", "--",
                                *build.command(f"exec_storm {mode} {EXECS}")],
                               env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.03, 0.3))
        run.kill()
        try:
            said, _ = run.communicate(timeout=LONGEST)  # to the end of the program, which has the pipe too
        except subprocess.TimeoutExpired:
            raise AssertionError("the program hangs") from None
        has_begun = any(folder.glob("counts.*"))
        assert said == f"executed {EXECS} times\n".encode() or (said == b"" and not has_begun), "the program died"
