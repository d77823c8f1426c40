"""fade trace: a line for each call as it happens, beside the recording."""
import contextlib
import os
import re
import signal
import subprocess

import pytest

import harness
from attaching import start  # noqa: F401  (fixture)

HEAD = re.compile(r"\[\d+/\d+\] \d+\.\d{6} ")
CALL = re.compile(r"\[(\d+)/(\d+)\] (\d+\.\d{6}) (\w+)\((.*)\) = (\S+)(?: <(?:~0|[\d.]+ [munµ]?s)>)?(?:  \S.*)?")


@pytest.fixture
def fade_trace(build):
    return build.folder / "cli" / "trace" / "fade-trace"


def environment(build, **more):
    return {**build.environment("v6"), "LC_ALL": "C.UTF-8", "FADE_CONFIG": "/dev/null", **more}


def trace(build, fade_trace, folder, line, *options, **more):
    """The program runs under fade-trace; how that ended, and the lines."""
    command = [fade_trace, "-q", "-o", "lines", "--recording", "run.db", *options, "--", *build.command(line)]
    ran = harness.run(command, environment(build, **more), folder)
    return ran, (folder / "lines").read_text().splitlines()


def calls(lines):
    """All lines but those at the ends of processes."""
    return [line for line in lines if "+++" not in line]


def names(lines):
    assert all(HEAD.match(line) for line in lines), lines
    return [re.match(r"\w+", HEAD.sub("", line))[0] for line in calls(lines)]


def test_every_call_has_its_line(build, fade_trace, tmp_path):
    ran, lines = trace(build, fade_trace, tmp_path, "loop 3000", "-e", harness.EVERYTHING)
    assert ran.status == 0
    counted = {name: names(lines).count(name) for name in set(names(lines))}
    assert counted == ran.total
    recorded = dict(harness.Database(tmp_path / "run.db").rows("SELECT name, count(*) FROM calls GROUP BY name"))
    assert recorded == counted


def test_the_recording_has_the_options_as_typed(build, fade_trace, tmp_path):
    trace(build, fade_trace, tmp_path, "loop 2", "-z")
    (options,), = harness.Database(tmp_path / "run.db").rows("SELECT options FROM sessions")
    assert "-z" in options


def test_groups_with_statistics_have_no_lines(build, fade_trace, tmp_path):
    ran, lines = trace(build, fade_trace, tmp_path, "parts alloc launch=4 alloc free fail copy sync",
                       "--detail", "calls,kernel=stats,sync=stats,copy=full")
    assert ran.status == 0
    written, counted = names(lines), harness.Database(tmp_path / "run.db").rows(
        'SELECT name, "group", sum(calls) FROM functions WHERE calls > 0 GROUP BY name')
    expected = {name: n for name, group, n in counted if group not in ("kernel", "sync")}
    assert {name: written.count(name) for name in set(written)} == expected and len(expected) < len(counted)


def test_the_program_is_as_alone(build, fade_trace, tmp_path):
    alone = harness.run_alone(build, "exits code 7", "v6", tmp_path)
    ran, _ = trace(build, fade_trace, tmp_path / "traced", "exits code 7")
    assert (ran.status, ran.stdout, ran.stderr) == (alone.status, alone.stdout, alone.stderr)


def test_only_failures(build, fade_trace, tmp_path):
    ran, lines = trace(build, fade_trace, tmp_path, "loop 10", "-z", FADE_STANDIN_FAIL="hipMalloc:*:2")
    assert calls(lines) and all("= hipErrorOutOfMemory" in line for line in calls(lines))


def test_the_end_of_a_process_is_a_line(build, fade_trace, tmp_path):
    ran, lines = trace(build, fade_trace, tmp_path, "exits code 7")
    assert re.search(r" \+\+\+ exited with 7 \+\+\+$", lines[-1]) and ran.status == 7
    ran, lines = trace(build, fade_trace, tmp_path / "crash", "crash in")
    assert re.search(r" \+\+\+ killed by SIGSEGV \+\+\+$", lines[-1])


def test_the_last_message_has_the_counts(build, fade_trace, tmp_path):
    command = [fade_trace, "-o", "lines", "--recording", "run.db", "--", *build.command("loop 2")]
    ended = subprocess.run(command, env=environment(build), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"fade: \d+ calls, 0 errors: fade-query run.db summary",
                        ended.stderr.splitlines()[-1]), ended.stderr


