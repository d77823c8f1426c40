"""A program that takes fade's breakpoints out."""
import contextlib
import subprocess
import time

import harness

ROUNDS = 10


class Vanishing:
    """The tracee under fade-run, or alone; it goes on when it gets a line."""

    def __init__(self, build, folder, how, supervised=True, threads=0, options=()):
        folder.mkdir()
        self.path = folder / "run.db"
        front = [build.fade_run, *options, "-e", harness.EVERYTHING, "-o", self.path, "--"] if supervised else []
        self.process = subprocess.Popen([*front, *build.command(f"vanished {how} {ROUNDS} {threads}")],
                                        env=build.environment("v6"), cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def await_rows(self, n=1):
        end = time.monotonic() + 60
        while len(self.rows()) < n:
            assert self.process.poll() is None and time.monotonic() < end
            time.sleep(0.02)

    def rows(self):
        """What the recording says so far: (time, number of breakpoints, words)."""
        with contextlib.suppress(harness.sqlite3.OperationalError), contextlib.closing(
            harness.Database(self.path).connection) as database:
            return database.execute(
                "SELECT start, value, detail FROM lifecycle WHERE kind = 'vanished' ORDER BY id").fetchall()
        return []

    def calls(self, name):
        return harness.Database(self.path).value(f"SELECT count(*) FROM calls WHERE name = '{name}'")

    def end(self, line="go\n"):
        out, err = self.process.communicate(line, timeout=60)
        return self.process.returncode, out, err
