"""fade-attach on programs in odd states: they are as they were, and go on as if nothing had been."""
import os
import pathlib
import signal
import time

import pytest

import attaching
from attaching import Look, attach, differing_text, is_untouched, recorded, start, until  # noqa: F401 (fixtures)
from cases import SHAPES


def come_and_go(attach, target, times=1):
    for _ in range(times):
        attach(target).has_come().leave()


# ---------------------------------------------------------------- asleep in system calls
def test_no_system_call_is_seen_to_end(start, attach):
    target = start("blocked")
    target.falls_asleep()
    before = Look(target)
    for _ in range(5):
        attachment = attach(target).has_come()
        target.falls_asleep()
        attachment.leave()
        target.falls_asleep()
        is_untouched(target, before)
    last, status = target.end()
    assert last.splitlines()[-1].endswith(" returned early") and last.startswith("0 of "), last
    assert status == 0 and target.errors.read_text() == ""


@pytest.mark.parametrize("threads", ["", " threads"])
def test_in_a_handler_on_a_stack_with_no_room(start, attach, threads):
    target = start("tiny_stack" + threads)
    target.falls_asleep()
    before = Look(target)
    attachment = attach(target).has_come()
    assert target.ask("") == "called"
    assert recorded(attachment.leave())["hipDeviceSynchronize"] == 10
    come_and_go(attach, target, 3)
    is_untouched(target, before)
    last, status = target.end()
    assert last.endswith("0 bytes below the stack have changed\n") and status == 7


# ---------------------------------------------------------------- stopped
def is_stopped(target):
    return target.states() == {"T"}


def stop(target):
    os.kill(target.pid, signal.SIGSTOP)
    until(lambda: stands_still(target), "a stop")


def stands_still(target):
    """No thread calls: while it is watched, one that goes on is seen stopped now and then, too."""
    looks = []
    for _ in range(20):
        looks.append((target.states() <= set("Tt"), target.counts()))
        time.sleep(0.002)
    return all(look == (True, looks[0][1]) for look in looks)


def goes_on(target):
    os.kill(target.pid, signal.SIGCONT)
    ran = set()

    def all_ran():  # not all at one moment: those that call while they are watched stand still most of the time
        threads = target.threads()
        ran.update(tid for tid, status in threads.items() if status["State"][0] not in "Tt")
        return ran >= set(threads)
    until(all_ran, "SIGCONT")
    target.calls_on()


def ends_well(target):
    rounds = int(target.ask("quiet").split()[1])
    assert target.counts()["hipMalloc"] == rounds == target.counts()["hipFree"]
    assert target.end() == ("", 7)


@pytest.fixture
def calling(start):
    target = start("steady 4")
    target.ask("rounds")
    assert target.ask("go") == "going"
    return target


def test_stopped_before_and_all_the_time(calling, attach):
    stop(calling)
    before = Look(calling)
    for _ in range(3):
        attachment = attach(calling).has_come()
        assert stands_still(calling)
        attachment.leave()
        until(lambda: is_stopped(calling), "the stop that was")
        assert stands_still(calling) and differing_text(calling)[0] == 0
        before.is_still_true_of(calling)
    goes_on(calling)
    ends_well(calling)


def test_stopped_before_and_continued_while_attached(calling, attach):
    stop(calling)
    attachment = attach(calling).has_come()
    counts = calling.counts()
    goes_on(calling)
    calling.ask("quiet")
    found, made = recorded(attachment.leave()), calling.counts() - counts
    assert all(made[name] - 4 <= found[name] <= made[name] for name in made)  # calls that it was stopped in
    ends_well(calling)


def test_stopped_and_continued_while_attached(calling, attach):
    attachment = attach(calling).has_come()
    for _ in range(5):
        calling.calls_on()
        stop(calling)
        assert stands_still(calling)
        goes_on(calling)
    attachment.leave()
    calling.ask("quiet")
    assert calling.tracers() == {0} and differing_text(calling)[0] == 0
    ends_well(calling)


