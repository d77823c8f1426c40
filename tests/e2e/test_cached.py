"""Copies of device properties that a program made before fade-attach came: found, changed if asked, put back."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from attaching import Look, attach, is_untouched, start, until  # noqa: F401 (fixtures)

RULE = "device.0.multiProcessorCount=72"
BOTH = " 36/2575000/AMD Radeon RX 6800 XT 48/2482000/AMD Radeon RX 7900 XTX"
CHANGED = BOTH.replace("36/", "72/")


def says(attachment):
    """Without the ends of lines."""
    return " ".join(attachment.says().split())


def ends(target):
    last, status = target.end()
    assert status == 7, last + target.errors.read_text()
    assert target.errors.read_text() == ""


def report(build, database, *words):
    done = subprocess.run(
        [build.fade_query, database, *words, "-f", "json"], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def state(build, attachment):
    """(device, field, was, wanted, state) of each row."""
    rows = report(build, attachment.database, "cached")
    return sorted([tuple(row[name] for name in ("device", "field", "was", "wanted", "state")) for row in rows], key=str)


@pytest.mark.parametrize(
    "form, runtime, layout",
    [
        ("r0600", "v6", "hipDeviceProp_tR0600"),
        ("r0600", "v7", "hipDeviceProp_tR0600"),
        ("r0000", "v5", "hipDeviceProp_tR0000"),
        ("r0000", "v6", "hipDeviceProp_tR0000"),
    ],
)
def test_copies_are_shown_and_left_alone(build, start, attach, form, runtime, layout):
    target = start(f"keeps {form} 4", runtime)
    assert target.ask("show") == "show" + BOTH
    before = Look(target)
    attachment = attach(target, "--set", RULE).has_come()
    attachment.tells(
        "the program holds 2 copies of device properties. 1 copy that --set does not reach stays as before"
    )
    assert target.ask("show") == "show" + BOTH
    database = attachment.leave()
    assert target.ask("show") == "show" + BOTH
    is_untouched(target, before)
    kept = [(0, "multiProcessorCount", "36", "72", "kept"), (1, None, None, None, "kept")]
    assert state(build, attachment) == kept
    assert database.rows("SELECT DISTINCT layout, known_by, problem FROM cached_copies") == [(layout, "fields", None)]
    libraries = database.rows("SELECT DISTINCT library FROM cached_copies")
    assert [path.rsplit("/", 1)[1] for (path,) in libraries] == ["libkept_properties.so"]
    assert database.rows("SELECT old_bytes, new_bytes FROM cached_fields") == [(b"\x24\0\0\0", b"\x48\0\0\0")]
    assert (
        database.value("SELECT count(*) FROM cached_searches WHERE bytes > 100000 AND copies = 2 AND held_ns > 0") == 1
    )
    summary = subprocess.run(
        [build.fade_query, attachment.database, "summary"], capture_output=True, text=True, check=True
    ).stdout
    assert f"process {target.pid} holds 1 copy of the properties of device 0 that --set does not reach" in " ".join(
        summary.split()
    )
    ends(target)


@pytest.mark.parametrize("form, runtime", [("r0600", "v6"), ("r0000", "v5")])
@pytest.mark.parametrize("threads", [1, 24])
def test_copies_are_changed_and_put_back(build, start, attach, form, runtime, threads):
    target = start(f"keeps {form} {threads}", runtime)
    before = Look(target)
    attachment = attach(target, "--set", RULE, "--set", "device.*.name=Dream", "--set-cached").has_come()
    attachment.tells("fade changed 2")
    said = attachment.says()
    assert said.index("they keep the changed values") < said.index("fade changed 2")
    assert target.ask("show") == "show 72/2575000/Dream 48/2482000/Dream"
    database = attachment.leave()
    assert "2 copies of device properties were put back" in says(attachment)
    assert target.ask("show") == "show" + BOTH
    is_untouched(target, before)
    assert {row[-1] for row in state(build, attachment)} == {"put back"}
    assert database.value("SELECT count(*) FROM cached_copies WHERE put_back >= changed AND problem IS NULL") == 2
    assert database.value("SELECT count(*) FROM cached_fields WHERE length(old_bytes) = length(new_bytes)") == 3
    ends(target)


HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print("there", flush=True)
end = time.monotonic() + 0.8
while time.monotonic() < end:
    pass
"""


