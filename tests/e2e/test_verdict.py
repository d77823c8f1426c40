"""Was the GPU really used: every verdict from a program that behaves so, and healthy programs that must not be
accused."""
import json
import os
import re
import shutil
import sqlite3
import subprocess

import pexpect
import pytest

import harness

FAIL_THIRD_LAUNCH = {"FADE_STANDIN_FAIL": ",".join(f"hipLaunchKernel:{n}:700" for n in range(3, 20))}
NO_DEVICE = {"FADE_STANDIN_DEVICES": "none"}


@pytest.fixture
def record(build, tmp_path):
    """Runs a command under fade-run, in an environment of its own; gives the database and what fade-run did."""
    def run(command, *options, **environment):
        ran = harness.run([build.fade_run, "-q", *options, "-o", tmp_path / "run.db", "--", *command],
                          build.environment("v6", **environment), tmp_path)
        return ran, tmp_path / "run.db"
    return run


@pytest.fixture
def steps(build, record):
    def run(words, *options, **environment):
        return record([build.tracees / "steps", *words.split()], *options, **environment)[1]
    return run


@pytest.fixture
def query(build, tmp_path):
    def ask(*words):
        return subprocess.run([build.fade_query, *map(str, words)], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60)
    return ask


def overall(database):
    names = ("verdict", "reason", "evidence", "advice", "command", "pid", "processes")
    row, = harness.Database(database).rows(f"SELECT {', '.join(names)} FROM session_verdicts")
    return dict(zip(names, row))


def processes(database):
    """Last word of the command line -> verdict, whether it counts, reason."""
    return {command.split()[-1]: (verdict, working, reason)
            for command, verdict, working, reason in harness.Database(database).rows(
                "SELECT command, verdict, working, reason FROM verdicts")}


# ---------------------------------------------------------------- each verdict
def test_a_program_without_hip(build, record):
    _, database = record([build.tracees / "plain"])
    found = overall(database)
    assert (found["verdict"], found["reason"]) == ("NOT_LOADED", "no HIP library was ever loaded")


def test_hip_that_is_never_called(steps):
    assert overall(steps("compute=1"))["verdict"] == "LOADED_UNUSED"


def test_hip_of_which_nothing_is_watched(steps):
    found = overall(steps("count", "--include", "^no_such_function$"))
    assert found["verdict"] == "UNWATCHED"
    assert "only a part of the run was recorded" in found["evidence"]
    assert "--include" in found["advice"]


def test_what_could_not_be_written_is_not_denied(steps, query, tmp_path):
    """As a full disk leaves it: the row of the loss is there, and no call."""
    database = steps("count alloc copy")
    connection = sqlite3.connect(database)
    connection.execute(
        "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 0, 9, 'the database could not be written')")
    connection.commit()
    connection.close()
    found = overall(database)
    assert found["verdict"] == "UNWATCHED" and "could not be written" in found["reason"]
    assert "fade-query drops" in found["advice"]


@pytest.mark.parametrize("groups", ["mem,copy", "device", "stream"])
def test_launches_that_are_not_watched_are_not_denied(steps, query, tmp_path, groups):
    found = overall(steps("count alloc copy launch=3", "-e", groups))
    assert found["verdict"] == "UNWATCHED"
    assert "kernel launches were not recorded" in found["reason"] and "-e" in found["advice"]
    assert "only a part of the run was recorded" in found["evidence"]
    assert "UNWATCHED" in query(tmp_path / "run.db", "check", "--fail-on", "not-used").stdout


@pytest.mark.parametrize("words, failing, verdict", [("alloc exit=3", "hipMalloc:1:2", "FAILED"),
                                                     ("alloc abort", "", "FAILED"),
                                                     ("alloc launch=3", "hipMalloc:1:2", "UNWATCHED")])
def test_what_fails_itself_failed_though_launches_are_not_watched(steps, words, failing, verdict):
    assert overall(steps(words, "-e", "mem", FADE_STANDIN_FAIL=failing))["verdict"] == verdict


