"""Programs that run already, fade-attach on them, and what can be seen of a process from outside."""
import collections
import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import time

import pytest

import harness

PATIENCE = 90


def until(condition, what="it"):
    """What the condition yields once that is true."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.002)
    return value


def fields(path):
    """Of a status file of proc(5)."""
    with contextlib.suppress(OSError):
        return dict(line.split(":\t", 1) for line in path.read_text(errors="replace").splitlines() if ":\t" in line)
    return {}


class Target:
    """A program that was started without fade. It is told what to do through its standard input, and answers in
    lines."""

    def __init__(self, command, environment, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.errors = folder / "stderr"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(command, env=environment, cwd=folder,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, start_new_session=True)
        self.pid = self.process.pid
        self.received = b""

    def proc(self, *parts):
        return pathlib.Path("/proc", str(self.pid), *parts)

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        """The next line that it says."""
        os.set_blocking(self.process.stdout.fileno(), False)
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.received:
            assert time.monotonic() < end, "it says nothing"
            more = self.process.stdout.read()
            assert more != b"", f"it ended with {self.process.wait(PATIENCE)}: {self.errors.read_text()}"
            self.received += more or b""
            time.sleep(0 if more else 0.002)
        line, self.received = self.received.split(b"\n", 1)
        return line.decode()

    def ask(self, line):
        self.tell(line)
        return self.hear()

    def end(self):
        """Ends its input; its last words and its status."""
        self.process.stdin.close()
        self.process.stdin = None
        os.set_blocking(self.process.stdout.fileno(), True)
        rest = self.process.communicate(timeout=PATIENCE)[0]
        return (self.received + rest).decode(), self.process.returncode

    def counts(self):
        """Function -> calls so far, as the runtime itself counts, in all processes."""
        return collections.Counter(harness.summed(harness.read_counts(self.folder)))

    def calls_on(self, by=50):
        """Until it has made so many calls more. Its children are rarely asked: thousands have a file each."""
        def calls(pid="*"):
            return sum(harness.summed(harness.read_counts(self.folder, pid)).values())

        own, before, tries = calls(self.pid), {}, itertools.count(1)

        def of_children():
            now = calls()
            return now >= before.setdefault("all", now) + by

        until(lambda: calls(self.pid) >= own + by or (next(tries) % 20 == 0 and of_children()), "calls")

    def threads(self):
        """tid -> status of each thread."""
        found = {}
        with contextlib.suppress(OSError):
            for path in self.proc("task").iterdir():
                if status := fields(path / "status"):
                    found[int(path.name)] = status
        return found

    def alive(self):
        """A thread that lives: the memory of a process whose leader has ended is seen through the others alone."""
        return next(tid for tid, status in self.threads().items() if status["State"][0] not in "ZX")

    def states(self):
        return {status["State"][0] for status in self.threads().values()}

    def tracers(self):
        return {int(status["TracerPid"]) for status in self.threads().values()}

    def falls_asleep(self):
        """All threads but a leader that has ended sleep where they were."""
        until(lambda: self.states() <= set("SZ"), "sleep")

    def kill(self):
        for pid in harness.descendants(self.pid):
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == self.pid:
                    os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(PATIENCE)


# ---------------------------------------------------------------- from outside
def mappings(pid):
    """Of a process, by a thread that lives: (begin, end, permissions, offset, inode, path) of each."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        begin, end = (int(word, 16) for word in words[0].split("-"))
        yield begin, end, words[1], int(words[2], 16), int(words[4]), words[5] if len(words) > 5 else ""


def differing_text(target):
    """Bytes of executable mappings that are not what their files hold, and how many bytes were compared."""
    differ = compared = 0
    pid = target.alive()
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for begin, end, permissions, offset, inode, _ in mappings(pid):
            if "x" not in permissions or not inode:
                continue
            memory.seek(begin)
            now = memory.read(end - begin)
            with open(f"/proc/{pid}/map_files/{begin:x}-{end:x}", "rb") as file:
                file.seek(offset)
                original = file.read(end - begin)
            original += bytes(len(now) - len(original))
            differ += sum(a != b for a, b in zip(now, original)) if now != original else 0
            compared += len(now)
    return differ, compared