def test_copies_are_put_back_though_a_thread_waits_for_a_processor(build, start, attach):
    """A program of another scheduling class has the processor of the busy thread for 0.8 s. It cannot stop before."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    ours, *others = sorted(os.sched_getaffinity(0))
    target = start("keeps r0600 1")
    busy = max(map(int, os.listdir(f"/proc/{target.pid}/task")))
    os.sched_setaffinity(busy, {ours})
    attachment = attach(target, "--set", RULE, "--set", "device.*.name=Dream", "--set-cached").has_come()
    attachment.tells("fade changed 2")
    os.sched_setaffinity(attachment.process.pid, others)
    words = [sys.executable, "-c", HOG, str(ours)]
    hog = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if hog.stdout.readline() != "there\n":
        pytest.skip(f"no scheduling class of its own: {hog.communicate()[1]}")
    attachment.leave()
    assert "2 copies of device properties were put back" in says(attachment)
    assert hog.wait() == 0
    assert target.ask("show") == "show" + BOTH
    ends(target)


def test_cudas_structure_of_zluda(build, start, attach):
    """It does not name its device: the vector does."""
    target = start("keeps cuda 2", "zluda")
    assert target.ask("show") == "show 32/2575000 32/2482000"
    attachment = attach(target, "--set", "device.1.warpSize=64", "--set-cached").has_come()
    assert target.ask("show") == "show 32/2575000 64/2482000"
    attachment.leave()
    assert target.ask("show") == "show 32/2575000 32/2482000"
    assert [row for row in state(build, attachment) if row[1]] == [(1, "warpSize", "32", "64", "put back")]
    ends(target)


def test_without_rules_a_search_is_asked_for(build, start, attach):
    target = start("keeps r0600 2")
    attachment = attach(target).has_come()
    assert attachment.leave().value("SELECT count(*) FROM cached_searches") == 0
    attachment = attach(target, "--find-cached").has_come()
    attachment.tells("the program holds 2 copies of device properties (fade-query cached)")
    database = attachment.leave()
    assert database.rows("SELECT device, name, arch, pci FROM cached_copies ORDER BY device") == [
        (0, "AMD Radeon RX 6800 XT", "gfx1030", "0000:03:00.0"),
        (1, "AMD Radeon RX 7900 XTX", "gfx1100", "0000:04:00.0"),
    ]
    attachment = attach(target, "--set-cached")
    attachment.ends(2)
    assert "there is no rule" in says(attachment)
    ends(target)


def test_rules_for_other_callers_change_nothing(build, start, attach):
    target = start("keeps r0600 2")
    attachment = attach(target, "--set", RULE + "@libtorch_hip*", "--set-cached").has_come()
    assert target.ask("show") == "show" + BOTH
    attachment.leave()
    attachment = attach(target, "--set", RULE + "@libkept*", "--set-cached").has_come()
    assert target.ask("show") == "show" + CHANGED
    attachment.leave()
    assert target.ask("show") == "show" + BOTH
    ends(target)


def test_what_a_function_has_left_on_its_stack_is_no_copy(build, start, attach):
    target = start("keeps r0600 2")
    assert target.ask("ask") == "ask 36"
    attachment = attach(target, "--set", RULE).has_come()
    assert target.ask("ask") == "ask 72"
    assert attachment.leave().value("SELECT count(*) FROM cached_copies WHERE mapping = '[stack]'") == 0
    ends(target)


def test_memory_that_holds_something_else_is_not_put_back(build, start, attach):
    target = start("keeps r0600 2")
    attachment = attach(target, "--set", RULE, "--set-cached").has_come()
    assert target.ask("show") == "show" + CHANGED
    assert target.ask("forget") == "forget"
    database = attachment.leave()
    assert "1 copy of device properties was NOT put back" in says(attachment)
    assert (
        database.value("SELECT problem FROM cached_copies WHERE changed IS NOT NULL AND put_back IS NULL")
        == "the memory holds something else by now"
    )
    assert target.ask("show") == "show"
    ends(target)


def test_what_the_program_changed_itself_stays(build, start, attach):
    target = start("keeps r0600 2")
    attachment = attach(target, "--set", RULE, "--set-cached").has_come()
    assert target.ask("clock") == "clock"
    attachment.leave()
    assert target.ask("show") == "show 36/1/AMD Radeon RX 6800 XT 48/1/AMD Radeon RX 7900 XTX"
    ends(target)


@pytest.mark.parametrize("options", [(), ("--no-follow",)])
def test_forked_children_get_their_values_back(build, start, attach, options):
    target = start("keeps r0600 1")
    attachment = attach(target, "--set", RULE, "--set-cached", *options).has_come()
    assert target.ask("fork") == "fork"
    assert target.ask("child") == "child" + (BOTH if options else CHANGED)
    assert target.ask("show") == "show" + CHANGED
    database = attachment.leave()
    assert target.ask("child") == "child" + BOTH
    assert target.ask("show") == "show" + BOTH
    assert database.value("SELECT count(*) FROM cached_copies WHERE put_back IS NOT NULL") == 2
    assert (
        database.value(
            "SELECT count(*) FROM cached_copies WHERE known_by = 'parent' AND parent_id IS NOT NULL AND device = 0"
        )
        == 1
    )
    ends(target)


def test_an_answer_tells_what_the_copies_did_not(build, start, attach):
    """A structure on the heap that no library's data leads to: its device is known when a call has told it."""
    target = start("keeps hidden 1")
    attachment = attach(target, "--set", RULE, "--set-cached").has_come()
    assert target.ask("show") == "show 36"
    assert target.ask("ask") == "ask 72"
    until(lambda: target.ask("show") == "show 72", "the second search")
    database = attachment.leave()
    assert target.ask("show") == "show 36"
    assert database.rows(
        "SELECT device, known_by, put_back IS NOT NULL FROM cached_copies WHERE changed IS NOT NULL"
    ) == [(0, "call", 1)]
    ends(target)