def test_stopped_while_attached_and_left_so(calling, attach):
    attachment = attach(calling).has_come()
    calling.calls_on()
    stop(calling)
    attachment.leave()
    until(lambda: is_stopped(calling), "the stop that was")
    assert calling.tracers() == {0} and differing_text(calling)[0] == 0
    goes_on(calling)
    ends_well(calling)


# ---------------------------------------------------------------- SIGTRAP
@pytest.mark.parametrize("how, answers", [("handler", ["traps 1", "traps 2", "traps 3"]), ("ignored", ["traps 0"] * 3)])
def test_sigtrap_of_its_own(start, attach, how, answers):
    target = start(f"steady 2 {how}")
    assert target.ask("trap") == answers[0]
    before = Look(target)
    attachment = attach(target).has_come()
    target.ask("rounds")
    assert target.ask("trap") == answers[1]
    attachment.leave()
    is_untouched(target, before)
    assert target.ask("trap") == answers[2]
    assert target.end() == ("", 7)


def test_sigtrap_by_default(start, attach):
    target = start("steady 2")
    attachment = attach(target).has_come()
    target.tell("trap")
    attachment.ends(0)
    assert target.process.wait(attaching.PATIENCE) == -signal.SIGTRAP


@pytest.mark.parametrize("when_it_returns", ["attached", "detached", "killed"])
@pytest.mark.parametrize("how", ["spins", "sleeps", "calls"])
def test_inside_its_own_sigtrap_handler(start, attach, how, when_it_returns):
    """There SIGTRAP is blocked, and not where the handler returns to."""
    target = start(f"sigtrap_inside {how}")
    assert target.ask("in") == "handled 1"
    attachment = attach(target).has_come()
    if when_it_returns == "detached":
        attachment.leave()
    if when_it_returns == "killed":
        attachment.process.kill()
        attachment.process.wait(attaching.PATIENCE)
    assert [target.ask("out"), target.ask("traps"), target.ask("traps")] == ["handled 1", "handled 3", "handled 5"]
    if when_it_returns == "attached":
        attachment.leave()
        assert target.ask("traps") == "handled 7"
    assert target.end() == ("", 7)


def test_a_block_that_libc_knows_nothing_of(start, attach):
    """The kernel takes the program's handler away there, and does not get far with it: fade may die at once."""
    target = start("sigtrap_inside spins")
    attachment = attach(target).has_come()
    assert target.ask("raw") == "handled 0"
    attachment.process.kill()
    attachment.process.wait(attaching.PATIENCE)
    assert [target.ask("traps"), target.ask("traps")] == ["handled 2", "handled 4"]
    assert target.end() == ("", 7)


# ---------------------------------------------------------------- vfork
def test_in_vfork_nothing_can_be_done(start, attach):
    target = start("vfork_waits")
    until(lambda: target.states() == {"D"}, "vfork")
    attachment = attach(target)
    attachment.ends(1)
    assert "nothing interrupts" in attachment.says()
    assert target.end() == ("the child ended with 4\n", 7)


@pytest.mark.parametrize("runtime", SHAPES.split())
def test_in_vfork_while_another_thread_calls(start, attach, runtime):
    target = start("vfork_waits threads", runtime)
    until(lambda: "D" in target.states(), "vfork")
    attachment = attach(target).has_come()
    target.calls_on()
    recorded(attachment.leave())
    assert differing_text(target)[0] == 0
    again = attach(target).has_come()
    assert target.end() == ("the child ended with 4\n", 7)
    again.ends(0)


def test_a_child_in_its_parents_memory_is_not_come_to_alone(start, attach):
    target = start("vfork_waits threads")
    until(lambda: "D" in target.states(), "vfork")
    (child,) = [int(pid) for task in pathlib.Path(f"/proc/{target.pid}/task").iterdir()
                for pid in (task / "children").read_text().split()]
    alone = attach(child)
    alone.ends(1)
    assert f"it runs in the memory of its parent, process {target.pid}" in alone.says() and "fix:" in alone.says()
    assert differing_text(target)[0] == 0
    for both in [target, "--tree"], [child, target]:
        attachment = attach(*both).has_come()
        target.calls_on()
        recorded(attachment.leave())
        assert differing_text(target)[0] == 0
    assert target.end() == ("the child ended with 4\n", 7)