class Look:
    """What an attachment must leave as it was."""

    def __init__(self, target):
        kept = ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd")
        self.signals = {tid: {name: status[name] for name in kept} for tid, status in target.threads().items()}
        everything = list(mappings(target.alive()))
        self.mappings = len(everything)
        self.executable = sorted((begin, end, path) for begin, end, permissions, _, _, path in everything
                                 if "x" in permissions)
        self.descriptors = {path.name: os.readlink(path) for path in target.proc("fd").iterdir()}
        self.traced = target.tracers() - {0}

    def is_still_true_of(self, target):
        now = vars(Look(target))
        if changed := [f"{name} was {was}, is {now[name]}" for name, was in vars(self).items() if now[name] != was]:
            pytest.fail("\n".join(changed))


def is_untouched(target, before):
    """The check that ends most tests: nothing of fade is left in the process, and nobody stands still."""
    before.is_still_true_of(target)
    assert target.tracers() == {0}
    assert not target.states() & set("tT")
    differ, compared = differing_text(target)
    assert differ == 0 and compared > 100_000


# ---------------------------------------------------------------- fade-attach
class Attachment:
    def __init__(self, program, environment, folder, *arguments, **options):
        self.database = folder / "x.db"
        self.errors = folder / "fade-attach.stderr"
        words = [program, "-o", self.database, "-e", harness.EVERYTHING, *map(str, arguments)]
        folder.mkdir(parents=True, exist_ok=True)
        with open(self.errors, "wb") as errors:
            options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": errors, **options}
            self.process = subprocess.Popen(words, env=environment, cwd=folder, **options)

    def says(self):
        return self.errors.read_text(errors="replace")

    def has_come(self):
        """It watches from now on."""
        until(lambda: "fade: held " in self.says() or self.process.poll() is not None, "fade-attach")
        assert self.process.poll() is None, self.says()
        return self

    def tells(self, text):
        """Sooner or later: what it has to say comes behind what has_come() waits for."""
        until(lambda: text in self.says() or self.process.poll() is not None, text)
        assert text in self.says()

    def leave(self, how=signal.SIGTERM):
        """Detaches. The recording."""
        self.process.send_signal(how)
        self.ends(0)
        assert "detached from" in self.says()
        return harness.Database(self.database)

    def ends(self, status):
        stdout = self.process.communicate(timeout=PATIENCE)[0]
        assert self.process.returncode == status, self.says()
        assert stdout == b""


@pytest.fixture
def start(build, tmp_path):
    """Starts a tracee, given as in cases.py, and waits until it says that it is ready."""
    started = []

    def begin(line, runtime="v6", command=(), **environment):
        target = Target([*command, *build.command(line)], build.environment(runtime, **environment),
                        tmp_path / f"target{len(started)}")
        started.append(target)
        if line.split()[0] != "plain":
            assert target.hear() == "ready"
        return target

    yield begin
    for target in started:
        target.kill()


@pytest.fixture
def attach(build, tmp_path):
    """Starts fade-attach on targets or with other arguments; it is killed at the end if it is still there."""
    started = []

    def begin(*arguments, **options):
        words = [word.pid if isinstance(word, Target) else word for word in arguments]
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("FADE_")},
                       "FADE_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8"}
        attachment = Attachment(build.folder / "cli" / "attach" / "fade-attach",
                                environment, tmp_path / f"attach{len(started)}", *words, **options)
        started.append(attachment)
        return attachment

    yield begin
    for attachment in started:
        attachment.process.kill()
        attachment.process.wait(PATIENCE)


def recorded(database):
    """Function -> calls, from the rows; the rollups must agree."""
    rows, rollups = (collections.Counter(harness.summed(database.counts(source))) for source in ("calls", "call_stats"))
    assert rows == rollups
    assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
    return rows