def test_a_program_that_only_asks(steps):
    found = overall(steps("count"))
    assert (found["verdict"], found["reason"]) == ("QUERIED_ONLY",
                                                   "HIP offered 2 GPUs, and the program did not use them")


def test_data_on_the_gpu_and_no_work(steps):
    assert overall(steps("count alloc copy"))["verdict"] == "ALLOCATED_NO_LAUNCH"


def test_a_program_that_launches(steps):
    found = overall(steps("count alloc copy launch=5"))
    assert found["verdict"] == "USED" and found["advice"] is None
    assert "5 launches" in found["evidence"]


def test_a_program_that_falls_back_to_the_cpu(steps):
    database = steps("count launch=5 outlast", **FAIL_THIRD_LAUNCH)
    found = overall(database)
    assert found["verdict"] == "STOPPED_USING"
    assert found["reason"].startswith(
        "after hipLaunchKernel returned hipErrorIllegalAddress no further kernel was launched")
    assert "2 launches" in found["evidence"] and "3 launches failed" in found["evidence"]
    assert harness.Database(database).value("SELECT max(cpu_ns) FROM cpu_samples") > 0


def test_a_program_that_fails(steps):
    found = overall(steps("count alloc launch=3 exit=1", FADE_STANDIN_FAIL="hipLaunchKernel:*:209"))
    assert found["verdict"] == "FAILED" and "no code object for this GPU" in found["reason"]
    assert "--offload-arch" in found["advice"]


def test_a_program_that_fails_late(steps):
    assert overall(steps("launch=5 exit=1", **FAIL_THIRD_LAUNCH))["verdict"] == "FAILED"


def test_an_error_that_lasts_is_a_failure_though_nobody_minds(steps):
    assert overall(steps("launch=5", **FAIL_THIRD_LAUNCH))["verdict"] == "FAILED"


def test_a_program_that_dies(steps):
    found = overall(steps("launch=5 abort"))
    assert (found["verdict"], found["reason"]) == ("FAILED", "it died of SIGABRT")


# ---------------------------------------------------------------- healthy ones
@pytest.mark.parametrize("life", ["compute=300 launch=3", "launch=3 outlast",
                                  "launch=2 compute=100 launch=1 compute=100", "count alloc launch=1 copy outlast"])
def test_much_cpu_work_is_no_fault(steps, life):
    assert overall(steps(life))["verdict"] == "USED"


def test_failures_that_were_overcome_are_no_fault(steps):
    database = steps("alloc alloc launch=3 outlast", FADE_STANDIN_FAIL="hipMalloc:1:2,hipLaunchKernel:1:701")
    found = overall(database)
    assert (found["verdict"], found["reason"]) == ("USED", "kernels were launched, though some calls failed")


# ---------------------------------------------------------------- processes
def test_launchers_and_helpers_are_not_accused(build, record):
    script = f"uname; {build.tracees / 'steps'} launch=2; true"
    _, database = record(["/bin/sh", "-c", script])
    assert overall(database)["verdict"] == "USED"
    found = processes(database)
    assert found["launch=2"][:2] == ("USED", 1)
    assert found["true'"] == ("NOT_LOADED", 0, "it only started other programs")
    assert found["uname"][:2] == ("NOT_LOADED", 0)


def test_where_none_loads_hip_the_worker_is_named_and_not_the_shell(build, record):
    _, database = record(["/bin/sh", "-c", f"{build.tracees / 'plain'}; true"])
    found = overall(database)
    assert found["verdict"] == "NOT_LOADED" and found["command"].endswith("plain")
    assert processes(database)["true'"][1] == 0


def test_idle_forked_copies_are_not_accused(steps):
    database = steps("launch=1 fork")
    assert overall(database)["verdict"] == "USED"
    assert harness.Database(database).rows("SELECT verdict, working FROM verdicts ORDER BY process_id") == [
        ("USED", 1), ("LOADED_UNUSED", 0)]


# ---------------------------------------------------------------- reasons
def fake_library(build, folder, name):
    shutil.copy(build.tracees / "decoy" / "libamdhip64.so", folder / name)
    return folder / name


