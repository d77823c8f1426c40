"""Every report over parts of programs whose truth is known: no sentence may be false. A narrowing is a way to record
less; each has the sentences that would be false of it."""
import functools
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import zlib

import pytest

import harness
import thorough
from daemons import wait_until

# What the program does: two blocks allocated, one freed (1 MiB leaks), eight launches of two kernels, a failed call, a
# copy.
WORDS = "alloc launch=4 alloc free fail copy sync launch=4"
NO_MEMORY = ("everything was freed", "nothing was allocated", "nothing was left allocated", "passed: no leaks")
NO_FAILURE = ("No call failed", "passed: no errors")
NO_USE = ("ALLOCATED_NO_LAUNCH", "QUERIED_ONLY", "LOADED_UNUSED", "NOT_LOADED", "No HIP library was ever loaded",
          "none of them called HIP",
          "did not use the GPU", "did not use an AMD GPU", "used: no device",
          "no memory was allocated and no work was given")
WHOLE = ("no calls dropped", "passed: used, no errors, no dropped calls, closed cleanly")
LEAKS_MORE = ("2.00 MiB never freed", "2097152 bytes of GPU memory")  # one block was freed
# Of each narrowing; these are whole sentences, which coverage completes.
NARROWED = ("every event was recorded", "0 B at the end", "(nothing: no kernel was launched)",
            "held elsewhere", "No program was told", "nothing was stopped",
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
    "statistics": (["--detail", "stats"], (*NO_MEMORY, *NO_FAILURE, *NO_USE, "no calls dropped",
                                           "every call in order")),
    "statistics of copies": (["--detail", "stats", "-e", "copy"], ALL),
    "kernels as statistics": (["--detail", "calls,kernel=stats"],
                              (*NO_MEMORY, *NO_FAILURE, *NO_USE, *LEAKS_MORE, "no calls dropped",
                               "every call in order", "(no call seen)")),
    "memory as statistics": (["--detail", "calls,mem=stats"], (*NO_MEMORY, *NO_FAILURE, *NO_USE,
                                                               *LEAKS_MORE, "no calls dropped", "every call in order")),
    "memory in rows": (["--detail", "stats,mem=full"],
                       (*NO_MEMORY, *NO_FAILURE, *NO_USE, *LEAKS_MORE, "no calls dropped", "every call in order")),
    "another program": (["--exe", "no-such-program"], ALL),
    "delay": (["--delay", "1h"], ALL),
    "full detail": (["--detail", "full"], (*NO_MEMORY, *NO_FAILURE, *NO_USE)),
    "another rank": (["--only-rank", "3"], ALL),
    # the shell, which is watched, loads nothing
    "no children": (["--no-follow"], tuple(s for s in ALL if s != "NOT_LOADED")),
}
LOSSES = {  # name: what happens to the recording of the whole program, sentences that would be false
    "results not seen": (
        "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 0, 4, 'results of calls (the calls themselves "
        "are recorded): no room')", WHOLE),
    "database locked": (
        "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 9000000000, 4, 'another process had the "
        "database locked')", WHOLE),
    "disk full": (
        "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 0, 4, 'the database could not be written')",
        WHOLE),
    "size limit": (
        "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (1, 0, 9000000000, 4, 'size limit reached: calls are "
        "only counted')", WHOLE),
    "rows of allocations": ("DELETE FROM alloc_", NO_MEMORY),
    "breakpoints taken out": (
        "INSERT INTO lifecycle_ (session, ts, process, kind, value, detail) VALUES (1, 0, 1, 'vanished', 1, '1 "
        "breakpoint (hipMalloc): gone')", WHOLE),
}


FULL = {  # what --on-full says; the sentences that would be false of a recording that was full after its first calls
    "stop": (*NO_MEMORY, *NO_FAILURE, *WHOLE, *NARROWED, *LEAKS_MORE, "no recorded allocation is left"),
    "stats": (*NO_MEMORY, *NO_USE, "no calls dropped", "(nothing: no kernel was launched)", *LEAKS_MORE),
    "drop-calls": (*NO_MEMORY, *NO_USE, "no calls dropped", "(nothing: no kernel was launched)", *LEAKS_MORE),
}
FULL_WORDS = "alloc alloc launch=100000 free fail fail copy sync launch=4"  # 1 MiB leaks, two calls fail


