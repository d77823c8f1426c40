"""The groups loads and driver: what a program looks up while it runs, and what it does with device nodes of GPUs."""
import collections
import json
import subprocess

import pytest

import harness

PROGRAM = """
import ctypes, fcntl, os

def tell(what, work):
    try:
        print(what, bool(work()))
    except (OSError, AttributeError) as error:
        print(what, type(error).__name__)

def ask(request):
    return lambda: fcntl.ioctl(null, request)

null = os.open("/dev/null", os.O_RDONLY)
for path in ("/dev/kfd-of-nobody", "/dev/dri/renderD250", "/nowhere/else"):
    tell(path, lambda: os.open(path, os.O_RDWR | os.O_CLOEXEC))
for request in (0x80084B01, 0xC0184B02, 0x40206445, 0x5401, 0x4B3B):
    tell(request, ask(request))
maths = ctypes.CDLL("libm.so.6")
for symbol in ("cos", "no_such_symbol", "no_such_symbol"):
    tell(symbol, lambda: getattr(maths, symbol))
tell("libnothing.so.9", lambda: ctypes.CDLL("libnothing.so.9"))
"""


def run(build, folder, *options):
    script = folder / "asks.py"
    script.write_text(PROGRAM)
    native = subprocess.run(["/usr/bin/python3", script], capture_output=True, text=True)
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", "/usr/bin/python3", script]
    ran = harness.run(command, build.environment("v6"), folder / "run")
    assert (ran.status, ran.stdout.decode()) == (0, native.stdout), ran.stderr
    return harness.Database(folder / "run.db")


@pytest.fixture(scope="module")
def recorded(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loads")
    return folder, run(build, folder, "-e", "all,loads,driver")


def test_they_are_off_by_default(build, tmp_path):
    assert run(build, tmp_path, "-e", "all").value("SELECT count(*) FROM calls") == 0


def test_requests_have_their_names_and_other_files_are_left_out(recorded):
    rows = recorded[1].rows("SELECT name, args, result FROM calls WHERE category = 'driver' ORDER BY id")
    told = [(name, json.loads(args), result) for name, args, result in rows]
    opened = [(args["path"], result) for name, args, result in told if name.startswith("open")]
    assert opened == [("/dev/kfd-of-nobody", -1), ("/dev/dri/renderD250", -1)]
    requests = [(args["request"], result) for name, args, result in told if name == "ioctl"]
    assert requests == [
        ("AMDKFD_IOC_GET_VERSION", -1),
        ("AMDKFD_IOC_CREATE_QUEUE", -1),
        ("DRM_IOCTL_AMDGPU_INFO", -1),
    ]


def test_lookups_say_what_is_missing(build, recorded):
    folder, database = recorded
    command = [build.fade_query, folder / "run.db", "loads", "-f", "json", "--limit", "0"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    asked = {(row["name"], row["wanted"]): (row["found"], row["calls"]) for row in rows}
    assert asked["dlopen", "libnothing.so.9"] == (0, 1)
    assert asked["dlsym", "no_such_symbol"] == (0, 2)
    assert asked["dlsym", "cos"][0] == 1 and asked["dlopen", "libm.so.6"][0] == 1
    found = [row["found"] for row in rows]
    assert found == sorted(found), "what is missing comes first"
    assert sum(row["calls"] for row in rows) == database.value("SELECT count(*) FROM calls WHERE category = 'loads'")
    assert database.value("SELECT count(*) FROM calls WHERE failed") == 0, "a lookup without an answer is no error"
    assert collections.Counter(dict(database.rows("SELECT category, 1 FROM function_categories")))["LOADS"] == 1


def test_own_probes_may_choose_calls(build, tmp_path):
    (tmp_path / "my.probes").write_text(
        'library "libc.so*"\ngroup mine\nint access(const char *path @only("/proc/*", "*.nothing"), int mode)\n'
    )
    script = tmp_path / "asks.py"
    script.write_text(
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        'for path in (b"/proc/self", b"/etc", b"x.nothing", b"/nothing"):\n    libc.access(path, 0)\n'
    )
    command = [build.fade_run, "-q", "--probes", tmp_path / "my.probes", "-o", tmp_path / "run.db", "--"]
    ran = harness.run([*command, "/usr/bin/python3", script], build.environment("v6"), tmp_path / "run")
    assert ran.status == 0, ran.stderr
    paths = harness.Database(tmp_path / "run.db").rows("SELECT args FROM calls WHERE name = 'access' ORDER BY id")
    asked = [json.loads(args)["path"] for (args,) in paths]
    assert [path for path in asked if path in ("/proc/self", "/etc", "x.nothing", "/nothing")] == [
        "/proc/self",
        "x.nothing",
    ]