def test_a_cpu_only_pytorch(build, record, tmp_path):
    _, database = record([build.tracees / "opens", fake_library(build, tmp_path, "libtorch_cpu.so")])
    found = overall(database)
    assert (found["verdict"], found["reason"]) == ("NOT_LOADED", "its PyTorch is a CPU-only build")
    assert "libtorch_cpu.so" in found["evidence"] and "ROCm build" in found["advice"]


def test_no_device(steps):
    found = overall(steps("count", **NO_DEVICE))
    assert found["verdict"] == "QUERIED_ONLY" and found["reason"].startswith("HIP saw no GPU")


def test_work_without_a_device_fails(steps):
    found = overall(steps("alloc launch=1", **NO_DEVICE))
    assert found["verdict"] == "FAILED" and found["reason"].startswith("HIP saw no GPU")


def test_a_variable_that_hides_all_devices(steps):
    found = overall(steps("count", HIP_VISIBLE_DEVICES="-1", **NO_DEVICE))
    assert "HIP_VISIBLE_DEVICES=-1" in found["reason"] and "unset" in found["advice"]


def test_a_variable_that_hides_none_is_not_blamed(steps):
    assert "VISIBLE" not in overall(steps("count", HIP_VISIBLE_DEVICES="0"))["reason"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a program that changes its root and its user")
@pytest.mark.parametrize("mode, may", [(0o660, False), (0o666, True)])
def test_device_nodes_that_may_not_be_opened(steps, tmp_path, mode, may):
    for name in ("dev/kfd", "dev/dri/renderD128"):
        node = tmp_path / "root" / name
        node.parent.mkdir(parents=True, exist_ok=True)
        node.touch()
        node.chmod(mode)
    database = steps(f"root={tmp_path / 'root'} drop count", **NO_DEVICE)
    found = overall(database)
    kinds = {detail.split()[0]: kind for kind, detail in harness.Database(database).rows(
        "SELECT kind, detail FROM lifecycle WHERE kind LIKE 'device-%'")}
    expected = "device-closed" if may else "device-refused"
    assert kinds == {"/dev/kfd": expected, "/dev/dri/renderD128": expected}
    assert ("may not open" in found["reason"]) == (not may)
    if may:
        assert found["reason"] == "HIP saw no GPU"
        assert "/dev/kfd is not open, though its mode 0666" in found["evidence"]
        assert "--device /dev/kfd" in found["advice"]
    if not may:
        assert "mode 0660" in found["evidence"] and "65534" in found["evidence"] and "usermod" in found["advice"]


# ---------------------------------------------------------------- how it is told
def test_fade_run_says_it_at_the_end(build, record):
    ran, _ = record([build.tracees / "steps", "count"], "--verdict")
    assert ran.status == 0 and ran.stdout == b""
    assert b"QUERIED_ONLY: the program asked about GPUs and gave them no work\n" in ran.stderr


def test_the_status_stays_that_of_the_program(build, record):
    ran, _ = record([build.tracees / "steps", "launch=1", "exit=7"], "--verdict")
    assert ran.status == 7 and b"USED: the GPU was used" in ran.stderr


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("report", ["verdict", "first-error"])
def test_pages_fit_the_terminal(build, steps, report, columns):
    database = steps("count launch=5 exit=1", **FAIL_THIRD_LAUNCH)
    child = pexpect.spawn(str(build.fade_query), [str(database), report, "--no-color"],
                          env={**os.environ, "LC_ALL": "C.UTF-8"}, dimensions=(50, columns),
                          encoding="utf-8", timeout=60)
    child.expect(pexpect.EOF)
    child.close()
    text = child.before.replace("\r\n", "\n")
    # Words of a path or of arguments are not broken.
    assert all(len(line) <= columns or " " not in line.strip()[13:] for line in text.splitlines()), text
    assert "hipErrorIllegalAddress" in text and child.exitstatus == 0


def test_the_summary_says_what_is_wrong(steps, query):
    assert "\nNOT USED  QUERIED_ONLY: HIP offered 2 GPUs" in query(steps("count"),
                                                                   "summary", "--format", "table").stdout
    assert "USED" not in query(steps("launch=1", "--force"), "summary", "--format", "table").stdout


def test_rows_for_programs(steps, query):
    rows = json.loads(query(steps("launch=2"), "verdict", "--format", "json").stdout)
    assert [(row["verdict"], row["launches"]) for row in rows] == [("USED", 2)]


# ---------------------------------------------------------------- first-error
def test_the_first_error_and_what_followed(steps, query):
    database = steps("count launch=5 alloc", "-e", harness.EVERYTHING, **FAIL_THIRD_LAUNCH)
    row, = json.loads(query(database, "first-error", "--format", "json").stdout)
    assert (row["name"], row["error"], row["sticky"]) == ("hipLaunchKernel", "hipErrorIllegalAddress", 1)
    assert (row["calls_after"], row["failures_after"], row["same_after"]) == (3, 2, 2)
    assert row["next"].startswith("hipLaunchKernel") and row["asked"] is None
    assert re.match(r"(main|launch)\+0x", row["caller"])
    page = query(database, "first-error", "--format", "table").stdout
    assert "the thread did not call hipGetLastError" in page and "fade cannot see whether the program checked" in page


def test_whether_the_program_asked_is_told(build, record, query):
    _, database = record([build.tracees / "errors"], "-e", harness.EVERYTHING)
    row, = json.loads(query(database, "first-error", "--format", "json").stdout)
    assert row["name"] == "hipMalloc" and row["asked"].startswith("hipPeekAtLastError")
    _, database = record([build.tracees / "errors"], "--force")
    assert "are not recorded by default" in " ".join(query(database, "first-error", "--format", "table").stdout.split())


def test_no_error_is_said_so(steps, query):
    done = query(steps("launch=1"), "first-error", "--format", "table")
    assert done.returncode == 0 and done.stdout.startswith("No call failed.")


def test_answers_are_no_errors(steps, query):
    database = steps("launch=1 alloc", FADE_STANDIN_FAIL="hipMalloc:1:600")
    assert query(database, "first-error", "--format", "table").stdout.startswith("No call failed.\n  ")
    assert query(database, "check").returncode == 0
    assert json.loads(query(database, "errors", "--format", "json").stdout) == []
    assert json.loads(query(database, "sql", "SELECT name, normal FROM failures",
                            "--format", "json").stdout) == [{"name": "hipMalloc", "normal": 1}]
    assert "failed call" not in query(database, "summary").stdout


# ---------------------------------------------------------------- check
def test_a_good_recording_passes(steps, query):
    done = query(steps("alloc launch=2"), "check")
    assert (done.returncode, done.stdout) == (0, "passed: used, no errors, no dropped calls, closed cleanly\n")


def test_each_condition_has_a_line(steps, query):
    database = steps("count launch=5 alloc exit=3", "--set", "device.*.warpSize=32", **FAIL_THIRD_LAUNCH)
    done = query(database, "check", "--fail-on", "not-used,errors,overwritten,dropped,leaks,exit")
    assert done.returncode == 1
    assert [line.split(": ")[:2] for line in done.stdout.splitlines()] == [
        ["failed", name] for name in ("GPU work failed", "errors", "leaks", "exit")]
    assert "failed: leaks: 4.00 KiB of GPU memory" in done.stdout
    assert "3 calls failed; the first: hipLaunchKernel returned hipErrorIllegalAddress" in done.stdout
    assert query(database, "check", "--fail-on", "overwritten,dropped").returncode == 0
    rows = json.loads(query(database, "check", "--format", "json").stdout)
    assert [row["condition"] for row in rows] == ["not-used", "errors"]


def test_what_cannot_be_checked_is_another_status(steps, query, tmp_path):
    database = steps("launch=1")
    wrong = query(database, "check", "--fail-on", "error")
    assert wrong.returncode == 2 and "--fail-on errors" in wrong.stderr
    assert query(tmp_path / "none.db", "check").returncode == 2
    assert query(database, "top", "--fail-on", "errors").returncode == 2
