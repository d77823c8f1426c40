"""fade-attach on programs that call all the time: nothing lost, nothing changed, any number of times."""
import os
import re
import shutil
import sys

import pytest

import attaching
import harness
from attaching import Look, attach, is_untouched, recorded, start, until  # noqa: F401 (fixtures)
from cases import CORE, SHAPES

ROUNDS = int(os.environ.get("FADE_ATTACH_ROUNDS", "25"))


def finishes(target):
    """A program that checks its results itself ends as it would have alone."""
    last, status = target.end()
    assert status == 7, last + target.errors.read_text()
    assert target.errors.read_text() == ""
    return last


def exact_calls(target, attachment):
    """Calls of a program that is quiet when fade comes and when it leaves: the same on both sides."""
    attachment.has_come()
    before = target.counts()
    for _ in range(3):
        target.ask("rounds")
    after = target.counts()
    assert recorded(attachment.leave()) == after - before
    assert (after - before)["hipMalloc"] >= 600


@pytest.mark.parametrize("runtime", [name for name in CORE.split() if name != "ifunc"])
def test_every_call_between_attach_and_detach(start, attach, runtime):
    target = start("steady 4", runtime)
    target.ask("rounds")  # the libraries are bound, and each thread has its arena
    before = Look(target)
    exact_calls(target, attach(target))
    is_untouched(target, before)
    target.ask("rounds")
    finishes(target)


def test_what_was_bound_through_a_resolver_before_is_said_to_be_unseen(start, attach):
    """A function behind an IFUNC whose resolver ran before we came is known to nobody but those who call it."""
    target = start("steady 4", "ifunc")
    target.ask("rounds")
    attachment = attach(target)
    attachment.has_come()
    target.ask("rounds")
    database = attachment.leave()
    assert "IFUNC" in database.value("SELECT group_concat(detail) FROM lifecycle WHERE kind = 'refused'")
    finishes(target)


@pytest.mark.parametrize("how", ["masked", "handler", "ignored", "leaderless"])
def test_programs_that_care_about_signals(start, attach, how):
    target = start(f"steady 6 {how}")
    target.ask("rounds")
    before = Look(target)
    exact_calls(target, attach(target))
    is_untouched(target, before)
    finishes(target)


@pytest.mark.parametrize("runtime", SHAPES.split())
def test_attaching_and_detaching_while_everybody_calls(start, attach, runtime):
    threads = 8
    target = start(f"steady {threads}", runtime)
    target.ask("rounds")
    before = Look(target)
    assert target.ask("go") == "going"
    first = target.counts()
    attachment = attach(target).has_come()
    begun = target.counts()
    target.calls_on()
    ended = target.counts()
    found = recorded(attachment.leave())
    last = target.counts()
    for name in last:  # who was inside a call when we came, or left, may be on either side
        assert ended[name] - begun[name] - threads <= found[name] <= last[name] - first[name] + threads, name
    target.ask("quiet")
    is_untouched(target, before)
    finishes(target)


def memory_of(target):
    status = attaching.fields(target.proc("status"))
    return {name: int(status[name].split()[0]) for name in ("VmSize", "VmRSS", "VmData")}


def test_again_and_again_on_a_calling_program(start, attach):
    target = start("steady 4")
    target.ask("rounds")
    before = Look(target)
    attach(target, "-d", "10ms").ends(0)
    begin = memory_of(target)
    assert target.ask("go") == "going"
    for _ in range(ROUNDS):
        attachment = attach(target, "-d", "10ms")
        attachment.ends(0)
        assert "all patched code, verified" in attachment.says()
        shutil.rmtree(attachment.database.parent)
    rounds = int(target.ask("quiet").split()[1])
    after = memory_of(target)
    assert after["VmSize"] == begin["VmSize"] and after["VmData"] == begin["VmData"]
    assert after["VmRSS"] <= begin["VmRSS"] + 1024
    is_untouched(target, before)
    assert target.counts()["hipMalloc"] == rounds == target.counts()["hipFree"]
    finishes(target)


