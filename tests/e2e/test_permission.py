"""What may not be attached to: said with its reason, and left exactly as it was. Some tests need root, who can be two
users."""
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from programs import fade  # noqa: F401 (fixtures)

PATIENCE = 60
NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = ["setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups"]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")
TOLD = r"State|Tgid|PPid|TracerPid|Uid|Gid|Threads|Sig(?:Pnd|Blk|Ign|Cgt)|ShdPnd|Seccomp|NoNewPrivs"


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def status(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace")
    return dict(re.findall(rf"^({TOLD}):\t(.*)$", text, re.M))


def everything(pid):
    """What attaching could have changed."""
    return {**status(pid), "maps": pathlib.Path(f"/proc/{pid}/maps").read_text()}


class Waiting:
    """A program that has said so and waits for the end of its input."""

    def __init__(self, command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline().strip()
        self.pid = self.process.pid
        assert self.said, "it did not start"

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def waiting(*command):
    """Whatever is done to it meanwhile, it is the same afterwards, and ends well."""
    program = Waiting(command)
    try:
        until(lambda: status(program.pid)["State"].startswith("S"))
        before = everything(program.pid)
        yield program
        until(lambda: status(program.pid)["State"] == before["State"])  # its read was interrupted, and goes on
        assert everything(program.pid) == before
        assert program.end() == 0
    finally:
        program.process.kill()
        program.process.wait(PATIENCE)


@pytest.fixture
def tracees(build):
    return build.tracees


@pytest.fixture
def public():
    """A folder that everybody may use."""
    with tempfile.TemporaryDirectory(prefix="fade-test-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def attach_as_nobody(fade, public):
    program = shutil.copy(fade.path("fade-attach"), public)

    def run(*arguments):
        return subprocess.run([*AS_NOBODY, program, *map(str, arguments)], cwd=public,
                              env={**fade.environment, "HOME": str(public)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    return run


def nothing_was_recorded(folder):
    return not list(folder.glob("*.db*"))


@needs_root
def test_another_users_process(attach_as_nobody, tracees, public):
    with waiting(tracees / "waits") as target:
        ran = attach_as_nobody(target.pid)
        assert ran.returncode == 3 and ran.stdout == ""
        assert f"process {target.pid} (waits): Operation not permitted" in ran.stderr
        assert "cause: it belongs to user root (uid 0), and this is user nobody" in ran.stderr
        assert f"fix:   sudo fade-attach {target.pid}" in ran.stderr
        checked = attach_as_nobody("--check", target.pid)
        assert checked.returncode == 3
        assert "it belongs to user root" in checked.stdout and f"sudo fade-attach {target.pid}" in checked.stdout
    assert nothing_was_recorded(public)


@needs_root
def test_a_user_may_attach_to_what_is_theirs(attach_as_nobody, tracees, public):
    program = shutil.copy(tracees / "waits", public)
    with waiting(*AS_NOBODY, program) as target:
        checked = attach_as_nobody("--check", target.pid)
        assert checked.returncode == 0, checked.stdout
        ran = attach_as_nobody("-q", "-d", "100ms", "-o", "own.db", target.pid)
        assert ran.returncode == 0, ran.stderr
    assert (public / "own.db").stat().st_uid == NOBODY.pw_uid


@needs_root
def test_root_may_cross_users(fade, tracees, public):
    program = shutil.copy(tracees / "waits", public)
    with waiting(*AS_NOBODY, program) as target:
        checked = fade("fade-attach", "--check", target.pid)
        assert checked.returncode == 0, checked.stdout


@needs_root
def test_a_process_that_may_not_be_looked_into(attach_as_nobody, tracees, public):
    program = shutil.copy(tracees / "waits", public)
    with waiting(*AS_NOBODY, program, "undumpable") as target:
        ran = attach_as_nobody(target.pid)
        assert ran.returncode == 3
        assert "it is not dumpable" in ran.stderr and f"sudo fade-attach {target.pid}" in ran.stderr


@needs_root
def test_a_set_uid_program(attach_as_nobody, tracees, public):
    program = shutil.copy(tracees / "waits", public)
    os.chown(program, 0, 0)
    os.chmod(program, 0o4755)
    with waiting(*AS_NOBODY, program) as target:
        assert status(target.pid)["Uid"].split()[:2] == [str(NOBODY.pw_uid), "0"], "is the folder mounted nosuid?"
        ran = attach_as_nobody(target.pid)
        assert ran.returncode == 3
        assert "a set-uid program" in ran.stderr and f"sudo fade-attach {target.pid}" in ran.stderr


@needs_root
def test_more_capabilities_than_ours(fade, tracees):
    without = subprocess.run(["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace",
                              fade.path("fade-attach"), "--check",
                              str(os.getpid())], capture_output=True, text=True, timeout=PATIENCE, env=fade.environment)
    assert without.returncode == 3
    assert "it holds capabilities that we lack" in without.stdout and "missing from the bounding set" in without.stdout


def can_make_user_namespaces():
    made = subprocess.run([*AS_NOBODY, "unshare", "--user", "--map-root-user", "true"],
                          capture_output=True, timeout=PATIENCE)
    return made.returncode == 0


@needs_root
def test_the_maker_of_a_user_namespace_may_attach_to_what_is_in_it(attach_as_nobody, tracees, public):
    if not can_make_user_namespaces():
        pytest.skip("nobody may not make user namespaces here")
    program = shutil.copy(tracees / "waits", public)
    with waiting(*AS_NOBODY, "unshare", "--user", "--map-root-user", program) as target:
        checked = attach_as_nobody("--check", target.pid)
        assert checked.returncode == 0, checked.stdout


# From inside of one nothing outside may be looked at, though all capabilities seem to be held.
@needs_root
def test_from_inside_of_a_user_namespace(fade, tracees, public):
    if not can_make_user_namespaces():
        pytest.skip("nobody may not make user namespaces here")
    attach = shutil.copy(fade.path("fade-attach"), public)
    program = shutil.copy(tracees / "waits", public)
    with waiting(*AS_NOBODY, program) as target:
        inside = [*AS_NOBODY, "unshare", "--user", "--map-root-user", attach, str(target.pid)]
        ran = subprocess.run(inside, cwd=public, env=fade.environment, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 3
        assert "user namespace that is not below ours" in ran.stderr


def test_nobody_has_this_number(fade, tmp_path):
    for arguments in (["2000000000"], ["--check", "2000000000"]):
        ran = fade("fade-attach", *arguments, cwd=tmp_path)
        assert ran.returncode == 4 and "no process 2000000000" in ran.stderr
    assert nothing_was_recorded(tmp_path)


def test_a_zombie(fade, tmp_path):
    program = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    try:
        ran = fade("fade-attach", program.pid, cwd=tmp_path)
        assert ran.returncode == 4 and "zombie" in ran.stderr
        checked = fade("fade-attach", "--check", program.pid)
        assert checked.returncode == 4 and "zombie" in checked.stdout
        assert status(program.pid)["State"].startswith("Z")
    finally:
        assert program.wait(PATIENCE) == 0
    assert nothing_was_recorded(tmp_path)


def kernel_thread():
    """Where processes of the kernel are to be seen, or None."""
    for stat in sorted(pathlib.Path("/proc").glob("[0-9]*/stat")):
        with contextlib.suppress(OSError):
            if int(stat.read_text(errors="replace").rpartition(")")[2].split()[6]) & 0x200000:
                return int(stat.parent.name)
    return None


def test_a_kernel_thread(fade, tmp_path):
    pid = kernel_thread()
    if pid is None:
        pytest.skip("no kernel threads in this PID namespace")
    ran = fade("fade-attach", pid, cwd=tmp_path)
    assert ran.returncode == 5 and "kernel threads cannot be traced" in ran.stderr
    assert fade("fade-attach", "--check", pid).returncode == 5
    assert nothing_was_recorded(tmp_path)


def test_a_process_that_is_traced_already(fade, tracees, tmp_path):
    tracer = Waiting([tracees / "traces"])
    child = int(tracer.said)
    until(lambda: status(child)["State"].startswith("S"))
    before = everything(child)
    assert before["TracerPid"] == str(tracer.pid)
    ran = fade("fade-attach", child, cwd=tmp_path)
    assert ran.returncode == 3
    assert f"already traced by process {tracer.pid} (traces)" in ran.stderr
    assert f"make traces detach, then: fade-attach {child}" in ran.stderr
    checked = fade("fade-attach", "--check", child)
    assert checked.returncode == 3 and f"process {tracer.pid} (traces)" in checked.stdout
    assert everything(child) == before
    assert tracer.end() == 7  # as the child said
    assert nothing_was_recorded(tmp_path)


@pytest.mark.parametrize("program, reason", [("waits_static", "static"), ("waits_32", "32-bit")])
def test_programs_that_cannot_be_watched(fade, tracees, tmp_path, program, reason):
    if not (tracees / program).exists():
        pytest.skip(f"{program} was not built")
    with waiting(tracees / program) as target:
        ran = fade("fade-attach", target.pid, cwd=tmp_path)
        assert ran.returncode == 5 and "cannot be watched" in ran.stderr
        checked = fade("fade-attach", "--check", target.pid)
        assert checked.returncode == 5 and f"it is a {reason} program" in checked.stdout
    assert nothing_was_recorded(tmp_path)


def test_a_program_started_through_the_loader(fade, tracees):
    loader = re.search(r"\[Requesting program interpreter: (.*)\]", subprocess.run(
        ["readelf", "-l", tracees / "waits"], capture_output=True, text=True, timeout=PATIENCE).stdout)[1]
    with waiting(loader, tracees / "waits") as target:
        checked = fade("fade-attach", "--check", target.pid)
        assert checked.returncode == 0, checked.stdout


def test_strict_seccomp(fade, tracees, tmp_path):
    with waiting(tracees / "waits", "strict") as target:
        assert fade("fade-attach", target.pid, cwd=tmp_path).returncode == 5
        checked = fade("fade-attach", "--check", target.pid)
        assert checked.returncode == 5 and "strict seccomp" in checked.stdout
    assert nothing_was_recorded(tmp_path)


def test_what_a_user_should_know_is_no_obstacle(fade, tracees):
    with waiting(tracees / "waits", "blocked") as target:
        checked = fade("fade-attach", "--check", target.pid)
        assert checked.returncode == 0 and "it blocks SIGTRAP in 1 of 1 threads" in checked.stdout


def test_a_thread_stands_for_its_process(fade):
    import threading
    done, numbers = threading.Event(), []
    thread = threading.Thread(target=lambda: (numbers.append(threading.get_native_id()), done.wait()))
    thread.start()
    try:
        until(lambda: numbers)
        assert f"(pid {os.getpid()})" in fade("fade-attach", "--check", numbers[0]).stdout
    finally:
        done.set()
        thread.join()
