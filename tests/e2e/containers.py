"""Containers without an engine: the root that a Dockerfile describes, and programs in namespaces as Docker starts them.

What an engine adds is left out where fade does not see it: networks, limits, the store of images.
"""
import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess

from harness import descendants

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
ENTER = HERE / "container_enter.sh"
PATIENCE = 120
# What Docker, Podman and containerd leave to root in a container.
DEFAULT_CAPABILITIES = ("chown", "dac_override", "fsetid", "fowner", "mknod", "net_raw",
                        "setgid", "setuid", "setfcap", "setpcap",
                        "net_bind_service", "sys_chroot", "kill", "audit_write")
WITH_PTRACE = (*DEFAULT_CAPABILITIES, "sys_ptrace")
NAMESPACES = ("--mount", "--uts", "--ipc", "--net")


class Unavailable(Exception):
    """Containers cannot be made here; says why."""


def sh(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, **more)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}"
    return done.stdout


# ---------------------------------------------------------------- Dockerfiles
class Stage:
    def __init__(self, base, name):
        self.base, self.name, self.steps = base, name, []

    def arguments(self, instruction):
        return [rest for word, rest in self.steps if word == instruction]


def read_dockerfile(path):
    """Its stages, with steps (instruction, rest of the line)."""
    text = "".join(line for line in path.read_text().splitlines(keepends=True) if not line.startswith("#"))
    stages = []
    for line in filter(None, text.replace("\\\n", " ").splitlines()):
        word, rest = re.sub(r"\s+", " ", line).split(" ", 1)
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages.append(Stage(base, name))
        else:
            stages[-1].steps.append((word, rest))
    return stages


# ---------------------------------------------------------------- images
def needed_by(package):
    fields = sh("dpkg-deb", "--field", package, "Depends")
    return re.sub(r"\([^)]*\)|\|[^,]*", "", fields).replace(",", " ").split()


def base_root(folder, packages):
    done = subprocess.run([HERE / "container_root.sh", folder, *packages], stdout=subprocess.PIPE,
                          text=True, timeout=600)
    if done.returncode == 77:
        raise Unavailable(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    return folder


class Image:
    """Layers, the uppermost first, and how a container of them starts."""

    def __init__(self, layers, entry=()):
        self.layers, self.entry = layers, tuple(entry)

    def with_layer(self, folder):
        return Image([folder, *self.layers], self.entry)


def copied(step, artefacts, layer):
    """Does a COPY. What another stage made is looked for by name among the artefacts."""
    *sources, target = [word for word in step.split() if not word.startswith("--")]
    target = layer / target.lstrip("/")
    target.mkdir(parents=True, exist_ok=True)
    for source in sources:
        folder, pattern = (artefacts, pathlib.Path(source).name) if "--from=" in step else (SOURCE, source)
        found = sorted(folder.glob(pattern))
        assert found, f"COPY {step}: there is no {pattern}"
        sh("cp", "-a", *found, target)


def built(dockerfile, base, artefacts, folder):
    """The image that the last stage describes, upon `base`; its steps run in containers without network."""
    image = Image([base])
    for number, (word, rest) in enumerate(read_dockerfile(dockerfile)[-1].steps):
        place = folder / str(number)
        if word == "COPY":
            copied(rest, artefacts, place)
            image = image.with_layer(place)
        elif word == "RUN":
            place.mkdir()
            sh(*container_command(image, ["sh", "-c", rest], upper=place))
            image = image.with_layer(place / "upper")
        elif word == "ENTRYPOINT":
            image.entry = json.loads(rest)
    return image


# ---------------------------------------------------------------- containers
def as_user(user, capabilities):
    """The words before a command that give it this user and nothing but these capabilities, as far as its user may have
    them."""
    bound = [] if capabilities is None else ["--bounding-set=" +
                                             ",".join(["-all", *(f"+{name}" for name in capabilities)])]
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all", *bound]


def container_command(image, command, upper="", volumes=(), user=0, capabilities=None, pid_of=None):
    """pid_of: whose PID namespace is shared, as docker run --pid=container:NAME and --pid=host do: a process, or
    "host"."""
    if pid_of is None:
        enter = ["unshare", *NAMESPACES, "--pid", "--fork", "--kill-child"]
    elif pid_of == "host":
        enter = ["unshare", *NAMESPACES]
    else:
        enter = ["nsenter", f"--target={pid_of}", "--pid", "unshare", *NAMESPACES]
    shared = " ".join(f"{outside}:{inside}" for outside, inside in volumes)
    return [*enter, "sh", ENTER, ":".join(map(str, image.layers)), upper, shared,
            *as_user(user, capabilities), *command]


def exec_command(pid, command, user=0, capabilities=None):
    """As docker exec."""
    return ["nsenter", f"--target={pid}", "--all", "--root", "--wd=/", *as_user(user, capabilities), *command]


def environment(**more):
    """No settings of the user's, and as few variables as in a container."""
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **more}


def namespaces_of(pid):
    return {name: os.readlink(f"/proc/{pid}/ns/{name}") for name in ("pid", "mnt", "user")}


def numbers_of(pid):
    """The process's number in every PID namespace it is in, ours first."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [int(word) for word in re.search(r"^NSpid:(.*)$", status, re.M)[1].split()]


class Served:
    """A running tests/tracees/serves in a container; makes calls when told to."""

    def __init__(self, command, **variables):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment(**variables))
        said = self.process.stdout.readline()
        assert said, self.process.stderr.read()
        self.inner = int(said)  # its number inside
        self.rounds = 0
        (self.pid,) = [pid for pid in descendants(self.process.pid) if self.is_it(pid)]

    def is_it(self, pid):
        with contextlib.suppress(OSError):
            return pathlib.Path(f"/proc/{pid}/comm").read_text() == "serves\n" and numbers_of(pid)[-1] == self.inner
        return False

    def begin(self, number):
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()

    def answer(self):
        return int(self.process.stdout.readline())

    def ask(self, number):
        self.begin(number)
        return self.answer()

    def make(self, rounds):
        self.rounds += rounds
        assert self.ask(rounds) == self.rounds

    def make_in_child(self, rounds):
        """Returns the child's number inside."""
        return self.ask(-rounds)

    def tracer(self):
        return int(re.search(r"^TracerPid:\s*(\d+)", pathlib.Path(f"/proc/{self.pid}/status").read_text(), re.M)[1])

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None  # communicate() would write to it
        status = self.process.wait(PATIENCE)
        return status, self.process.stderr.read()

    def kill(self):
        for pid in descendants(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.communicate()
