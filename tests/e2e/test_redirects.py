"""Which library answers: programs that meet several copies of the runtime, against what the loader told the programs
themselves."""
import json
import os
import shutil
import subprocess

import pytest

import harness
from attaching import attach, start  # noqa: F401 (fixtures)
from harness import Database

RELEASE = {"v6": "6.4.43484", "v7": "7.2.53211"}


def place(build, runtime, folder, version=None):
    """A copy of the stand-in runtime as a package installs it: the file with its version, the soname a link to it."""
    soname = next((build.runtimes / runtime).glob("libamdhip64.so.[0-9]")).name
    folder.mkdir(parents=True, exist_ok=True)
    real = folder / f"libamdhip64.so.{version or RELEASE[runtime]}"
    shutil.copy(build.runtimes / runtime / soname, real)
    (folder / soname).symlink_to(real.name)
    return real


@pytest.fixture
def world(build, tmp_path):
    """Programs with a runtime beside them (for RPATH), another one elsewhere (for LD_LIBRARY_PATH), a plugin with a
    newer one."""
    class World:
        folder = tmp_path
        app = tmp_path / "app"
        near = place(build, "v6", tmp_path / "app" / "lib")
        far = place(build, "v6", tmp_path / "far", "6.3.42131")
        newer = place(build, "v7", tmp_path / "plugin")
        plugin = tmp_path / "plugin" / "libredirect_plugin.so"
        shim = tmp_path / "shim" / "libredirect_shim.so"

        def run(self, program, *words, options=(), **variables):
            environment = build.environment("v6", **{"LD_LIBRARY_PATH": str(self.far.parent), **variables})
            command = [build.fade_run, "-q", *options, "-o", self.folder / "run.db", "--", self.app / program, *words]
            ran = harness.run(command, {k: v for k, v in environment.items() if v}, self.folder / "ran")
            assert ran.status == 0, ran.stderr
            told = dict(line.split(" ", 1) for line in ran.stdout.decode().splitlines())
            return Database(self.folder / "run.db"), {who: os.path.realpath(path) for who, path in told.items()}

    for name in ("redirects_lazy", "redirects_now", "redirects_fixed", "redirects_rpath"):
        shutil.copy(build.tracees / name, tmp_path / "app" / name)
    shutil.copy(build.tracees / "redirect" / "libredirect_plugin.so", tmp_path / "plugin")
    (tmp_path / "shim").mkdir()
    shutil.copy(build.tracees / "redirect" / "libredirect_shim.so", tmp_path / "shim")
    return World()


def bound(database, module, state="bound"):
    """library -> names of its functions that the module calls."""
    rows = database.rows(
        f"SELECT library, names FROM bindings WHERE module LIKE '%/{module}' AND api = 'hip' AND state = '{state}'")
    return {library: set(names.split(", ")) for library, names in rows}


def findings(database):
    """Of the libraries: kind -> severity and text."""
    found = {kind: (severity, text)
             for kind, severity, text in database.rows("SELECT kind, severity, text FROM environment_findings")}
    assert found.keys() == {name for name, in database.rows(
        "SELECT finding FROM findings WHERE finding IN (SELECT kind FROM environment_findings)")}
    return found


CALLED = {"hipMalloc", "hipFree", "hipMemset"}


@pytest.mark.parametrize("program", ["redirects_lazy", "redirects_now", "redirects_fixed"])
def test_a_program_and_its_runtime(world, program):
    database, told = world.run(program)
    if program != "redirects_fixed":  # its own stub is the function's address
        assert told["program"] == str(world.far)
    found = bound(database, program)
    assert list(found) == [str(world.far)] and CALLED <= found[str(world.far)]
    never = bound(database, program, "not called yet").get(None, set())
    if program == "redirects_now" or "LD_BIND_NOW" in os.environ:
        assert not never and "hipDeviceReset" in found[str(world.far)]
    else:
        assert "hipDeviceReset" in never and not never & CALLED
    functions, named = database.rows(
        "SELECT sum(functions), group_concat(names, ', ') FROM bindings WHERE api = 'hip'")[0]
    assert functions == len(set(named.split(", ")))
    row = database.rows(
        "SELECT version, rocm, found_by, asked_by, build_id = (SELECT build_id FROM modules WHERE role = 'hip') FROM "
        "bindings WHERE state = 'bound'")
    assert row == [("6.3.42131", "6.3", "LD_LIBRARY_PATH", str(world.app / program), 1)]
    assert findings(database) == {}


def test_rpath_comes_before_the_variable(world):
    database, told = world.run("redirects_rpath")
    assert told["program"] == str(world.near)
    assert list(bound(database, "redirects_rpath")) == [str(world.near)]
    assert database.rows("SELECT found_by, not_taken FROM module_origins WHERE family = 'libamdhip64'") == [
        ("RPATH", str(world.far))]
    assert database.rows("SELECT rpath, runpath FROM module_origins WHERE path LIKE '%/redirects_rpath'") == [
        ("$ORIGIN/lib", None)]
    severity, text = findings(database)["other-copy-not-taken"]
    assert severity == "warning" and "RPATH of " + str(world.app / "redirects_rpath") in text and str(world.far) in text
    assert json.loads(database.value("SELECT env FROM processes"))["LD_LIBRARY_PATH"] == str(world.far.parent)


