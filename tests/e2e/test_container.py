"""fade in containers and from outside of them. There is no engine: tests/e2e/containers.py does what one would do.

The programs make the calls they are told to make, so a recording must hold exactly those.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import pytest
import yaml

import containers
from containers import (DEFAULT_CAPABILITIES, PATIENCE, WITH_PTRACE, Served, container_command,
                        environment, exec_command,
                        namespaces_of, numbers_of, sh)
from harness import Database, descendants
from programs import fade  # noqa: F401 (fixtures)

CLOCK_NANOSLEEP = "230"  # its number
LIBRARIES = "/opt/vendor/lib"  # in the containers alone
LIBRARY = f"{LIBRARIES}/libamdhip64.so.6"
KERNEL, OTHER_KERNEL = "_Z6servedPfi", "_Z6secondPfi"  # of tests/tracees/serves.c; of the same length
YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes the root of a container")
needs_open_yama = pytest.mark.skipif(YAMA.exists() and YAMA.read_text().strip() != "0",
                                     reason="Yama forbids tracing of others than children on this machine")


# ---------------------------------------------------------------- images
@pytest.fixture(scope="module")
def package(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    sh("cpack", "-G", "DEB", "-B", folder, "--config", build.folder / "CPackConfig.cmake")
    return next(folder.glob("fade_*.deb"))


@pytest.fixture(scope="module")
def base(build, package):
    """Debian's or Ubuntu's smallest root with what fade's package depends on."""
    extra = sh(containers.SOURCE / "docker/install-deps.sh", "--list", "image").split()
    try:
        root = containers.base_root(build.folder / "container/root", [*containers.needed_by(package), *extra])
    except containers.Unavailable as why:
        pytest.skip(f"no container can be made here: {why}")
    probe = subprocess.run(container_command(containers.Image([root]), ["true"]),
                           stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    if probe.returncode != 0:
        pytest.skip(f"no container can be made here: {probe.stderr.strip()}")
    return root


@pytest.fixture(scope="module")
def image(base, package, tmp_path_factory):
    """As docker/Dockerfile.debian makes it of the package that was just built."""
    return containers.built(containers.SOURCE / "docker/Dockerfile.debian", base,
                            package.parent, tmp_path_factory.mktemp("image"))


def vendor_layer(build, folder, libraries=LIBRARIES, kernel=KERNEL, runtime="v6"):
    """A program in /app and the HIP runtime that it finds in `libraries`."""
    place = folder / libraries.lstrip("/")
    place.mkdir(parents=True)
    library = next((build.runtimes / runtime).glob("libamdhip64.so.*"))
    shutil.copy(library, place / library.name)
    (place / "libamdhip64.so").symlink_to(library.name)
    (folder / "app").mkdir()
    program = folder / "app/serves"
    sh("strip", "-o", program, build.tracees / "serves")
    program.write_bytes(program.read_bytes().replace(KERNEL.encode(), kernel.encode()))
    return folder


@pytest.fixture(scope="module")
def app(build, base, tmp_path_factory):
    """A user's image: has the vendor's runtime and a program, and nothing of fade."""
    assert not pathlib.Path(LIBRARIES).exists()
    return containers.Image([vendor_layer(build, tmp_path_factory.mktemp("app")), base])


@pytest.fixture(scope="module")
def app_with_fade(image, app):
    return image.with_layer(app.layers[0])


# ---------------------------------------------------------------- running things
@pytest.fixture
def serve():
    """Starts tests/tracees/serves as a container's command; ends it at the end."""
    started = []

    def start(image, wrapper=(), libraries=LIBRARIES, command=container_command, **options):
        started.append(Served(command(image, [*wrapper, "/app/serves"], **options), LD_LIBRARY_PATH=libraries))
        return started[-1]

    yield start
    for served in started:
        served.kill()


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    folder.chmod(0o777)  # for containers' users
    return folder


def volumes(out):
    return [(out, "/out")]


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


class Attached:
    """A running fade-attach, which is told to go after the program has made its calls."""

    def __init__(self, command, cwd=None):
        self.log = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen([str(word) for word in command], cwd=cwd,
                                        env=environment(), stdin=subprocess.DEVNULL,
                                        stderr=self.log)
        until(lambda: "fade: held " in self.text() or self.process.poll() is not None)
        assert self.process.poll() is None, self.text()

    def text(self):
        return pathlib.Path(self.log.name).read_text()

    def ended(self):
        assert self.process.wait(PATIENCE) == 0, self.text()
        return self.text()

    def detach(self):
        """Tells the innermost process: fade-attach, whatever it was started through."""
        os.kill(descendants(self.process.pid)[-1], signal.SIGTERM)
        return self.ended()


def recorded(path):
    """What a recording says: process -> (calls of hipMalloc, launches, names of the kernels, path of the library)."""
    database = Database(path)
    found = {}
    for (pid,) in database.rows("SELECT pid FROM processes"):
        one = database.rows(f"SELECT (SELECT sum(calls) FROM call_stats WHERE pid = {pid} AND name = 'hipMalloc'),"
                            f" (SELECT count(*) FROM launches WHERE pid = {pid}),"
                            f" (SELECT group_concat(DISTINCT mangled) FROM launches WHERE pid = {pid}),"
                            f" (SELECT path FROM modules WHERE pid = {pid} AND path LIKE '%libamdhip64%')")
        found[pid] = one[0]
    return found


def check_recording(served, attach_command, database, pid, library=LIBRARY, cwd=None):
    """Calls made while attached are all there, none made before and after; the process is called `pid`."""
    served.make(3)
    attached = Attached(attach_command, cwd)
    assert served.tracer() != 0
    served.make(20)
    text = attached.detach()
    assert "all patched code, verified" in text
    assert served.tracer() == 0
    served.make(2)
    assert recorded(database) == {pid: (20, 20, KERNEL, library)}
    assert served.end() == (0, "")


def run(command, **options):
    return subprocess.run([str(word) for word in command], env=environment(), text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **options)


# ---------------------------------------------------------------- the image
def test_the_image_holds_fade_and_its_capability(image):
    done = run(container_command(image, [*image.entry, "attach", "--version"]))
    assert (done.returncode, done.stdout.split()[0], done.stderr) == (0, "fade-attach", "")
    done = run(container_command(image, ["getcap", "/usr/bin/fade-attach"]))
    assert done.stdout == "/usr/bin/fade-attach cap_sys_ptrace=p\n"
    assert run(container_command(image, ["ls", "-A", "/tmp", "/var/lib/apt/lists"])).stdout.split() == [
        "/tmp:", "/var/lib/apt/lists:"]


def test_the_bundled_program_is_recorded_in_the_image(image, out):
    demo = run(container_command(
        image, ["sh", "-c", "ls /usr/lib/*/fade/demo/fade-demo /usr/lib/fade/demo/fade-demo"])).stdout.strip()
    command = [*image.entry, "run", "-q", "-o", "/out/x.db", "--", "sh", "-c", 'echo "$$"; exec "$1"', "sh", demo]
    done = run(container_command(image, command, capabilities=DEFAULT_CAPABILITIES, volumes=volumes(out)))
    assert done.returncode == 0 and "launches" in done.stdout, done.stderr
    database = Database(out / "x.db")
    assert database.value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMalloc'") > 0
    # as seen inside
    assert {pid for (pid,) in database.rows("SELECT pid FROM processes")} == {int(done.stdout.split()[0])}
    done = run(container_command(image, [*image.entry, "query", "/out/x.db", "top"], volumes=volumes(out)))
    assert "hipMalloc" in done.stdout


@pytest.mark.parametrize("program, status", [("exit 7", 7), ("kill -SEGV $$", 139),
                                             ("kill -TERM $$", 143), ("kill -KILL $$", 137),
                                             ("(sleep 0.1; exit 3) & exit 5", 5)])
def test_as_the_first_process_fade_run_ends_as_the_program_does(image, out, program, status):
    """The kernel does not let a PID namespace's first process die of its own signals."""
    command = [*image.entry, "run", "-q", "-o", "/out/x.db", "--", "sh", "-c", program]
    done = run(container_command(image, ["sh", "-c", 'exec "$@"', "sh", *command], volumes=volumes(out)))
    assert done.returncode == status, done.stderr


# ---------------------------------------------------------------- from the host
def test_from_the_host_by_the_hosts_number(fade, serve, app, tmp_path):
    served = serve(app, capabilities=DEFAULT_CAPABILITIES)
    assert numbers_of(served.pid) == [served.pid, served.inner] and served.inner == 1
    check_recording(served, [fade.path("fade-attach"), "-o", "x.db", served.pid],
                    tmp_path / "x.db", served.pid, cwd=tmp_path)


def test_without_privileges_for_the_kernels_own_links(fade, serve, app, tmp_path):
    """/proc/PID/map_files needs more than CAP_SYS_PTRACE; /proc/PID/root does not."""
    served = serve(app)
    command = containers.as_user(0, WITH_PTRACE) + [fade.path("fade-attach"), "-o", "x.db", served.pid]
    check_recording(served, command, tmp_path / "x.db", served.pid, cwd=tmp_path)


@pytest.mark.parametrize("capabilities", [None, WITH_PTRACE], ids=["map_files", "root"])
def test_a_decoy_of_the_same_name_outside_is_not_read(build, fade, serve, base, tmp_path, capabilities):
    """Outside stands another release: its functions lie elsewhere, and its properties have another layout."""
    libraries = str(tmp_path / "same/place")
    shutil.copytree(build.runtimes / "v5", libraries)
    decoy = pathlib.Path(libraries, "libamdhip64.so.6")
    shutil.copy(build.runtimes / "v5/libamdhip64.so.5", decoy)
    inside = containers.Image([vendor_layer(build, tmp_path / "layer", libraries), base])
    served = serve(inside, libraries=libraries)
    real = pathlib.Path(f"/proc/{served.pid}/root{decoy}")
    assert decoy.exists() and real.exists() and not decoy.samefile(real)
    command = containers.as_user(0, capabilities) + [fade.path("fade-attach"), "-o", "x.db", served.pid]
    check_recording(served, command, tmp_path / "x.db", served.pid, library=str(decoy), cwd=tmp_path)


def test_two_containers_whose_files_share_their_names(build, fade, serve, app, base, tmp_path):
    other = containers.Image([vendor_layer(build, tmp_path / "layer", kernel=OTHER_KERNEL), base])
    first, second = serve(app), serve(other)
    attached = Attached([fade.path("fade-attach"), "-o", "x.db", first.pid, second.pid], tmp_path)
    first.make(5)
    second.make(7)
    attached.detach()
    assert recorded(tmp_path / "x.db") == {first.pid: (5, 5, KERNEL, LIBRARY),
                                           second.pid: (7, 7, OTHER_KERNEL, LIBRARY)}
    assert first.end() == second.end() == (0, "")


def test_a_changed_root_without_namespaces(build, fade, serve, app, tmp_path):
    """As chroot: the kernel names files by their paths outside."""
    root = vendor_layer(build, tmp_path / "root")
    for library in ("lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6"):
        target = root / library
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(app.layers[-1] / library, target)
    served = serve(root, command=lambda where, command: ["chroot", where, *command])
    check_recording(served, [fade.path("fade-attach"), "-o", "x.db", served.pid], tmp_path / "x.db", served.pid,
                    library=f"{root}{LIBRARY}", cwd=tmp_path)


def test_the_end_of_the_container_ends_it(fade, serve, app, tmp_path):
    served = serve(app)
    attached = Attached([fade.path("fade-attach"), "-o", "x.db", served.pid], tmp_path)
    served.make(4)
    served.kill()
    assert f"(pid {served.pid}) ended" in attached.ended()
    assert recorded(tmp_path / "x.db")[served.pid][:2] == (4, 4)


def test_children_have_the_hosts_numbers_too(fade, serve, app, tmp_path):
    served = serve(app)
    attached = Attached([fade.path("fade-attach"), "-o", "x.db", served.pid], tmp_path)
    inner = served.make_in_child(6)
    attached.detach()
    found = recorded(tmp_path / "x.db")
    (child,) = found.keys() - {served.pid}
    assert child != inner and found[child][:3] == (6, 6, KERNEL)


@contextlib.contextmanager
def control_group(name):
    """A new one in the first hierarchy that lets us; skips where none does."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        mount, kind = line.split()[4], line.split(" - ")[1].split()[0]
        folder = pathlib.Path(mount, name)
        if kind in ("cgroup2", "cgroup"):
            with contextlib.suppress(OSError):
                folder.mkdir()
                break
    else:
        pytest.skip("no control group can be made here")
    try:
        yield folder
    finally:
        folder.rmdir()


def test_by_the_containers_id(fade, serve, app, tmp_path):
    container = uuid.uuid4().hex * 2
    with control_group(f"docker-{container}.scope") as group:
        served = serve(app)
        try:
            (group / "cgroup.procs").write_text(str(served.pid))
        except OSError as error:
            pytest.skip(f"the control group takes no process: {error}")
        try:
            check_recording(served, [fade.path("fade-attach"), "-o", "x.db", "--container", container[:12]],
                            tmp_path / "x.db",
                            served.pid, cwd=tmp_path)
            done = fade("fade-attach", "--container", container[:12], cwd=tmp_path)
            assert done.returncode == 4 and f"no running container '{container[:12]}'" in done.stderr
        finally:
            served.kill()  # the group must be empty


# ---------------------------------------------------------------- in the same container
@needs_open_yama
def test_in_the_same_container(serve, app_with_fade, out):
    served = serve(app_with_fade, capabilities=DEFAULT_CAPABILITIES, volumes=volumes(out))
    command = exec_command(served.pid, ["fade", "attach", "-o", "/out/x.db", served.inner],
                           capabilities=DEFAULT_CAPABILITIES)
    check_recording(served, command, out / "x.db", served.inner)


def test_what_a_user_without_the_capability_is_told(serve, app_with_fade):
    served = serve(app_with_fade, capabilities=DEFAULT_CAPABILITIES)
    done = run(exec_command(served.pid, ["fade", "attach", "--check", served.inner],
                            user=1000, capabilities=DEFAULT_CAPABILITIES))
    assert done.returncode == 3 and "uid 1000" in done.stdout
    text = " ".join(done.stdout.split())
    assert "it belongs to user root (uid 0), and this is uid 1000" in text
    assert "no process can have it in this container" in text
    assert "start the container with --cap-add=SYS_PTRACE" in text
    done = run(exec_command(served.pid, ["fade", "attach", "--check", served.inner],
                            user=1000, capabilities=WITH_PTRACE))
    assert done.returncode == 0, done.stdout  # through the file's capability
    assert served.end() == (0, "")


# ---------------------------------------------------------------- from a side container
def beside(image, served, command, out, **options):
    """docker run --pid=container:NAME: the side container has files of its own."""
    return container_command(image, command, pid_of=served.pid, volumes=volumes(out), **options)


@needs_open_yama
def test_beside_it_with_no_capability_for_the_same_user(serve, app, image, out):
    served = serve(app, capabilities=DEFAULT_CAPABILITIES)
    command = beside(image, served, [*image.entry, "attach", "-o", "/out/x.db", "1"],
                     out, capabilities=DEFAULT_CAPABILITIES)
    check_recording(served, command, out / "x.db", 1)


def test_beside_it_children_have_the_containers_numbers(serve, app, image, out):
    served = serve(app)
    attached = Attached(beside(image, served, [*image.entry, "attach", "-o", "/out/x.db", "1"], out))
    inner = served.make_in_child(6)
    attached.detach()
    assert recorded(out / "x.db")[inner][:3] == (6, 6, KERNEL)


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("target", [0, 1000, 1001])
def test_beside_it_with_the_capability(serve, app, image, out, user, target):
    """Root has it at once, other users through the file."""
    served = serve(app, user=target, capabilities=DEFAULT_CAPABILITIES)
    command = beside(image, served, [*image.entry, "attach", "-o", "/out/x.db", "1"],
                     out, user=user, capabilities=WITH_PTRACE)
    check_recording(served, command, out / "x.db", 1)


@pytest.mark.parametrize("user", [0, 1000])
def test_beside_it_a_call_under_way_is_named(serve, app, image, out, user):
    served = serve(app, ["env", "FADE_STANDIN_DELAY=hipMemset:8s"], capabilities=DEFAULT_CAPABILITIES)
    served.begin(1)
    until(lambda: pathlib.Path(f"/proc/{served.pid}/syscall").read_text().split()[0] == CLOCK_NANOSLEEP)
    attached = Attached(beside(image, served, [*image.entry, "attach", "-o", "/out/x.db", "1"],
                               out, user=user, capabilities=WITH_PTRACE))
    assert served.answer() == 1
    assert "a call was under way already: hipMemset" in attached.detach()


def test_beside_it_without_the_capability_for_another_user(serve, app, image, out):
    served = serve(app, user=1000, capabilities=DEFAULT_CAPABILITIES)
    done = run(beside(image, served, [*image.entry, "attach", "1"], out, capabilities=DEFAULT_CAPABILITIES))
    assert done.returncode == 3 and "it belongs to uid 1000, and this is user root (uid 0)" in done.stderr
    assert served.tracer() == 0 and served.end() == (0, "")


def test_an_effective_capability_of_the_file_would_forbid_the_start(image, out):
    """Why the image says +p."""
    script = "cp /usr/bin/fade-attach /out && setcap cap_sys_ptrace+ep /out/fade-attach"
    run(container_command(image, ["sh", "-c", script], volumes=volumes(out)))
    for program, works in (("/usr/bin/fade-attach", True), ("/out/fade-attach", False)):
        done = run(container_command(image, [program, "--version"], volumes=volumes(out),
                                     user=1000, capabilities=DEFAULT_CAPABILITIES))
        assert (done.returncode == 0) == works, done.stderr
    assert "Operation not permitted" in done.stderr


# ---------------------------------------------------------------- user namespaces
ROOTLESS = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "unshare", "--user", "--map-root-user")


@pytest.fixture
def rootless(serve, app):
    probe = run(container_command(app, [*ROOTLESS, "true"]))
    if probe.returncode != 0:
        pytest.skip(f"no user namespace can be made here: {probe.stderr.strip()}")
    served = serve(app, ROOTLESS)
    assert namespaces_of(served.pid)["user"] != namespaces_of("self")["user"]
    return served


def test_root_comes_into_a_rootless_container(fade, rootless, tmp_path):
    check_recording(rootless, [fade.path("fade-attach"), "-o", "x.db", rootless.pid],
                    tmp_path / "x.db", rootless.pid, cwd=tmp_path)


@needs_open_yama
def test_its_owner_comes_into_a_rootless_container(image, rootless, out):
    """Whoever made a user namespace has all capabilities in it."""
    command = container_command(image, ["fade-attach", "-o", "/out/x.db", rootless.pid],
                                user=12345, capabilities=(), volumes=volumes(out),
                                pid_of="host")
    check_recording(rootless, command, out / "x.db", rootless.pid)


def test_others_are_told_of_the_user_namespace(image, rootless, out):
    command = ["fade-attach", "--check", rootless.pid]
    done = run(container_command(image, command, user=54321, capabilities=(), pid_of="host"))
    assert done.returncode == 3
    assert "it belongs to uid 12345, and this is uid 54321" in " ".join(done.stdout.split())
    assert rootless.tracer() == 0


def test_nothing_leads_out_of_a_rootless_container(serve, app, app_with_fade):
    """Whoever sees a program outside of it, of the very same user, and is told why that does not help."""
    served = serve(app, user=12345, pid_of="host")
    done = run(container_command(app_with_fade, [*ROOTLESS, "fade-attach", "--check", served.pid], pid_of="host"))
    assert done.returncode == 3 and "a user namespace that is not below ours" in " ".join(done.stdout.split())
    assert served.tracer() == 0


# ---------------------------------------------------------------- a node agent
@pytest.fixture
def pod_cgroup():
    """A control group with a name as the kubelet gives; it may be in any hierarchy."""
    for hierarchy in ("", "pids", "systemd", "freezer"):
        folder = pathlib.Path("/sys/fs/cgroup", hierarchy)
        if (folder / "cgroup.procs").exists():
            with contextlib.suppress(OSError):
                group = folder / f"kubepods-burstable-pod{uuid.uuid4().hex}.slice"
                group.mkdir()
                break
    else:
        pytest.skip("no control group can be made here")
    yield group
    for pid in (group / "cgroup.procs").read_text().split():
        (group.parent / "cgroup.procs").write_text(pid)
    group.rmdir()


def test_the_daemonset_records_the_programs_of_pods(serve, app, image, tmp_path, pod_cgroup):
    """docker/kubernetes-daemonset.yaml: its command, its hook after the start and its rights, in the image."""
    manifest = yaml.safe_load((containers.SOURCE / "docker/kubernetes-daemonset.yaml").read_text())
    spec = manifest["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["hostPID"] and container["securityContext"] == {"runAsUser": 0, "capabilities": {"add": ["SYS_PTRACE"]}}
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/run/fade", "/var/lib/fade"]
    places = [tmp_path / "socket", tmp_path / "recordings"]
    for place in places:
        place.mkdir(0o755)
    before, outside = serve(app, user=12345), serve(app, user=12345)
    (pod_cgroup / "cgroup.procs").write_text(str(before.pid))
    volumes = zip(places, ["/run/fade", "/var/lib/fade"])
    command = container_command(image, container["command"], pid_of="host", capabilities=WITH_PTRACE, volumes=volumes)
    log = tmp_path / "log"
    with open(log, "w") as to:
        words = [str(word) for word in command]
        agent = subprocess.Popen(words, env=environment(), stdin=subprocess.DEVNULL, stderr=to)
    try:
        until(lambda: "listening" in log.read_text() or agent.poll() is not None)
        assert agent.poll() is None, log.read_text()
        enter = lambda words: run(exec_command(agent.pid, words, capabilities=WITH_PTRACE))
        hook = container["lifecycle"]["postStart"]["exec"]["command"]
        for done in (enter(hook), enter(hook)):  # a second start of the agent asks again
            assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
        listed = lambda: json.loads(enter(["fadectl", "list", "--json"]).stdout)
        until(lambda: [one["state"] for one in listed()] == ["recording"])
        before.make(20)
        outside.make(2)
        assert outside.tracer() == 0
        assert enter(["fadectl", "stop", "--all"]).returncode == 0
        until(lambda: before.tracer() == 0)
    finally:
        agent.terminate()
        agent.wait(PATIENCE)
    (recording,) = places[1].rglob("*.db")
    assert Database(recording).value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMalloc'") == 20
    assert before.end() == (0, "") and outside.end() == (0, "")
