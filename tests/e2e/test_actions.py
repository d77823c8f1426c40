"""--actions: rules do what they say, each time is a row, and the program behaves as if fade were not there."""
import json
import os
import signal
import subprocess
import time

import pytest

import harness

DONE = "SELECT action, count(*) FROM actions GROUP BY action ORDER BY action"


def acted(build, folder, rules, *options, rounds=5, line=None):
    folder.mkdir(exist_ok=True)
    (folder / "rules").write_text(rules)
    command = line or f"acted {rounds}"
    alone = harness.run_alone(build, command, "v6", folder)
    watched = harness.run_supervised(build, command, "v6", folder, options=("--actions", folder / "rules", *options))
    return alone, watched, harness.Database(folder / "run.db")


@pytest.mark.parametrize("engine", ["breakpoints", "taps", "auto"])
def test_conditions_choose_calls(build, tmp_path, engine):
    rules = """
        on hipMalloc if size >= 3000 and size < 5K do mark 'large'
        on hipFree if failed do stack
        on hipMalloc if step == 2 do mark in_step
        on hipMalloc if caller =~ 'nobody*' do stop
        on hipMemcpy if kind == 'hipMemcpyHostToDevice' limit 2 do mark up
    """
    alone, watched, database = acted(build, tmp_path, rules, "--engine", engine, "--step", "hipDeviceSynchronize")
    assert (watched.stdout, watched.status, watched.total) == (alone.stdout, alone.status, alone.total)
    assert dict(database.rows("SELECT detail, count(*) FROM actions WHERE action = 'mark' GROUP BY 1")) == {
        "large": 3,
        "in_step": 1,
        "up": 2,
    }
    assert database.rows("SELECT name, stack > 0 FROM actions WHERE action = 'stack'") == [("hipFree", 1)]
    assert database.rows("SELECT rule, detail FROM actions WHERE action = 'limit'") == [
        (5, "the rule has done its work 2 times")
    ]
    assert database.rows("SELECT rule, done FROM action_rules ORDER BY rule") == [
        (1, 3),
        (2, 1),
        (3, 1),
        (4, 0),
        (5, 2),
    ]
    size = (
        "SELECT json_extract(c.args, '$.size') FROM actions a JOIN calls c ON c.id = a.call_id WHERE a.detail = 'large'"
    )
    assert database.rows(size) == [(3000,), (4000,), (5000,)]
    assert database.value("SELECT count(*) FROM lifecycle WHERE kind = 'mark'") == 6


def test_rules_see_calls_that_fade_failed(build, tmp_path):
    *_, database = acted(
        build, tmp_path, "on hipMalloc if failed do mark failed", "--inject", "hipMalloc:error=2:when=2"
    )
    assert database.rows(DONE) == [("mark", 1)]


def test_dump_writes_the_bytes_beside_the_recording(build, tmp_path):
    _, watched, database = acted(
        build, tmp_path, "on hipMemcpy limit 2 do dump src sizeBytes\non hipFree if failed do dump ptr 16\n"
    )
    files = sorted(tmp_path.glob("run.db.action-*"))
    assert [file.name for file in files] == ["run.db.action-1-1.bin", "run.db.action-1-2.bin"]
    for file in files:
        assert file.read_bytes() == b"the bytes of a copy".ljust(64, b"\0")
        assert file.stat().st_mode & 0o777 == 0o600
    details = [detail for (detail,) in database.rows("SELECT detail FROM actions WHERE action = 'dump' ORDER BY id")]
    assert (
        len(details) == 3 and "64 bytes" in details[0] and details[2] == "nothing: the memory at 0x10 could not be read"
    )
    assert watched.status == 0


def test_a_file_that_is_there_is_not_touched(build, tmp_path):
    kept = tmp_path / "run.db.action-1-1.bin"
    kept.write_text("kept")
    _, _, database = acted(build, tmp_path, "on hipMemcpy limit 1 do dump src 8")
    assert kept.read_text() == "kept"
    assert "exist" in database.value("SELECT detail FROM actions WHERE action = 'dump'").lower()


def test_signals_reach_the_thread(build, tmp_path):
    _, watched, database = acted(build, tmp_path, "on hipMalloc if size > 1000 do signal USR1")
    assert watched.stdout == b"5 rounds, 4 signals\n"
    assert database.rows(DONE) == [("signal", 4)]


def test_exec_runs_beside_fade_and_not_in_the_target(build, tmp_path):
    rules = """on hipFree if failed do exec sh -c 'echo $FADE_PID $FADE_TID $FADE_FUNCTION $FADE_RESULT $PPID > said'
on hipMalloc limit 1 do exec /nonexistent/program
"""
    alone, watched, database = acted(build, tmp_path, rules)
    assert (watched.stdout, watched.status, watched.total) == (alone.stdout, alone.status, alone.total)
    said = tmp_path / "supervised" / "said"
    end = time.monotonic() + 20
    while not (said.exists() and said.read_text().endswith("\n")) and time.monotonic() < end:
        time.sleep(0.01)
    pid, tid, function, result, parent = said.read_text().split()
    assert pid == tid and function == "hipFree" and result == "hipErrorInvalidValue"
    assert int(pid) in [row[0] for row in database.rows("SELECT pid FROM processes")] and parent != pid
    details = dict(database.rows("SELECT rule, detail FROM actions WHERE action = 'exec'"))
    assert details[1].startswith("process ") and "No such file" in details[2]
    assert len(database.rows("SELECT * FROM processes")) == 1