@pytest.mark.parametrize("wait", [0, 0.05, 0.2, 0.5])
def test_killed_at_any_moment(start, attach, wait):
    """The program lives; its copies have one value or the other; the next fade-attach changes and puts back as ever."""
    target = start("keeps r0600 16")
    attachment = attach(target, "--set", RULE, "--set-cached")
    until(lambda: "--set-cached changes" in attachment.says() or wait == 0, "the announcement")
    time.sleep(wait)
    attachment.process.send_signal(signal.SIGKILL)
    attachment.process.wait()
    shown = target.ask("show")
    assert shown in ("show" + BOTH, "show" + CHANGED)
    again = attach(target, "--set", "device.*.multiProcessorCount=7", "--set-cached").has_come()
    assert target.ask("show").startswith("show 7/")
    again.leave()
    assert target.ask("show") == shown
    assert target.tracers() == {0}
    ends(target)


@pytest.mark.parametrize("wait", [0, 0.01, 0.03])
def test_killed_while_it_puts_them_back(start, attach, wait):
    target = start("keeps r0600 16")
    attachment = attach(target, "--set", RULE, "--set-cached").has_come()
    attachment.process.send_signal(signal.SIGTERM)
    time.sleep(wait)
    attachment.process.send_signal(signal.SIGKILL)
    attachment.process.wait()
    assert target.ask("show") in ("show" + BOTH, "show" + CHANGED)
    assert attach(target).has_come().leave().value("SELECT count(*) FROM sessions") == 1
    ends(target)


def test_a_recording_without_a_search_names_the_command(build, tmp_path):
    subprocess.run([build.fade_run, "-q", "-o", tmp_path / "run.db", "--", "/bin/true"], check=True, timeout=60)
    asked = subprocess.run(
        [build.fade_query, tmp_path / "run.db", "cached"], capture_output=True, text=True, timeout=60
    )
    assert "record with fade-attach --find-cached PID" in " ".join(asked.stderr.split())