# Reports whose sentences are conclusions. The others have a sentence where they have no rows.
CONCLUSIONS = ("allocators", "devices", "drops", "errors", "fallbacks", "findings",
               "idle", "kernels", "leaks", "lifecycle", "memory", "oom", "overhead", "processes", "top")


def reports_of(build, path, *expected):
    """All reports as pages, as one text. Unless all tests run, each test has a third of those with conclusions, and a
    twelfth of the others: another part for each narrowing. `expected`: reports of which a test needs the words."""
    names = re.findall(r"^([a-z][a-z-]*)\t.*\t\d+$", ask(build, path, "reports", "-f", "tsv").stdout, re.M)
    names.remove("schema")  # its sentences are about columns
    assert len(names) > 30 and set(CONCLUSIONS) < set(names)
    if not thorough.ALL:
        others = [name for name in names if name not in CONCLUSIONS]
        place = zlib.crc32(os.environ["PYTEST_CURRENT_TEST"].encode())
        names = [*expected, *CONCLUSIONS[place % 3::3], *others[place % 12::12]]
    pages = [f"{name} -f table" for name in names]
    pages += ["memory --peak -f table", "flame --weight leaks -f table", "flame --weight peak -f table",
              "check", "check --fail-on leaks",
              "check --fail-on errors", "verdict -f table", "summary -f table", "first-error -f table"]
    answers = [ask(build, path, *page.split()) for page in dict.fromkeys(pages)]  # some pages are reports, too
    assert not [answer.stderr for answer in answers if "cannot run this SQL" in answer.stderr]
    return "\n".join(answer.stdout for answer in answers)


def ask(build, path, *words):
    return subprocess.run([build.fade_query, path, *words], cwd=path.parent, capture_output=True,
                          text=True, timeout=120)


def record(build, folder, options, words=WORDS):
    path = folder / "run.db"
    before = ["sh", "-c", '"$@"; true', "sh"] if "--no-follow" in options else []
    harness.run([build.fade_run, "-q", *options, "-o", path, "--", *before, build.tracees / "parts", *words.split()],
                build.environment("v6", RANK="0"), folder)
    return path


def flat(text):
    """Without line ends: pages wrap their sentences."""
    return " ".join(text.split())


def expect_none(text, forbidden):
    told = flat(text)
    false = [sentence for sentence in forbidden if sentence in told]
    assert not false, [told[max(0, told.find(sentence) - 100):][:250] for sentence in false]


@pytest.fixture(scope="module")
def narrowed(build, tmp_path_factory):
    """The recording of a narrowing; tests read it, or change a copy."""
    return functools.cache(lambda name: record(build, tmp_path_factory.mktemp("narrowed"), NARROWINGS[name][0]))


@pytest.mark.parametrize("name", NARROWINGS)
def test_no_report_claims_more_than_was_watched(build, narrowed, name):
    forbidden = NARROWINGS[name][1]
    expect_none(reports_of(build, narrowed(name)),
                (*forbidden, *(NARROWED if name not in ("nothing", "full detail") else ())))


@pytest.mark.parametrize("name", LOSSES)
def test_no_report_claims_what_was_lost(build, narrowed, tmp_path, name):
    change, forbidden = LOSSES[name]
    path = pathlib.Path(shutil.copy(narrowed("nothing"), tmp_path))
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    expect_none(reports_of(build, path), forbidden)


def sums_of(build, path):
    rows = ask(build, path, "sql", "SELECT coalesce(sum(live_at_end), 0), coalesce(sum(peak), 0) FROM memory_totals",
               "-f", "tsv").stdout.splitlines()[1]
    placed = ask(build, path, "sql",
                 "SELECT coalesce(sum(size), 0) FROM allocations WHERE end IS NULL AND memory IS NOT NULL",
                 "-f", "tsv").stdout.splitlines()[1]
    return [int(n) for n in rows.split("\t")], int(placed)