def test_exec_has_the_cpus_of_fade_and_leaves_the_programs_output_alone(build, tmp_path):
    rules = """on hipFree limit 3 do exec sh -c 'echo heard; grep Cpus_allowed_list /proc/self/status > cpus.$$'
"""
    _, watched, _ = acted(build, tmp_path, rules)
    assert b"heard" not in watched.stdout
    folder = tmp_path / "supervised"
    end = time.monotonic() + 20
    while not (said := [path.read_text() for path in folder.glob("cpus.*")]) and time.monotonic() < end:
        time.sleep(0.01)
    own = next(line for line in open("/proc/self/status") if line.startswith("Cpus_allowed_list"))
    assert said and all(text in ("", own) for text in said)


def test_an_action_that_failed_is_not_done(build, tmp_path):
    _, _, database = acted(build, tmp_path, "on hipMalloc limit 2 do exec /nonexistent/program\n")
    assert database.rows("SELECT done, failed FROM action_rules") == [(0, 2)]
    assert database.value("SELECT sum(failed) FROM actions") == 2


def test_a_snapshot_has_all_threads(build, tmp_path):
    _, watched, database = acted(build, tmp_path, "on hipMemset limit 1 do snapshot", line="threads 4 20")
    assert watched.status == 0
    assert database.rows(DONE)[0] == ("limit", 1)
    assert database.value("SELECT count(*) FROM postmortems WHERE kind = 'snapshot'") == 1


def test_stop_leaves_the_program_stopped_until_it_is_continued(build, tmp_path):
    (tmp_path / "rules").write_text("on hipMalloc if size == 2000 do stop")
    command = [
        build.fade_run,
        "-q",
        "--actions",
        tmp_path / "rules",
        "-o",
        tmp_path / "run.db",
        "--",
        *build.command("acted 5"),
    ]
    process = subprocess.Popen(
        command, env=build.environment("v6"), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    end, pid = time.monotonic() + 60, 0
    while time.monotonic() < end and not pid:
        if harness.summed(harness.read_counts(tmp_path)).get("hipMalloc") == 2:
            pid = harness.descendants(process.pid)[1]
        time.sleep(0.05)
    assert pid and process.poll() is None
    time.sleep(0.5)
    assert harness.summed(harness.read_counts(tmp_path))["hipMalloc"] == 2
    os.kill(pid, signal.SIGCONT)
    assert process.communicate(timeout=60)[0] == b"5 rounds, 0 signals\n"
    assert (
        harness.Database(tmp_path / "run.db").value("SELECT detail FROM actions")
        == f"it goes on with: kill -CONT {pid}"
    )


def test_the_report_has_rules_that_did_nothing(build, tmp_path):
    acted(build, tmp_path, "on hipMalloc if size == 1000 do mark one\non hipMalloc if size == 1 do stop")
    asked = subprocess.run(
        [build.fade_query, "run.db", "actions", "-f", "json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    rows = {row["spec"]: row for row in json.loads(asked.stdout)}
    assert [row["action"] for row in rows.values()].count(None) == 1
    assert rows["on hipMalloc if size == 1000 do mark one"]["detail"] == "one"


def test_the_end_says_that_something_was_done(build, tmp_path):
    (tmp_path / "rules").write_text("on hipMalloc limit 3 do mark x")
    command = [
        build.fade_run,
        "--actions",
        tmp_path / "rules",
        "-o",
        tmp_path / "run.db",
        "--",
        *build.command("acted 5"),
    ]
    ran = harness.run(command, build.environment("v6"), tmp_path / "ran")
    assert b"rules of --actions did something 3 times (fade-query actions)" in ran.stderr


@pytest.mark.parametrize(
    "rule, words",
    [
        ("on hipMaloc do stack", ":2:4: no function that fade knows is called 'hipMaloc' (did you mean 'hipMalloc'?)"),
        ("on hipMalloc if step > 3 do stack", ":2:17: there are no steps"),
        ("on hipMalloc do sttop", ":2:17: 'sttop' is no action (did you mean 'stop'?)"),
    ],
)
def test_wrong_rules_end_before_the_program_starts(build, tmp_path, rule, words):
    (tmp_path / "rules").write_text(f"# rules\n{rule}\n")
    ran = subprocess.run(
        [build.fade_run, "--actions", tmp_path / "rules", "--", "/usr/bin/touch", tmp_path / "started"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert str(tmp_path / "rules") + words in ran.stderr and ran.returncode != 0
    assert not (tmp_path / "started").exists() and not list(tmp_path.glob("*.db"))


def test_fade_may_die_between_actions(build, tmp_path):
    (tmp_path / "rules").write_text("on hipMemcpy limit 1000000 do dump src 64\non hipMalloc limit 1000000 do stack\n")
    alone = harness.run_alone(build, "acted 2000", "v6", tmp_path)
    for i in range(4):
        folder = tmp_path / f"killed{i}"
        folder.mkdir()
        command = [
            build.fade_run,
            "-q",
            "--actions",
            tmp_path / "rules",
            "-o",
            folder / "run.db",
            "--",
            *build.command("acted 2000"),
        ]
        process = subprocess.Popen(
            command, env=build.environment("v6"), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        end = time.monotonic() + 60
        while process.poll() is None and sum(harness.summed(harness.read_counts(folder)).values()) < 150 * (i + 1):
            assert time.monotonic() < end
            time.sleep(0.002)
        process.kill()
        assert process.stdout.read() == alone.stdout
        process.wait()
        assert harness.summed(harness.read_counts(folder)) == alone.total
