"""fade doctor on this machine: its page on a terminal and in a pipe, its JSON, a process, a program, and its exit
status."""
import json
import os
import re
import shutil
import subprocess

import pexpect
import pytest

from programs import fade  # noqa: F401 (fixtures)

VERDICTS = {"ok", "warning", "problem", "none"}
GROUPS = ["Versions", "Tracing", "GPU", "HIP", "Variables", "Memory and disk"]
LINE = re.compile(r"  (ok|warning|problem|-)  +\S")


@pytest.fixture
def doctor(fade):
    def run(*arguments, **environment):
        unset = {name: value for name, value in fade.environment.items()
                 if not re.match("(HIP|ROCR|CUDA|HSA|GPU|AMD|LD)_", name)}
        return subprocess.run([fade.path("fade-doctor"), *map(str, arguments)], env={**unset, **environment},
                              text=True, capture_output=True, timeout=60)
    return run


@pytest.fixture
def answers(doctor):
    """The exit status and the checks by name, of the JSON."""
    def ask(*arguments, **environment):
        ran = doctor("--json", *arguments, **environment)
        assert ran.stderr == "", ran.stderr
        return ran.returncode, json.loads(ran.stdout)
    return ask


def named(answer, name):
    return [check for check in answer["checks"] if check["name"] == name]


@pytest.fixture
def runtime(build):
    return build.runtimes / "v6"


# ---------------------------------------------------------------- the page
def test_a_pipe_gets_a_line_a_check(doctor):
    ran = doctor()
    lines = ran.stdout.splitlines()
    assert lines[0] == "this machine" and ran.stderr == ""
    assert [line for line in lines if re.match("[A-Z]", line)] == GROUPS
    assert re.fullmatch(r"(no problems|1 problem|\d+ problems), (no warnings|1 warning|\d+ warnings)", lines[-1])
    odd = [line for line in lines[1:-1] if line.startswith("  ") and not LINE.match(line)
           and not line.lstrip().startswith("fix: ")]
    assert odd == [] and "\x1b" not in ran.stdout


@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_gets_its_width_and_colours(fade, columns):
    environment = {name: value for name, value in fade.environment.items() if name not in ("COLUMNS", "NO_COLOR")}
    child = pexpect.spawn(fade.path("fade-doctor"), [], env={**environment, "TERM": "xterm"},
                          dimensions=(50, columns), timeout=60, encoding="utf-8")
    child.expect(pexpect.EOF)
    child.close()
    assert "\x1b[" in child.before
    plain = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= columns
    assert child.exitstatus in (0, 1)


def test_the_dispatcher_knows_it(fade):
    neighbours = {"PATH": f"{os.path.dirname(fade.path('fade-doctor'))}:{os.environ['PATH']}"}
    assert fade("fade", "doctor", env=neighbours).stdout.startswith("this machine\n")
    assert "fade-doctor" in fade("fade", "doctor", "--version", env=neighbours).stdout


# ---------------------------------------------------------------- JSON and exit status
def test_json_says_the_same_as_the_status(answers):
    status, answer = answers()
    found = [check["verdict"] for check in answer["checks"]]
    assert set(found) <= VERDICTS
    assert [answer["problems"], answer["warnings"]] == [found.count("problem"), found.count("warning")]
    assert status == (1 if answer["problems"] else 0)
    assert list(dict.fromkeys(check["group"] for check in answer["checks"])) == GROUPS
    for check in answer["checks"]:
        assert check["text"] and list(check) == ["group", "name", "verdict", "text", "fix"]
        assert (check["fix"] is not None) == (check["verdict"] in ("warning", "problem")), check


def test_a_variable_is_found(answers):
    status, answer = answers(ROCR_VISIBLE_DEVICES="", HSA_OVERRIDE_GFX_VERSION="10.3.0")
    assert status == 1
    assert named(answer, "ROCR_VISIBLE_DEVICES")[0]["verdict"] == "problem"
    override, = named(answer, "HSA_OVERRIDE_GFX_VERSION")
    assert (override["verdict"], override["fix"]) == ("warning", "unset HSA_OVERRIDE_GFX_VERSION")


def test_strict_counts_warnings(answers):
    status, answer = answers("--strict", AMD_SERIALIZE_KERNEL="3")
    assert status == 1 and answer["warnings"] >= 1