@pytest.mark.parametrize("program", ["redirects_lazy", "redirects_fixed"])
@pytest.mark.parametrize("deep", [False, True])
def test_a_plugin_that_brings_a_newer_runtime(world, program, deep):
    """Loaded beside the program's own, but the plugin's calls reach it only with RTLD_DEEPBIND."""
    database, told = world.run(program, world.plugin, *["deep"][:deep])
    expected = world.newer if deep else world.far
    if deep or program == "redirects_lazy":
        assert told["plugin"] == str(expected)
    found = bound(database, "libredirect_plugin.so")
    assert list(found) == [str(expected)] and found[str(expected)] == CALLED
    assert list(bound(database, program)) == [str(world.far)]
    assert database.rows(f"SELECT found_by, asked_by FROM module_origins WHERE path = '{world.newer}'") == [
        ("RUNPATH", str(world.plugin))]
    found = findings(database)
    assert found["several-copies"][0] == "warning"
    assert str(world.newer) in found["several-copies"][1] and str(world.far) in found["several-copies"][1]
    assert found["mixed-rocm"][1].startswith("Libraries of 2 releases of ROCm") and "6.3: " in found["mixed-rocm"][1]


def test_a_function_that_something_preloaded_answers(world):
    database, told = world.run("redirects_lazy", LD_PRELOAD=str(world.shim))
    found = bound(database, "redirects_lazy")
    assert found.pop(str(world.shim)) == {"hipMalloc"}
    assert found == {str(world.far): found[str(world.far)]} and "hipFree" in found[str(world.far)]
    assert "hipMalloc" not in found[str(world.far)]
    assert database.rows("SELECT DISTINCT found_by FROM bindings WHERE names = 'hipMalloc' AND state = 'bound'") == [
        ("LD_PRELOAD",)]
    found = findings(database)
    assert found["interposed"][0] == "warning" and "hipMalloc" in found["interposed"][1]
    assert str(world.shim) in found["interposed"][1]
    assert str(world.shim) in found["preloaded"][1]


def test_what_was_unloaded_keeps_its_last_state(world):
    database, _ = world.run("redirects_lazy", world.plugin, "deep", "close")
    assert bound(database, "libredirect_plugin.so") == {str(world.newer): CALLED}
    assert database.value(f"SELECT count(*) FROM modules WHERE path = '{world.newer}' AND \"end\" IS NOT NULL") == 1
    assert "several-copies" in findings(database)


def test_calls_that_nobody_watches_are_bound_too(world):
    """No stop at a call says so: the loader's next stop does."""
    database, _ = world.run("redirects_lazy", world.plugin, "deep", options=("-e", "stream"))
    assert database.rows("SELECT name FROM calls WHERE name IN ('hipMalloc', 'hipFree', 'hipMemset')") == []
    assert CALLED <= bound(database, "redirects_lazy")[str(world.far)]


def test_a_library_loaded_in_turns_is_no_second_copy(world, build):
    line = f"dlopen_loop {world.far} 4"
    ran = harness.run_supervised(build, line, "v6", world.folder / "turns")
    assert ran.status == 0
    assert "several-copies" not in findings(Database(world.folder / "turns" / "run.db"))


def test_a_running_program(start, attach):
    """What it calls while fade is there is bound when fade leaves; what it had called before is seen at once."""
    target = start("steady 2")
    attachment = attach(target).has_come()
    assert target.ask("rounds")
    database = attachment.leave()
    path = os.readlink(target.proc("exe"))
    steady = {"hipMalloc", "hipMemcpy", "hipMemset", "hipFree", "hipDeviceSynchronize", "hipGetDevice"}
    (library, names), = bound(database, "steady").items()
    assert steady <= names and library == database.value("SELECT path FROM modules WHERE role = 'hip'")
    assert database.rows("SELECT DISTINCT module, found_by FROM bindings WHERE state = 'bound'") == [
        (path, "LD_LIBRARY_PATH")]
    again = attach(target, "-e", "stream").has_come().leave()
    assert bound(again, "steady") == {library: names}
    assert target.end()[1] == 7


def test_a_program_without_gpu_says_nothing(build, tmp_path):
    ran = harness.run_supervised(build, "plain", "v6", tmp_path)
    database = Database(tmp_path / "run.db")
    assert ran.status == 0 and database.rows("SELECT * FROM bindings") == [] and findings(database) == {}


@pytest.mark.parametrize("columns", [80, 200])
def test_the_reports_can_be_read(world, build, columns):
    world.run("redirects_lazy", world.plugin, "deep")
    for report in ("redirects", "findings"):
        done = subprocess.run([build.fade_query, world.folder / "run.db", report, "--format", "table"],
                              capture_output=True, text=True, timeout=60,
                              env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "COLUMNS": str(columns)})
        assert done.returncode == 0 and done.stderr == ""
        lines = [line for line in done.stdout.splitlines() if len(line.split()) > 1]  # a path is not broken
        assert len(lines) >= 3 and max(map(len, lines)) <= columns
    done = subprocess.run([build.fade_query, world.folder / "run.db", "redirects", "--format", "json"],
                          capture_output=True, text=True, timeout=60)
    assert {row["library"] for row in json.loads(done.stdout)
            if row["api"] == "hip"} == {str(world.far), str(world.newer), "(not called yet)"}
