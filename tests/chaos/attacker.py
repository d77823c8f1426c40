"""A fade that is let run, starved, stopped or killed at a chosen moment."""
import contextlib
import dataclasses
import json
import os
import resource
import select
import signal
import socket
import sqlite3
import struct
import subprocess
import time

from target import PATIENCE, Lost, status_fields

MEBIBYTE = 1 << 20


@dataclasses.dataclass
class Plan:
    """When and how one fade ends. Chosen before it starts."""
    phase: str           # "start", "attach", "trace", "detach": where it is killed; "none": it may go on to its end
    moment: float        # from 0 to 1: how far into the phase
    by_call: bool        # measured in calls that touch the program, not in time; after: behind the call, not before
    after: bool
    signal: int
    stopped: float = 0   # seconds of SIGSTOP before, 0: none
    killed_stopped: bool = False
    lack: tuple = ()     # ("descriptors" | "memory" | "disk", how much)

    def __str__(self):
        lack = f" with {self.lack[1]} of {self.lack[0]}" if self.lack else ""
        killed = " and not continued" if self.killed_stopped else ""
        stop = f", stopped {self.stopped * 1000:.1f} ms{killed}" if self.stopped else ""
        measure = f"{'after' if self.after else 'before'} a call " if self.by_call else ""
        return f"{signal.Signals(self.signal).name} {measure}at {self.moment:.3f} of {self.phase}{stop}{lack}"


def make_plan(random, row):
    plan = Plan(random.choices(["start", "attach", "trace", "detach"], [1, 9, 5, 5])[0],
                random.random(), random.random() < 0.6,
                random.random() < 0.5, random.choices([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS],
                                                      [12, 1, 1, 1])[0])
    if random.random() < 0.1:
        plan.stopped, plan.killed_stopped = random.uniform(0.0005, 0.03), random.random() < 0.5
    if plan.by_call:
        plan.signal, plan.stopped = signal.SIGKILL, 0
    if row.faults:
        plan.by_call = False
        kind = random.choice(["descriptors", "memory", "disk"])
        plan.lack = (kind, {"descriptors": random.randrange(4, 40), "memory": random.randrange(20, 260) * MEBIBYTE,
                            "disk": random.choice([64, 128, 256, 512, 1024]) * 1024}[kind])
        if random.random() < 0.6:
            plan.phase = "none"
    return plan


class Timing:
    """How long attaching and detaching take here, in seconds and in calls: what the moments of plans are fractions
    of."""

    def __init__(self):
        self.seconds = {"start": 0.1, "attach": 0.1, "detach": 0.1, "launch": 0.3}
        self.calls = {"attach": 500, "trace": 50, "detach": 500, "launch": 500}

    def learn(self, what, seconds, calls=None):
        self.seconds[what] += 0.3 * (min(seconds, 5) - self.seconds[what])
        if calls:
            self.calls[what] += round(0.3 * (calls - self.calls[what]))

    def moment(self, plan, what=None):
        return plan.moment * 1.2 * self.seconds[what or plan.phase]

    def call(self, plan, what=None):
        return 1 + int(plan.moment * 1.1 * self.calls[what or plan.phase])


class Killer:
    """Counts the calls of one fade and says at which it dies (killer.c)."""

    WORDS = struct.Struct("<QQ")

    def __init__(self, build, folder):
        self.file = open(folder / "killer", "w+b", buffering=0)
        self.file.write(self.WORDS.pack(0, 0).ljust(4096, b"\0"))
        self.environment = {"LD_PRELOAD": str(build.tracees / "libchaos_killer.so"),
                            "FADE_CHAOS_KILLER": str(folder / "killer")}

    def calls(self):
        return self.WORDS.unpack(os.pread(self.file.fileno(), self.WORDS.size, 0))[0]

    def set(self, call, after):
        os.pwrite(self.file.fileno(), struct.pack("<Q", call << 1 | after), 8)

    def close(self):
        self.file.close()