def test_a_program_that_is_not_position_independent(start, attach):
    target = start("steady_fixed 2")
    target.ask("rounds")
    before = Look(target)
    exact_calls(target, attach(target))
    is_untouched(target, before)
    finishes(target)


def test_a_program_that_the_loader_was_told_to_run(start, attach):
    loader = re.search(r"/\S*ld-linux\S*", os.popen("ldd /bin/true").read()).group()
    target = start("steady 2", command=[loader])
    target.ask("rounds")
    before = Look(target)
    exact_calls(target, attach(target))
    is_untouched(target, before)
    finishes(target)


def test_each_call_of_a_thousand_threads(start, attach):
    target = start("steady 1000")
    target.ask("rounds")
    before = Look(target)
    exact_calls(target, attach(target))
    is_untouched(target, before)
    finishes(target)


PYTHON = """
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p()
print("ready", flush=True)
for line in sys.stdin:
    failed = sum(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096)) or hip.hipFree(pointer)
                 for _ in range(100))
    print("failed", failed, flush=True)
"""


def test_python(build, attach, tmp_path):
    library = next((build.runtimes / "v6").glob("libamdhip64.so*"))
    target = attaching.Target([sys.executable, "-c", PYTHON, library], build.environment("v6"), tmp_path / "python")
    try:
        assert target.hear() == "ready" and target.ask("call") == "failed 0"
        before = Look(target)
        attachment = attach(target).has_come()
        assert target.ask("call") == "failed 0"
        assert recorded(attachment.leave()) == {"hipMalloc": 100, "hipFree": 100}
        is_untouched(target, before)
        assert target.ask("call") == "failed 0"
        assert target.end() == ("", 0)
    finally:
        target.kill()


# ---------------------------------------------------------------- libraries that come and go
def loads(target, build, runtime):
    path = next((build.runtimes / runtime).glob("libamdhip64.so*"))
    assert target.ask(f"load {path}") == "loaded 1"


def calls(target, times):
    assert target.ask(f"call {times}") == f"worked {times}"


def test_hip_is_loaded_after_we_came_and_again(build, start, attach):
    target = start("late")
    attachment = attach(target).has_come()
    attachment.tells("no HIP library is loaded yet")
    for runtime, times in (("v6", 5), ("v6", 6), ("v7", 7)):
        loads(target, build, runtime)
        calls(target, times)
        assert target.ask("unload") == "closed 0"
        assert target.ask("spot") == "taken 1"
    loads(target, build, "hard")
    calls(target, 8)
    database = attachment.leave()
    assert recorded(database) == {"hipMalloc": 26, "hipFree": 26}
    assert attaching.differing_text(target)[0] == 0 and target.tracers() == {0}
    calls(target, 3)
    assert target.ask("unload") == "closed 0"
    assert target.end() == ("", 7)


def test_two_copies_and_one_that_goes_between_two_visits(build, start, attach):
    target = start("late")
    loads(target, build, "v6")
    first = attach(target).has_come()
    calls(target, 4)
    loads(target, build, "v5")
    calls(target, 5)
    assert recorded(first.leave()) == {"hipMalloc": 9, "hipFree": 9}
    assert target.ask("unload") == "closed 0"
    loads(target, build, "v7")
    calls(target, 2)
    second = attach(target).has_come()
    calls(target, 6)
    assert recorded(second.leave()) == {"hipMalloc": 6, "hipFree": 6}
    assert attaching.differing_text(target)[0] == 0
    assert target.end() == ("", 7)


def test_hip_is_never_loaded(start, attach):
    target = start("late")
    before = Look(target)
    database = attach(target).has_come().leave()
    assert recorded(database) == {}
    is_untouched(target, before)
    assert target.end() == ("", 7)


def test_a_program_that_knows_nothing_of_hip(start, attach, tmp_path):
    target = attaching.Target(["cat"], harness.Build(tmp_path).environment("none"), tmp_path / "cat")
    try:
        assert target.ask("hello") == "hello"
        before = Look(target)
        attachment = attach(target).has_come()
        assert target.ask("again") == "again"
        attachment.leave()
        is_untouched(target, before)
        assert target.end() == ("", 0)
    finally:
        target.kill()