# ---------------------------------------------------------------- births
def come(attach, target, *options):
    """On a busy machine no thread may stop in time. Then fade refuses and says to try again later; the program goes
    on."""
    for _ in range(5):
        attachment = attach(target, *options)
        attaching.until(lambda: "fade: held " in attachment.says() or attachment.process.poll() is not None,
                        "fade-attach")
        if attachment.process.poll() is None:
            break
        assert "no CPU for it" in attachment.says(), attachment.says()
        target.calls_on(20)
    return attachment.has_come()


@pytest.mark.parametrize("runtime", SHAPES.split())
@pytest.mark.parametrize("what", ["threads", "children", "programs"])
def test_while_others_are_made(start, attach, what, runtime):
    target = start(f"born {what}", runtime)
    for _ in range(3):  # each birth is watched, too: seconds of processor time a round
        target.calls_on(20)
        attachment = come(attach, target)
        target.calls_on(20)
        recorded(attachment.leave())
        assert not target.tracers() - {0}
    last = come(attach, target, "--tree")
    assert target.end() == ("done\n", 0)
    last.ends(0)
    assert target.errors.read_text() == ""


def test_programs_that_end_while_we_come(build, attach, tmp_path):
    """Whatever moment of their short lives it is: they end as they would, and we say something sensible."""
    for i in range(25):
        target = attaching.Target(build.command("loop 30"), build.environment("v6"), tmp_path / str(i))
        try:
            attachment = attach(target)
            attachment.process.wait(attaching.PATIENCE)
            assert attachment.process.returncode in (0, 4), attachment.says()
            assert target.end() == ("done\n", 0)
            assert target.counts() == {"hipMalloc": 30, "hipMemcpy": 30, "hipMemset": 30,
                                       "hipGetDevice": 30, "hipDeviceSynchronize": 30, "hipFree": 30}
        finally:
            target.kill()


# ---------------------------------------------------------------- seccomp
MPROTECT, MMAP, MUNMAP, SIGACTION, SIGRETURN, RESTART, MOUNT = 10, 9, 11, 13, 15, 219, 165


@pytest.mark.parametrize("forbidden", [MMAP, MPROTECT, MUNMAP, SIGACTION, SIGRETURN],
                         ids=["mmap", "mprotect", "munmap", "rt_sigaction", "rt_sigreturn"])
def test_a_filter_that_would_kill(start, attach, forbidden):
    target = start(f"filtered {forbidden} {RESTART}")
    target.falls_asleep()
    before = Look(target)
    attachment = attach(target)
    attachment.ends(5)
    assert "its seccomp filter forbids" in attachment.says()
    assert not attachment.database.exists()
    target.falls_asleep()
    is_untouched(target, before)
    assert target.ask("") == "called"
    assert target.end() == ("", 7)


@pytest.mark.parametrize("forbidden", [MOUNT, RESTART], ids=["mount", "restart_syscall"])
def test_a_filter_that_lets_us_pass(start, attach, forbidden):
    target = start(f"filtered {forbidden}")
    target.falls_asleep()
    before = Look(target)
    for _ in range(3):
        attachment = attach(target).has_come()
        assert target.ask("") == "called"
        assert recorded(attachment.leave()) == {"hipDeviceSynchronize": 10}
    target.falls_asleep()
    is_untouched(target, before)
    assert target.end() == ("", 7)


def test_a_filter_of_a_thread_that_nothing_interrupts(start, attach):
    target = start(f"vfork_waits threads {MPROTECT}")
    until(lambda: "D" in target.states(), "vfork")
    attachment = attach(target)
    attachment.ends(1)
    assert "fade cannot see what the filter forbids" in attachment.says() and "try again later" in attachment.says()
    assert differing_text(target)[0] == 0
    assert target.end() == ("the child ended with 4\n", 7)


def test_strict_mode(start, attach):
    target = start("filtered strict")
    until(lambda: target.threads()[target.pid]["Seccomp"].strip() == "1", "strict mode")
    before = Look(target)
    attachment = attach(target)
    attachment.ends(5)
    assert "strict mode" in attachment.says()
    target.falls_asleep()
    is_untouched(target, before)
    assert target.end() == ("", 7)