class Fade:
    """A fade-attach under a plan."""

    def __init__(self, build, target, plan, timing, disk, number):
        self.target, self.plan, self.timing = target, plan, timing
        self.database = (disk if plan.lack and plan.lack[0] == "disk" else target.folder) / f"{number}.db"
        self.errors = target.folder / f"{number}.stderr"
        engine = target.row.options if target.row.taps and not target.row.launched else []
        engine = engine + target.row.acting(target.folder)
        self.events, self.unread, self.seen = [], b"", time.monotonic()
        self.socket, worker = socket.socketpair()
        self.began = time.monotonic()
        self.killer = Killer(build, target.folder)
        if plan.by_call and plan.phase == "attach":
            self.killer.set(timing.call(plan), plan.after)
        with open(self.errors, "wb") as errors, worker:
            self.process = subprocess.Popen(
                [str(build.folder / "cli" / "attach" / "fade-attach"), "--control",
                 str(worker.fileno()), "-vv", *engine, "-o", str(self.database),
                 str(target.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors, pass_fds=[worker.fileno()],
                preexec_fn=self.limit, env={"PATH": os.environ["PATH"], "FADE_CONFIG": "/dev/null",
                                            **self.killer.environment})

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        kinds = {"descriptors": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS}
        if self.plan.lack and self.plan.lack[0] in kinds:
            resource.setrlimit(kinds[self.plan.lack[0]], (self.plan.lack[1], self.plan.lack[1]))

    def has_ended(self):
        return self.process.poll() is not None

    def read(self, seconds):
        """Takes in events that come within this time. False: there will be no more."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return True
        got = b""
        with contextlib.suppress(ConnectionResetError):
            got = self.socket.recv(1 << 16)
        *lines, self.unread = (self.unread + got).split(b"\n")
        self.events += [json.loads(line) for line in lines]
        return bool(got)

    def event(self, kind):
        return next((event for event in self.events if event["event"] == kind), None)

    def wait_event(self, kind):
        """None: it ended, or stopped talking, before."""
        deadline = time.monotonic() + PATIENCE
        while not self.event(kind):
            self.target.must_live()
            if not self.read(0.05):
                return self.event(kind)
            if time.monotonic() > deadline:
                raise Lost(f"fade never said that it has {kind}")
        return self.event(kind)

    def wait_seized(self):
        thread, deadline = self.target.some_thread(), time.monotonic() + PATIENCE
        while not self.has_ended() and status_fields(self.target.pid, thread).get("TracerPid") != str(self.process.pid):
            self.target.must_live()
            time.sleep(0.0003)
            if time.monotonic() > deadline:
                raise Lost("fade never came to it")
        self.seen = time.monotonic()
        if not self.has_ended():
            self.timing.learn("start", self.seen - self.began)

    def wait_attached(self):
        if self.wait_event("attached"):
            self.timing.learn("attach", time.monotonic() - self.seen, self.killer.calls())
        return self.event("attached")

    def ask_to_detach(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        self.asked, self.asked_at = time.monotonic(), self.killer.calls()

    def has_detached(self):
        self.timing.learn("detach", time.monotonic() - self.asked, self.killer.calls() - self.asked_at)

    def wait_end(self):
        deadline = time.monotonic() + PATIENCE
        while not self.has_ended():
            if not self.read(0.02):
                self.process.wait(PATIENCE)
            if time.monotonic() > deadline:
                raise Lost("fade does not end")
        while self.read(1):
            pass
        return self.process.returncode

    def be_stopped(self):
        if not self.plan.stopped:
            return
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(self.plan.stopped)
        if not self.plan.killed_stopped:
            self.process.send_signal(signal.SIGCONT)

    def go_to_the_moment(self):
        """Whether the plan's moment was reached by a fade that still runs."""
        if self.plan.phase != "start":
            self.wait_seized()
        if self.plan.phase in ("trace", "detach", "none") and not self.wait_attached():
            return False
        if self.plan.phase == "detach":
            self.ask_to_detach()
        if self.plan.by_call and self.plan.phase != "start":
            return self.wait_call()
        if self.plan.phase != "none":
            time.sleep(self.plan.moment * self.target.row.tracing if self.plan.phase == "trace"
                       else self.timing.moment(self.plan))
        return not self.has_ended()

    def wait_call(self):
        """Until the killer has killed it, or it has detached before that."""
        if self.plan.phase != "attach":
            self.killer.set(self.killer.calls() + self.timing.call(self.plan), self.plan.after)
        deadline = time.monotonic() + PATIENCE
        while self.read(0.02) and time.monotonic() < deadline:
            self.target.must_live()
            if self.plan.phase == "attach" and self.event("attached"):
                self.process.kill()
        if self.wait_end() == 0:
            return False
        return True

    def kill(self, how):
        if not self.has_ended():
            self.process.send_signal(how)
        if self.plan.stopped and how != signal.SIGKILL:
            self.process.send_signal(signal.SIGCONT)
        return self.wait_end() == -how

    def clean_up(self, keeps_recording=False):
        if not self.has_ended():
            self.process.kill()
            self.process.wait()
        self.socket.close()
        self.killer.close()
        if keeps_recording:
            return
        for suffix in ("", "-wal", "-shm", "-journal"):
            self.database.with_name(self.database.name + suffix).unlink(missing_ok=True)

    def query(self, sql):
        """None: it was killed before there was a database with tables."""
        if not self.database.exists():
            return None
        connection = sqlite3.connect(f"file:{self.database}?mode=rw", uri=True)
        try:
            return connection.execute(sql).fetchone()[0]
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
        finally:
            connection.close()
