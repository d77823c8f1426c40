"""Every report over parts of programs whose truth is known: no sentence may be false. A narrowing is a way to record less; each
has the sentences that would be false of it."""
import re
import sqlite3
import subprocess

import pytest

import harness
from daemons import wait_until

# What the program does: two blocks allocated, one freed (1 MiB leaks), eight launches of two kernels, a failed call, a copy.
WORDS = "alloc launch=4 alloc free fail copy sync launch=4"
NO_MEMORY = ("everything was freed", "nothing was allocated", "nothing was left allocated", "passed: no leaks")
NO_FAILURE = ("No call failed", "passed: no errors")
NO_USE = ("ALLOCATED_NO_LAUNCH", "QUERIED_ONLY", "LOADED_UNUSED", "NOT_LOADED", "No HIP library was ever loaded", "none of them called HIP",
          "did not use the GPU", "did not use an AMD GPU", "used: no device", "no memory was allocated and no work was given")
WHOLE = ("no calls dropped", "passed: used, no errors, no dropped calls, closed cleanly")
LEAKS_MORE = ("2.00 MiB never freed", "2097152 bytes of GPU memory")  # one block was freed
# Of each narrowing; these are whole sentences, which coverage completes.
NARROWED = ("every event was recorded", "0 B at the end", "(nothing: no kernel was launched)", "held elsewhere", "No program was told", "nothing was stopped",
            "ran on when fade left at 0.0 s")
ALL = (*NO_MEMORY, *NO_FAILURE, *NO_USE, *WHOLE)

NARROWINGS = {  # name: options, sentences that would be false
    "nothing": ([], (*NO_MEMORY, *NO_FAILURE, *NO_USE, *LEAKS_MORE)),
    "events mem": (["-e", "mem"], ALL),
    "events copy": (["-e", "copy"], ALL),
    "events kernel": (["-e", "kernel"], (*NO_MEMORY, *NO_FAILURE, *WHOLE)),
    "events cuda": (["-e", "cuda"], ALL),
    "events device": (["-e", "device"], (*NO_MEMORY, *NO_USE, *WHOLE)),
    "events without sync": (["-e", "all,-sync"], (*NO_MEMORY, *NO_FAILURE, *NO_USE, *WHOLE)),
    "events without mem": (["-e", "all,-mem"], (*NO_MEMORY, *NO_FAILURE, *NO_USE, *WHOLE)),
    "include hipFree": (["--include", "^hipFree$"], (*ALL, *LEAKS_MORE)),
    "include hipMalloc": (["--include", "^hipMalloc$"], (*ALL, *LEAKS_MORE)),
    "include nothing": (["--include", "^no_such_function$"], ALL),
    "exclude hipFree": (["--exclude", "^hipFree$"], (*NO_MEMORY, *NO_USE, *WHOLE, *LEAKS_MORE)),
    "exclude hipMalloc": (["--exclude", "^hipMalloc$"], (*NO_MEMORY, *NO_USE, *WHOLE)),
    "exclude hipLaunchKernel": (["--exclude", "^hipLaunchKernel$"], (*NO_MEMORY, *NO_USE, *WHOLE, "FAILED: ")),
    "kernels first": (["--kernel-include-regex", "first"], (*NO_MEMORY, *NO_USE, "no calls dropped")),
    "no kernel": (["--kernel-exclude-regex", "."], (*NO_MEMORY, *NO_USE, "no calls dropped")),
    "kernels not first": (["--kernel-exclude-regex", "first"], (*NO_MEMORY, *NO_USE, "no calls dropped")),
    "statistics": (["--detail", "stats"], (*NO_MEMORY, *NO_FAILURE, *NO_USE, "no calls dropped", "every call in order")),
    "statistics of copies": (["--detail", "stats", "-e", "copy"], ALL),
    "another program": (["--exe", "no-such-program"], ALL),
    "delay": (["--delay", "1h"], ALL),
    "full detail": (["--detail", "full"], (*NO_MEMORY, *NO_FAILURE, *NO_USE)),
    "another rank": (["--only-rank", "3"], ALL),
    "no children": (["--no-follow"], tuple(s for s in ALL if s != "NOT_LOADED")),  # the shell, which is watched, loads nothing
}
LOSSES = {  # name: what happens to the recording of the whole program, sentences that would be false
    "results not seen": ("INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 0, 4, 'results of calls (the calls themselves are recorded): no room')", WHOLE),
    "database locked": ("INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 9000000000, 4, 'another process had the database locked')", WHOLE),
    "disk full": ("INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 0, 4, 'the database could not be written')", WHOLE),
    "size limit": ("INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 9000000000, 4, 'size limit reached: calls are only counted')", WHOLE),
    "breakpoints taken out": ("INSERT INTO lifecycle_ (session, ts, process, kind, value, detail) VALUES (1, 0, 1, 'vanished', 1, '1 breakpoint (hipMalloc): gone')", WHOLE),
}


def reports_of(build, path):
    """All reports as pages, as one text."""
    names = re.findall(r"^([a-z][a-z-]*)\t.*\t\d+$", ask(build, path, "reports", "-f", "tsv").stdout, re.M)
    names.remove("schema")  # its sentences are about columns
    texts = [ask(build, path, *words).stdout for words in
             [*([name, "-f", "table"] for name in names), ["memory", "--peak", "-f", "table"], ["flame", "--weight", "leaks", "-f", "table"], ["flame", "--weight", "peak", "-f", "table"],
              ["check"], ["check", "--fail-on", "leaks"], ["check", "--fail-on", "errors"], ["verdict", "-f", "table"], ["summary", "-f", "table"], ["first-error", "-f", "table"]]]
    assert len(names) > 30
    return "\n".join(texts)


