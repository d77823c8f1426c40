"""Where the measured programs are and how they are started."""
import os
import shutil
import sqlite3

import measure


class World:
    def __init__(self, build, folder):
        self.build = build
        self.folder = folder  # everything written goes here
        self.recording = folder / "run.db"
        self.fade_run = build / "cli" / "run" / "fade-run"
        self.fade_query = build / "cli" / "query" / "fade-query"
        self.bench = build / "tests" / "bench"
        cpus = sorted(os.sched_getaffinity(0))
        self.first, self.other = cpus[0], cpus[-1]

    def missing(self):
        programs = [self.fade_run, self.fade_query, self.library("v5") / "libamdhip64.so",
                    self.library("v6") / "libamdhip64.so"]
        programs += [self.bench / name for name in ("bench_calls", "bench_floor",
                                                    "store_bench", "plain_inserts", "libbench_interposer.so")]
        return [str(path) for path in programs if not path.exists()]

    def library(self, name):
        return self.build / "tests" / "runtime" / name

    def environment(self, library="v6", **more):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LD_LIBRARY_PATH": str(self.library(library)),
                **more}

    def program(self, function, calls, threads=1):
        return [self.bench / "bench_calls", function, calls, threads]

    def pinned(self, *command, cpu=None):
        """On one core, with all that it starts: taskset is always there (util-linux)."""
        return ["taskset", "-c", self.first if cpu is None else cpu, *command]

    def supervised(self, *command, options=()):
        return [self.fade_run, "-q", *options, "-o", self.recording, "--", *command]

    def forget_recording(self):
        for suffix in ("", "-wal", "-shm"):
            self.recording.with_name(self.recording.name + suffix).unlink(missing_ok=True)

    def recorded(self):
        """Calls counted in the recording; a row that lost calls is no measurement."""
        connection = sqlite3.connect(f"file:{self.recording}?mode=ro", uri=True)
        try:
            lost = connection.execute("SELECT coalesce(sum(n), 0) FROM drops").fetchone()[0]
            calls = dict(connection.execute("SELECT name, sum(calls) FROM top GROUP BY name"))
        finally:
            connection.close()
        if lost:
            raise measure.Failed(f"{lost} calls were dropped")
        return calls

    @staticmethod
    def has(tool):
        return shutil.which(tool) is not None
