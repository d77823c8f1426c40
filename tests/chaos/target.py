"""The program that is to survive, and what can be seen of it from outside."""
import contextlib
import ctypes
import json
import os
import pathlib
import resource
import select
import signal
import subprocess
import time

from evidence import Evidence
from harness import RECORD, read_counts, summed

PATIENCE = 120  # seconds, where something must happen
CHECKED = ("hipMalloc", "hipMemcpy", "hipMemset", "hipDeviceSynchronize", "hipFree",
           "hipLaunchHostFunc", "hipStreamQuery")


class Lost(Exception):
    """The program died, hangs, or is not what it was."""


def become_subreaper():
    """Programs whose fade-run was killed become our children."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Words:
    """The output of a program. A wait that ends too early keeps what it has read."""

    def __init__(self, stream):
        self.stream, self.text, self.is_complete = stream, "", False

    def lines(self, beginning):
        return [line for line in self.text.split("\n")[:-1] if line.startswith(beginning)]

    def wait(self, deadline, wanted=None):
        """Until the output ends, or has a line that begins with `wanted`. False: too late."""
        while not self.is_complete and (wanted is None or not self.lines(wanted)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.stream], [], [], left)[0]:
                return False
            got = os.read(self.stream.fileno(), 65536)
            self.text += got.decode(errors="replace")
            self.is_complete = not got
        return True


def process_name(pid):
    """Also of one that has ended and was not waited for."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def status_fields(pid, tid=None):
    path = f"/proc/{pid}/task/{tid or pid}/status"
    with contextlib.suppress(OSError):
        return dict(line.split(":\t", 1) for line in pathlib.Path(path).read_text().splitlines() if ":\t" in line)
    return {}


