"""Runs programs alone and under fade-run, and reads what the stand-in runtime and the database counted."""
import collections
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import sqlite3
import struct
import subprocess

RECORD = struct.Struct("<112sQQ")  # tests/runtime/oracle.c
EVERYTHING = "all,hot"


class Build:
    """A build folder's programs, runtimes and tracees."""

    def __init__(self, folder):
        self.folder = folder
        self.fade_run = folder / "cli" / "run" / "fade-run"
        self.fade_query = folder / "cli" / "query" / "fade-query"
        self.runtimes = folder / "tests" / "runtime"
        self.tracees = folder / "tests" / "tracees" / "bin"
        self.demo = folder / "demo"

    def missing(self):
        wanted = [self.fade_run, self.runtimes / "v6" / "libamdhip64.so.6", self.tracees / "loop",
                  self.demo / "fade-demo"]
        return [path for path in wanted if not path.exists()]

    def environment(self, runtime, **more):
        """The same small environment for both runs, so that programs can print it."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TERM", "ASAN_OPTIONS", "LSAN_OPTIONS")
                if name in os.environ}
        libraries = f"{self.runtimes / runtime}:{self.runtimes / 'clients'}"
        return {**kept, "LD_LIBRARY_PATH": libraries, "FADE_STANDIN_COUNTS": "counts", **more}

    def command(self, line):
        """Words of a case: the first names a tracee, {v6} and the like name a runtime's library, {tracees} their
        folder."""
        places = {path.name: str(next(path.glob("libamdhip64.so*"))) for path in self.runtimes.iterdir()
                  if any(path.glob("libamdhip64.so*"))}
        words = line.format(tracees=self.tracees, **places).split()
        return [str(self.tracees / words[0]), *words[1:]]


@dataclasses.dataclass
class Ran:
    status: int  # negative: died of that signal
    stdout: bytes
    stderr: bytes
    counts: dict  # pid -> name -> calls, as the runtime counted them
    folder: pathlib.Path

    @property
    def total(self):
        return summed(self.counts)


def summed(counts):
    total = collections.Counter()
    for names in counts.values():
        total.update(names)
    return dict(total)


def c_name(name):
    """The C++ export of a function counts for the C function of that name."""
    mangled = re.match(r"_Z(\d+)", name)
    return name[mangled.end():][:int(mangled[1])] if mangled else name


def read_counts(folder, pid="*"):
    """The counter files of all processes, or of one; a process that execs or loads the runtime twice has several."""
    counts = collections.defaultdict(collections.Counter)
    for path in folder.glob(f"counts.{pid}.*"):
        pid = int(path.name.split(".")[1])
        for name, external, nested in RECORD.iter_unpack(path.read_bytes()):
            if external + nested:
                counts[pid][c_name(name.rstrip(b"\0").decode())] += external + nested
    return {pid: dict(names) for pid, names in counts.items()}


WITNESS = "signal-witness"  # a helper of fade-run's


def children_by_name():
    """pid -> (pid of a child, its name), of all processes."""
    children = collections.defaultdict(list)
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", stat.read_text(errors="replace"), re.S).groups()
            children[int(rest.split()[1])].append((int(stat.parent.name), name))
    return children


def descendants(pid):
    """A process, its children and theirs, without the witnesses of fade-run, which end with it."""
    everything = children_by_name()
    children = {parent: [child for child, name in found if name != WITNESS] for parent, found in everything.items()}
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def run(command, environment, folder, timeout=120, **options):
    folder.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **options)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        for pid in descendants(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        raise AssertionError(f"hung: {' '.join(map(str, command))}\nstdout: {stdout!r}\nstderr: {stderr!r}") from None
    return Ran(process.returncode, stdout, stderr, read_counts(folder), folder)


def run_alone(build, line, runtime, folder, **environment):
    return run(build.command(line), build.environment(runtime, **environment), folder / "alone")


def run_supervised(build, line, runtime, folder, options=("-e", EVERYTHING), **environment):
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *build.command(line)]
    return run(command, build.environment(runtime, **environment), folder / "supervised")


class Database:
    """A recording, through its public views."""

    def __init__(self, path):
        # Not read-only: a recording that was cut off has a log that its first reader must take in.
        self.connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True)
        self.connection.execute("PRAGMA query_only = 1")

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()

    def value(self, sql):
        return self.rows(sql)[0][0]

    def counts(self, source):
        """pid -> name -> calls, from the rollups ("call_stats") or from the rows ("calls")."""
        amount = "sum(calls)" if source == "call_stats" else "count(*)"
        counts = collections.defaultdict(dict)
        for pid, name, calls in self.rows(f"SELECT pid, name, {amount} FROM {source} GROUP BY pid, name"):
            counts[pid][name] = calls
        return dict(counts)


def differences(expected, found, slack=0):
    """Functions whose counts differ by more than slack: (name, expected, found)."""
    names = sorted(set(expected) | set(found))
    return [(n, expected.get(n, 0), found.get(n, 0)) for n in names
            if abs(expected.get(n, 0) - found.get(n, 0)) > slack]


MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def peak_kib(command, environment, output=subprocess.DEVNULL):
    """The most memory of a program that must succeed. The kernel counts the forked process, too, so a small one
    forks."""
    small = {**environment, "ASAN_OPTIONS": "quarantine_size_mb=1"}  # a sanitizer must not keep what was freed
    measured = ["/usr/bin/python3", "-c", MEASURE, *map(str, command)]
    done = subprocess.run(measured, env=small, stdout=output, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1])