def ask(build, path, *words):
    return subprocess.run([build.fade_query, path, *words], cwd=path.parent, capture_output=True, text=True, timeout=120)


def record(build, folder, options, words=WORDS):
    path = folder / "run.db"
    before = ["sh", "-c", '"$@"; true', "sh"] if "--no-follow" in options else []
    harness.run([build.fade_run, "-q", *options, "-o", path, "--", *before, build.tracees / "parts", *words.split()], build.environment("v6", RANK="0"), folder)
    return path


def expect_none(text, forbidden):
    false = [sentence for sentence in forbidden if sentence in text]
    assert not false, "\n".join(line for line in text.splitlines() if any(sentence in line for sentence in false))


@pytest.mark.parametrize("name", NARROWINGS)
def test_no_report_claims_more_than_was_watched(build, tmp_path, name):
    options, forbidden = NARROWINGS[name]
    expect_none(reports_of(build, record(build, tmp_path, options)), (*forbidden, *(NARROWED if name not in ("nothing", "full detail") else ())))


@pytest.mark.parametrize("name", LOSSES)
def test_no_report_claims_what_was_lost(build, tmp_path, name):
    change, forbidden = LOSSES[name]
    path = record(build, tmp_path, [])
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    expect_none(reports_of(build, path), forbidden)


def sums_of(build, path):
    rows = ask(build, path, "sql", "SELECT coalesce(sum(live_at_end), 0), coalesce(sum(peak), 0) FROM memory_totals", "-f", "tsv").stdout.splitlines()[1]
    placed = ask(build, path, "sql", "SELECT coalesce(sum(size), 0) FROM allocations WHERE end IS NULL AND memory IS NOT NULL", "-f", "tsv").stdout.splitlines()[1]
    return [int(n) for n in rows.split("\t")], int(placed)


@pytest.mark.parametrize("name", NARROWINGS)
def test_leaks_memory_and_check_agree_and_exceed_no_truth(build, tmp_path, name):
    """The truth: 1 MiB leaks, the peak is 2 MiB. Without hipFree all that was allocated counts, 8 bytes more."""
    options, _ = NARROWINGS[name]
    path = record(build, tmp_path, options)
    (left, peak), placed = sums_of(build, path)
    frees_missing = options in (["--exclude", "^hipFree$"], ["--include", "^hipMalloc$"])
    more = (1 << 20) + 8 if frees_missing else 0
    assert left <= (1 << 20) + more and peak <= (2 << 20) + 8
    assert placed in (left, 0)  # statistics have no rows
    check = ask(build, path, "check", "--fail-on", "leaks")
    assert check.returncode == (2 if left == 0 or frees_missing else 1), check.stdout
    leaks = ask(build, path, "leaks", "-f", "table").stdout
    assert ("MiB" in leaks) == (left > 0)


class Waiting:
    """The program, between its words: goes on when it is told to."""

    def __init__(self, build, folder, words, *before):
        self.process = subprocess.Popen([*map(str, before), str(build.tracees / "parts"), *words.split()], env=build.environment("v6"), cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.wait()

    def wait(self):
        assert self.process.stdout.readline() == "waiting\n"

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.communicate("\n" * 9, timeout=60)
        return self.process.returncode


def test_a_window_of_a_healthy_program_is_not_its_life(build, tmp_path):
    """Launches before, an allocation in the window, its free and launches after."""
    path = tmp_path / "run.db"
    program = Waiting(build, tmp_path, "launch=4 wait alloc wait free launch=4")
    attach = subprocess.Popen([build.folder / "cli" / "attach" / "fade-attach", "-q", "-o", path, str(program.process.pid)], cwd=tmp_path, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: path.exists() and ask(build, path, "sql", "SELECT 'came' FROM lifecycle WHERE kind = 'attach'").stdout.splitlines()[1:] == ["came"])
        program.go_on()
        program.wait()
    finally:
        attach.terminate()
        attach.wait(60)
    assert program.end() == 0
    text = reports_of(build, path)
    expect_none(text, (*NO_USE, *NO_MEMORY, "never freed", *WHOLE))
    checked = ask(build, path, "check", "--fail-on", "leaks,not-used")
    assert checked.returncode == 2 and "fade came when the process was running already" in checked.stdout


def test_a_recording_that_was_cut_off_does_not_speak_of_the_end(build, tmp_path):
    path = tmp_path / "run.db"
    program = Waiting(build, tmp_path, "alloc free count wait alloc launch=4", build.fade_run, "-q", "-o", path, "--")
    wait_until(lambda: ask(build, path, "sql", "SELECT sum(calls) FROM call_stats HAVING sum(calls) > 2").stdout.count("\n") > 1)
    program.process.kill()
    program.process.stdin.close()
    program.process.wait(60)
    expect_none(reports_of(build, path), (*NO_MEMORY, *NO_USE, *WHOLE))
    assert ask(build, path, "check", "--fail-on", "leaks").returncode == 2