class Target:
    def __init__(self, build, row, folder, prefix=()):
        """With a prefix (fade-run and its options) that program is what is started; its child is the target."""
        self.row, self.folder, self.pid, self.status = row, folder, 0, None
        folder.mkdir(parents=True, exist_ok=True)
        library = next((build.runtimes / "v7").glob("libamdhip64.so.7"))
        self.errors = open(folder / "target.stderr", "wb")
        self.process = subprocess.Popen(
            [*map(str, prefix), str(build.tracees / "chaos"), row.modes, str(row.threads), str(library)], cwd=folder,
            env=build.environment(row.runtime), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, preexec_fn=self.prepare)
        self.is_launched, self.words, self.evidence = bool(prefix), Words(self.process.stdout), Evidence()

    def prepare(self):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def wait_ready(self):
        """False: it ended before it began."""
        if not self.words.wait(time.monotonic() + PATIENCE, "ready "):
            raise Lost("never became ready")
        if not self.words.text:
            return False
        self.pid = int(self.words.text.split()[1])
        self.evidence.begin(self.pid)
        tids = os.listdir(f"/proc/{self.pid}/task")
        self.caller = next((int(tid) for tid in tids if int(tid) != self.pid), self.pid)  # the first one made, a caller
        first = (self.folder / f"counts.{self.pid}.0").read_bytes()
        self.place = [name.rstrip(b"\0") for name, _, _ in RECORD.iter_unpack(first)].index(b"hipMemset") * RECORD.size
        return True

    def executes(self):
        return "e" in self.row.modes

    def calls(self):
        """How often the first process has called hipMemset until now. Each program that it was has a file of its
        own."""
        total = 0
        for path in self.folder.glob(f"counts.{self.pid}.*" if self.executes() else f"counts.{self.pid}.0"):
            with open(path, "rb", buffering=0) as counts:
                record = os.pread(counts.fileno(), RECORD.size, self.place)
            total += sum(RECORD.unpack(record)[1:]) if len(record) == RECORD.size else 0
        return total

    def goes_on(self, calls=20):
        """Waits until it has made some calls."""
        before, deadline = self.calls(), time.monotonic() + PATIENCE
        while self.calls() < before + calls:
            self.must_live()
            if time.monotonic() > deadline:
                raise Lost("hangs")
            time.sleep(0.001)

    def some_thread(self):
        """A thread that lives as long as the process, and is no zombie."""
        return self.caller if "L" in self.row.modes else self.pid

    def proc(self):
        """Where its memory is shown: a process whose first thread has ended has none there."""
        return pathlib.Path(f"/proc/{self.some_thread()}")

    def must_live(self):
        if self.has_ended():
            raise Lost(self.how_it_ended())

    def has_ended(self):
        if self.status is None and self.pid:
            with contextlib.suppress(ChildProcessError):  # it is fade-run's
                if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    self.evidence.ended(self.pid)
                    self.status = os.waitpid(self.pid, 0)[1]
        return self.status is not None

    def how_it_ended(self):
        code = os.waitstatus_to_exitcode(self.status)
        core = " and left a core file" if os.WCOREDUMP(self.status) else ""
        how = f"ended with status {code}" if code >= 0 else f"died of {signal.Signals(-code).name}{core}"
        return f"{how} (wait status {self.status:#06x})"

    def state(self):
        """What must be the same after fade has come and gone."""
        maps = (self.proc() / "maps").read_text().splitlines()
        code = [line for line in maps if line.split()[1][2] == "x"]
        threads = {}
        for tid in sorted(os.listdir(f"/proc/{self.pid}/task")):
            fields = status_fields(self.pid, tid)
            mask = ("SigBlk",) if fields.get("Name") == "caller" else ()
            threads[tid] = {name: fields.get(name) for name in ("Name", "SigIgn", "SigCgt", "TracerPid", *mask)}
        return {"code": code, "threads": threads}

    def changed_text(self):
        """(library, address) of bytes of code that are not those of the file."""
        while True:
            maps = (self.proc() / "maps").read_text()
            changed = self.changed_in(maps)
            if not changed or not self.executes() or maps == (self.proc() / "maps").read_text():
                return changed

    def changed_in(self, maps):
        changed = []
        for line in maps.splitlines():
            words = line.split()
            if words[1] != "r-xp" or not words[-1].startswith("/"):
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            there = read_memory(self.some_thread(), begin, end - begin)
            changed += differences(there, original(words[-1], int(words[2], 16), end - begin), words[-1], begin)
        return changed

    def end(self):
        """Ends it and checks what it says about itself."""
        deadline = time.monotonic() + PATIENCE
        while not self.words.is_complete and time.monotonic() < deadline:
            os.kill(self.pid, signal.SIGUSR1)  # again: an exec may come between the signal and what it does
            self.evidence.tell("asked to end")
            self.words.wait(time.monotonic() + (2 if self.executes() else PATIENCE))
        if not self.words.is_complete:
            raise Lost("does not end")
        self.evidence.tell("closed its output")
        self.reap()
        lines = self.words.lines("{")
        if self.status is None:
            raise Lost(f"closed its output and does not end; it said {lines}")
        if self.status != 0 and not self.is_launched:
            raise Lost(f"{self.how_it_ended()}; it said {lines}")
        if not lines:
            raise Lost(f"{self.how_it_ended()} without a word; it said {self.words.text!r}")
        said = json.loads(lines[-1])
        counted = summed(read_counts(self.folder))
        for name in CHECKED:  # calls in whose middle it executed itself have begun
            least = 0 if name == self.row.skipped else said[name]
            if not least <= counted.get(name, 0) <= said.get(f"begun {name}", said[name]):
                raise Lost(f"calls that it made and calls that were executed differ: {said}, {counted}")
        if said["wrong"]:
            raise Lost(f"is wrong: {said}")

    def reap(self):
        """Its parent may be fade-run, which then ends too."""
        deadline = time.monotonic() + PATIENCE
        while not self.has_ended() and time.monotonic() < deadline:
            if self.is_launched and self.process.poll() is not None and not pathlib.Path(f"/proc/{self.pid}").exists():
                self.status = 0
            time.sleep(0.001)

    def kill(self):
        if self.pid and not self.has_ended():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.reap()
        self.process.kill() if self.process.poll() is None and self.is_launched else None
        self.process.wait() if self.is_launched else None
        self.process.stdout.close()
        self.errors.close()
        self.evidence.close()
        with contextlib.suppress(ChildProcessError):  # children that it left to us
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def read_memory(tid, address, size):
    """What there is of it. Not through /proc, where each page stands in line for the lock of the memory map."""
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(size)
    local, remote = Vector(ctypes.addressof(buffer), size), Vector(address, size)
    got = ctypes.CDLL(None).process_vm_readv(tid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return buffer.raw[:max(got, 0)]


def original(path, offset, size, kept={}):
    key = (path, offset, size)
    if key not in kept:
        with open(path, "rb") as file:
            kept[key] = os.pread(file.fileno(), size, offset)
    return kept[key]


def differences(there, file, path, begin, most=8):
    size = min(len(there), len(file))
    if there[:size] == file[:size]:
        return []
    return [(path, hex(begin + i), there[i]) for i in range(size) if there[i] != file[i]][:most]