@pytest.mark.parametrize("name", NARROWINGS)
def test_leaks_memory_and_check_agree_and_exceed_no_truth(build, narrowed, name):
    """The truth: 1 MiB leaks, the peak is 2 MiB. Without hipFree all that was allocated counts, 8 bytes more."""
    options, path = NARROWINGS[name][0], narrowed(name)
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
        self.process = subprocess.Popen([*map(str, before), str(build.tracees / "parts"), *words.split()],
                                        env=build.environment("v6"), cwd=folder,
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
    attach = subprocess.Popen([build.folder / "cli" / "attach" / "fade-attach", "-q",
                               "-o", path, str(program.process.pid)], cwd=tmp_path, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: path.exists()
                   and ask(build, path, "sql",
                           "SELECT 'came' FROM lifecycle WHERE kind = 'attach'").stdout.splitlines()[1:] == ["came"])
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


class Attached:
    """fade-attach to a program that waits; each with go_on() and the rest of the program's words."""

    def __init__(self, build, folder, words, *options):
        self.build, self.path = build, folder / "run.db"
        self.program = Waiting(build, folder, words)
        self.fade = subprocess.Popen([build.folder / "cli" / "attach" / "fade-attach",
                                      "-q", *options, "-o", self.path, str(self.program.process.pid)], cwd=folder,
                                     stdin=subprocess.DEVNULL)
        wait_until(lambda: self.path.exists()
                   and ask(build, self.path, "sql",
                           "SELECT 'came' FROM lifecycle WHERE kind = 'attach'").stdout.splitlines()[1:] == ["came"])

    def reports_after_the_programs_end(self, *expected):
        assert self.program.end() == 0
        assert self.fade.wait(60) == 0
        return reports_of(self.build, self.path, *expected)


def test_out_of_memory_after_attach_blames_nobody(build, tmp_path):
    """1 MiB of the 2 MiB that the program holds was allocated before fade came."""
    text = Attached(build, tmp_path, "alloc wait alloc oom").reports_after_the_programs_end("findings", "oom")
    expect_none(text, (*NO_USE, *NO_MEMORY, *WHOLE, *NARROWED, "the process held 1.00 MiB",
                       "The process itself held 1.00 MiB", "Process held 1.00 MiB", "2.00 MiB never freed"))
    assert "held at least 1.00 MiB" in flat(text) and "allocated before fade recorded" in flat(text)


def test_attach_to_a_holder_of_memory(build, tmp_path):
    attached = Attached(build, tmp_path, "alloc alloc wait free refree")
    text = attached.reports_after_the_programs_end("findings")
    expect_none(text, (*NO_USE, *NO_MEMORY, *WHOLE, *NARROWED))
    assert "Or it was allocated before fade recorded, and this is its second free." in flat(text)
    summary = ask(build, attached.path, "summary", "-f", "table").stdout
    assert " after fade came" in summary and ", attached 2" in summary and "exit status 0 after" not in summary
    assert ask(build, attached.path, "check", "--fail-on", "leaks").returncode == 2


def test_what_ran_on_when_fade_left_has_no_end(build, tmp_path):
    attached = Attached(build, tmp_path, "wait alloc wait")
    attached.program.go_on()
    attached.program.wait()
    attached.fade.terminate()
    attached.fade.wait(60)
    summary = ask(build, attached.path, "summary", "-f", "table").stdout
    assert attached.program.end() == 0
    assert summary.count("ran on when fade left, ") == 2 and "not ended" not in summary and "exit status" not in summary


@pytest.mark.parametrize("on_full", FULL)
def test_a_full_recording_says_what_it_lacks(build, tmp_path, on_full):
    path = record(build, tmp_path, ["--max-size", "3M", "--on-full", on_full], FULL_WORDS)
    assert ask(build, path, "drops", "-f", "tsv").stdout.count("\n") > 1  # it was full
    expect_none(reports_of(build, path), FULL[on_full])
    (left, _), _ = sums_of(build, path)
    assert left == (2 << 20 if on_full == "stop" else 1 << 20)
    if on_full == "stop":
        assert "2.00 MiB" in ask(build, path, "leaks", "-f", "table").stdout
        assert ask(build, path, "check", "--fail-on", "leaks").returncode == 2
    else:
        assert ask(build, path, "check", "--fail-on", "leaks").returncode == 1


@pytest.mark.parametrize("on_full", ["stats", "drop-calls"])
def test_one_number_of_failed_calls(build, tmp_path, on_full):
    path = record(build, tmp_path, ["--max-size", "3M", "--on-full", on_full], FULL_WORDS)
    for words in ("summary", "first-error", "check"):
        told = ask(build, path, words, *([] if words == "check" else ["-f", "table"])).stdout
        assert re.search(r"\b2 (failed|calls failed|failed calls)|1 of them failed|2 calls", told), told
    assert "more calls;" not in ask(build, path, "first-error", "-f", "table").stdout  # not each call has a row


def test_exec_frees_the_memory_of_the_former_program(build, tmp_path):
    path = record(build, tmp_path, [], "alloc exec count launch=4 alloc free")
    text = reports_of(build, path)
    expect_none(text, ("never freed", "not seen to be freed", *NO_USE))
    assert ask(build, path, "check", "--fail-on", "leaks").returncode == 0


def test_zluda_without_cuda_says_nothing_of_cuda(build, tmp_path):
    path = tmp_path / "run.db"
    harness.run([build.fade_run, "-q", "-e", "all,-cuda", "-o", path, "--", build.tracees / "cuda", "gaps"],
                build.environment("zluda"), tmp_path)
    expect_none(reports_of(build, path), ('(nothing: no CUDA or NVML call was answered "not supported"',
                                          "did not use ZLUDA", *WHOLE))


def test_memory_that_was_not_watched_is_not_called_pageable(build, tmp_path):
    path = record(build, tmp_path, ["-e", "copy"], "pin")
    assert ask(build, path, "sql", "SELECT DISTINCT direction, memory FROM copies",
               "-f", "tsv").stdout.splitlines()[1:] == ["h2d\t"]
    assert "pageable" not in ask(build, path, "copies", "-f", "tsv").stdout
    everything = record(build, tmp_path, ["--append"], "pin")
    assert "pinned" in ask(build, everything, "copies", "-f", "tsv").stdout


def test_a_child_that_is_not_followed_did_not_run_on(build, tmp_path):
    path = record(build, tmp_path, ["--no-follow"], "alloc")
    expect_none(reports_of(build, path), ("ran on when fade left",))


def test_check_of_a_running_recording_cannot_tell(build, tmp_path):
    path = tmp_path / "run.db"
    program = Waiting(build, tmp_path, "alloc free count wait launch=4", build.fade_run, "-q", "-o", path, "--")
    wait_until(lambda: ask(build, path, "sql",
                           "SELECT sum(calls) FROM call_stats HAVING sum(calls) > 2").stdout.count("\n") > 1)
    running = ask(build, path, "check")
    summary = ask(build, path, "summary", "-f", "table").stdout
    assert program.end() == 0
    assert running.returncode == 2 and "still being recorded" in running.stdout and "failed: " not in running.stdout
    assert "not ended yet" in summary
    assert ask(build, path, "check").returncode == 0


def test_a_recording_that_was_cut_off_does_not_speak_of_the_end(build, tmp_path):
    path = tmp_path / "run.db"
    program = Waiting(build, tmp_path, "alloc free count wait alloc launch=4", build.fade_run, "-q", "-o", path, "--")
    wait_until(lambda: ask(build, path, "sql",
                           "SELECT sum(calls) FROM call_stats HAVING sum(calls) > 2").stdout.count("\n") > 1)
    program.process.kill()
    program.process.stdin.close()
    program.process.wait(60)
    expect_none(reports_of(build, path), (*NO_MEMORY, *NO_USE, *WHOLE, *NARROWED, "not ended yet"))
    assert "its end was not recorded" in ask(build, path, "summary", "-f", "table").stdout
    assert ask(build, path, "check", "--fail-on", "leaks").returncode == 2


def test_what_was_held_when_fade_was_killed_is_told(build, tmp_path):
    """Rows of allocations that nothing freed are written at the end alone; the sums know of them."""
    path = tmp_path / "run.db"
    program = Waiting(build, tmp_path, "alloc alloc free count wait", build.fade_run, "-q", "-o", path, "--")
    wait_until(lambda: ask(build, path, "sql",
                           "SELECT sum(calls) FROM call_stats HAVING sum(calls) > 3").stdout.count("\n") > 1)
    program.process.kill()
    program.process.stdin.close()
    program.process.wait(60)
    leaks = flat(ask(build, path, "leaks", "-f", "table").stdout)
    assert "1.00 MiB" in leaks and "no recorded allocation is left" not in leaks and "fade was killed" in leaks, leaks
    assert "1.00 MiB" in flat(ask(build, path, "summary", "-f", "table").stdout)
