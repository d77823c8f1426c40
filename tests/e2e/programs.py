"""Runs fade's programs as a user would, with an environment that holds none of the user's own settings."""
import contextlib
import os
import sqlite3
import subprocess
import time

import pytest

TIME_LIMIT = 120


class Programs:
    def __init__(self, build, home):
        self.folder = build.folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("FADE_") and k != "XDG_CONFIG_HOME"}
        self.environment.update(HOME=str(home), FADE_CONFIG="/dev/null", LC_ALL="C.UTF-8")

    def path(self, name):
        return str(self.folder / "cli" / name.removeprefix("fade-") / name)

    def __call__(self, name, *arguments, cwd=None, stdin="", env=None):
        return subprocess.run([self.path(name), *(a if isinstance(a, bytes) else str(a) for a in arguments)],
                              cwd=cwd, input=stdin, text=True, timeout=TIME_LIMIT,
                              env={**self.environment, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def fade(build, tmp_path):
    return Programs(build, tmp_path)


@pytest.fixture
def demo(build):
    return build.demo


def run(fade, tmp_path, *arguments, **more):
    return fade("fade-run", *arguments, cwd=tmp_path, **more)


def wait_for_a_call(recording):
    """Python may take long to start, and fade long to attach, on a machine with other work."""
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        with contextlib.suppress(sqlite3.Error):
            with contextlib.closing(sqlite3.connect(f"file:{recording}?mode=ro", uri=True)) as db:
                if db.execute("SELECT count(*) FROM call_").fetchone()[0] > 0:
                    return
        time.sleep(0.05)
    raise AssertionError(f"no call in {recording} after {TIME_LIMIT} s")