# ---------------------------------------------------------------- a program, which is not run
def test_the_copy_that_a_program_would_get(answers, build, runtime, tmp_path):
    tracee = build.tracees / "loop"
    _, answer = answers("--", tracee, LD_LIBRARY_PATH=str(runtime))
    taken = [check for check in answer["checks"] if check["name"].startswith("libamdhip64")]
    assert [str(runtime) in check["text"] and "LD_LIBRARY_PATH" in check["text"] for check in taken] == [True]
    listed = subprocess.run(["ldd", tracee], env={**os.environ, "LD_LIBRARY_PATH": str(runtime)},
                            capture_output=True, text=True).stdout
    assert f"{runtime}/libamdhip64.so" in listed, "the loader says the same"
    status, answer = answers(tracee)
    assert status == 1 and "libamdhip64.so is not found" in named(answer, "libraries")[0]["text"]
    assert not list(tmp_path.iterdir())


def libraries_by_ldd(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if "=>" in line]


@pytest.mark.parametrize("program", ["git", "ssh", "python3.11", "gdb", "bash"])
def test_all_libraries_of_real_programs_are_found(answers, program):
    path = shutil.which(program, path="/usr/bin:/bin")
    if not path:
        pytest.skip(f"no {program}")
    _, answer = answers("--", path)
    found, = named(answer, "libraries")
    assert found["verdict"] == "ok"
    assert abs(int(found["text"].split()[0]) - len(libraries_by_ldd(path))) <= 1  # ld.so itself


def test_zluda_is_found(answers, build):
    folder = build.runtimes / "zluda"
    _, answer = answers(LD_LIBRARY_PATH=f"{folder}:{build.runtimes / 'v6'}")
    libcuda, = named(answer, "libcuda")
    assert libcuda["verdict"] == "ok" and libcuda["text"].endswith(": ZLUDA"), libcuda


def test_a_script_is_its_interpreter(answers, tmp_path):
    script = tmp_path / "job"
    script.write_text("#!/bin/sh\necho run > ran\n")
    script.chmod(0o755)
    _, answer = answers("--", script)
    assert f"{script}, run by /bin/sh" in named(answer, "file")[0]["text"]
    assert not (tmp_path / "ran").exists()


# ---------------------------------------------------------------- a process
def test_a_process(answers, doctor):
    process = subprocess.Popen(["sleep", "60"], env={"HIP_VISIBLE_DEVICES": "-1"})
    try:
        status, answer = answers(process.pid)
        assert status == 1 and answer["examined"] == f"sleep (pid {process.pid})"
        assert named(answer, "HIP_VISIBLE_DEVICES")[0]["verdict"] == "problem"
        assert "has not loaded HIP" in named(answer, "loaded")[0]["text"]
        assert "rules allow it" in named(answer, "attach")[0]["text"]
    finally:
        process.kill()
        process.wait()


def test_what_the_process_has_loaded(answers, runtime, tmp_path):
    script = (f"import ctypes, sys; ctypes.CDLL('{next(runtime.glob('libamdhip64.so*'))}'); print(1, flush=True); "
              f"sys.stdin.read()")
    process = subprocess.Popen(["/usr/bin/python3", "-c", script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, cwd=tmp_path)
    try:
        process.stdout.readline()
        _, answer = answers(process.pid)
        libraries = subprocess.run(["grep", "-om1", "/.*libamdhip64.*", f"/proc/{process.pid}/maps"],
                                   capture_output=True, text=True).stdout.split()
        assert libraries and {check["text"] for check in named(answer, "libamdhip64")} == set(libraries)
    finally:
        process.stdin.close()
        process.wait(60)


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize("arguments, status, says", [
    (["4194304"], 1, "it has ended"),
    (["fade-no-such-program"], 1, "no such program in PATH"),
    (["--", "/etc/passwd"], 1, "/etc/passwd"),
    (["1", "2"], 2, "more than one process"),
    (["0"], 2, "'0' is not a process id"),
    (["99999999999999"], 2, "is not a process id"),
    (["--jsn"], 2, "did you mean '--json'?"),
])
def test_bad_input(doctor, arguments, status, says):
    ran = doctor(*arguments)
    assert ran.returncode == status and says in ran.stdout + ran.stderr
    assert (ran.stdout == "") == (status == 2)


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_a_result_that_cannot_be_written(fade, where):
    done = subprocess.run(["sh", "-c", f'"{fade.path("fade-doctor")}" {where}'],
                          env=fade.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "fade-doctor: cannot write standard output" in done.stderr