def test_groups_choose_the_calls(build, fade_trace, tmp_path):
    _, lines = trace(build, fade_trace, tmp_path, "memory", "-e", "mem")
    recorded = harness.Database(tmp_path / "run.db").rows("SELECT name FROM calls ORDER BY start")
    assert sorted(names(lines)) == sorted(name for name, in recorded)


def test_a_call_that_dies_is_unfinished(build, fade_trace, tmp_path):
    ran, lines = trace(build, fade_trace, tmp_path, "crash in", FADE_STANDIN_DELAY="hipStreamSynchronize:100s")
    assert ran.status == -signal.SIGSEGV
    assert any(re.search(r"hipMemcpy\(.* <unfinished \.\.\.>", line) for line in lines), lines


def test_lines_come_as_calls_happen(build, fade_trace, tmp_path):
    """On standard error, while the program waits in its next call."""
    command = [fade_trace, "--recording", "run.db", "--", *build.command("crash in")]
    process = subprocess.Popen(
        command, env=environment(build, FADE_STANDIN_DELAY="hipStreamSynchronize:1000s,hipMemcpy:1000s"), cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in iter(process.stderr.readline, "") if "hipMalloc(" in line)
        assert process.poll() is None
        assert CALL.match(line), line
    finally:
        for pid in reversed(harness.descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=60)


def test_a_reader_that_goes_ends_the_lines_only(build, fade_trace, tmp_path):
    inside, outside = os.pipe()
    process = subprocess.Popen([fade_trace, "-q", "-o", f"/dev/fd/{outside}", "--recording",
                                "run.db", "--", *build.command("loop 5000")], pass_fds=[outside],
                               env=environment(build), cwd=tmp_path, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(outside)
    assert os.read(inside, 64)
    os.close(inside)
    assert (process.communicate(timeout=100)[1], process.returncode) == (b"", 0)
    (calls,), = harness.Database(tmp_path / "run.db").rows("SELECT count(*) FROM calls")
    assert calls >= 5000


@pytest.mark.parametrize("words", [["{}"], ["-p", "{}"]])
def test_a_running_program_is_traced(build, fade_trace, start, tmp_path, words):  # noqa: F811
    target = start("steady 2")
    target.tell("go")
    words = [word.format(target.pid) for word in words]
    process = subprocess.Popen([fade_trace, "--recording", "run.db", *words], env=environment(build),
                               cwd=tmp_path, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    line = next(line for line in iter(process.stderr.readline, "") if "hipMalloc(" in line)
    assert line.startswith(f"[{target.pid}/")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=100)
    assert process.returncode == 0
    target.ask("quiet")
    assert target.end()[1] == 7


def test_a_reader_that_reads_nothing_does_not_keep_the_program(build, fade_trace, start, tmp_path):  # noqa: F811
    """The lines wait for it, until SIGTERM."""
    target = start("steady 2")
    inside, outside = os.pipe()
    process = subprocess.Popen([fade_trace, "-q", "-o", f"/dev/fd/{outside}", "--recording", "run.db", str(target.pid)],
                               pass_fds=[outside],
                               env=environment(build), cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(outside)
    target.tell("go")
    assert os.read(inside, 64)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=100)
    assert process.returncode == 0
    target.ask("quiet")
    assert target.end()[1] == 7
    os.close(inside)


def test_the_file_is_for_its_owner_alone(build, fade_trace, tmp_path):
    trace(build, fade_trace, tmp_path, "loop 2")
    assert (tmp_path / "lines").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("words, problem", [([], "no command and no process"),
                                            (["-p", "1", "--", "true"], "exclude each other"),
                                            (["-tttt", "true"], "three times"),
                                            (["--dry-run", "true"], "dry-run")])
def test_bad_words(fade_trace, tmp_path, words, problem):
    ran = subprocess.run([fade_trace, "-o", "lines", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2 and problem in ran.stderr
    assert not (tmp_path / "lines").exists()


def test_fade_trace_is_a_command_of_fade(build, fade_trace, tmp_path):
    fade = build.folder / "cli" / "fade" / "fade"
    said = subprocess.run([fade, "help"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "trace" in said
    ran = subprocess.run([fade, "trace", "--version"], capture_output=True, text=True,
                         timeout=60, env={**os.environ, "PATH": f"{fade_trace.parent}:{os.environ['PATH']}"})
    assert ran.stdout.startswith("fade-trace ")
