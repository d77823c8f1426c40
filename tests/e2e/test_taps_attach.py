"""fade-attach --engine taps: functions of a program that runs already are tapped, whatever it does meanwhile."""
import collections
import os
import random
import time

import pytest

import harness
from attaching import Look, attach, differing_text, is_untouched, recorded, start, until  # noqa: F401 (fixtures)

TAPS = ("--engine", "taps")
KILLS = int(os.environ.get("FADE_ATTACH_KILLS", "20"))
OFTEN = "hipMemset"


def stops(database, name):
    return database.value(f"SELECT coalesce(sum(stops), 0) FROM overhead WHERE name = '{name}'")


def tapped(database):
    return database.value("SELECT coalesce(sum(CAST(detail AS INTEGER)), 0) FROM lifecycle WHERE kind = 'tapped'")


def expect_between(least, got, most, threads):
    """Function by function. A call of each thread may be under way when fade comes."""
    for name in most:
        assert least[name] - threads <= got[name] <= most[name], (name, least[name], got[name], most[name])


@pytest.mark.parametrize("runtime", ["v5", "v6", "hard"])
@pytest.mark.parametrize("threads", [1, 8])
def test_all_calls_are_counted_with_few_stops(runtime, threads, start, attach):  # noqa: F811
    target = start(f"steady {threads}", runtime)
    target.falls_asleep()
    attachment = attach(target, *TAPS).has_come()
    for _ in range(5):
        assert target.ask("rounds").startswith("quiet ")
    calls = target.counts()[OFTEN]
    database = attachment.leave()
    assert recorded(database) == target.counts()
    if runtime != "hard":  # whose entries have no room for jumps
        assert tapped(database) > 5
        assert calls >= 1000 and stops(database, OFTEN) <= 4 * threads + 16
    assert differing_text(target)[0] == 0
    assert target.end()[1] == 7


@pytest.mark.parametrize("runtime, threads", [("v6", 1), ("v5", 4), ("hard", 4), ("v6", 64)])
def test_a_program_that_calls_meanwhile_is_tapped_and_left_as_it_was(runtime, threads, start, attach):  # noqa: F811
    target = start(f"steady {threads}", runtime)
    assert target.ask("go") == "going"
    target.calls_on(20 * threads)
    for _ in range(2):
        before = target.counts()
        attachment = attach(target, *TAPS).has_come()
        come = target.counts()
        target.calls_on(2000)
        last = target.counts()
        database = attachment.leave()
        after = target.counts()
        assert tapped(database) > 5 or runtime == "hard"
        expect_between(last - come, recorded(database), after - before, threads)
        assert differing_text(target)[0] == 0
        target.calls_on()
    assert target.ask("quiet").startswith("quiet ")
    assert target.tracers() == {0}
    assert target.end()[1] == 7


def test_the_program_lives_if_fade_is_killed_at_any_moment_of_it(start, attach):  # noqa: F811
    target = start("steady 4")
    assert target.ask("go") == "going"
    target.calls_on(200)
    chance, longest = random.Random(KILLS), 0.15
    for _ in range(KILLS):
        attachment = attach(target, *TAPS)
        time.sleep(chance.uniform(0.02, longest))
        attachment.process.kill()
        attachment.process.communicate()
        target.calls_on()
    before = target.counts()
    database = attach(target, *TAPS).has_come().leave()
    assert tapped(database) > 5
    expect_between(collections.Counter(), recorded(database), target.counts() - before, 4)
    assert differing_text(target)[0] == 0
    assert target.ask("quiet").startswith("quiet ")
    assert target.end()[1] == 7


def test_children_of_a_program_that_is_tapped_meanwhile(start, attach):  # noqa: F811
    """They are forked before, between and after the steps."""
    target = start("forks_on")
    for _ in range(6):
        attachment = attach(target, *TAPS).has_come()
        target.calls_on(200)
        database = attachment.leave()
        assert tapped(database) > 5
        assert database.value("SELECT coalesce(sum(n), 0) FROM drops") == 0
        target.calls_on()
    assert target.end() == ("0 wrong\n", 7)


def test_a_library_that_was_tapped_is_closed_and_opened_again(start, attach, build):  # noqa: F811
    library = build.runtimes / "v6" / "libamdhip64.so.6"
    target = start("late")
    assert target.ask(f"load {library}") == "loaded 1"
    assert target.ask("call 20") == "worked 20"
    attachment = attach(target, *TAPS).has_come()
    assert target.ask("call 20") == "worked 20"
    assert target.ask("unload") == "closed 0"
    assert target.ask(f"load {library}") == "loaded 1"
    assert target.ask("call 20") == "worked 20"
    database = attachment.leave()
    assert database.value("SELECT count(*) FROM calls WHERE name = 'hipFree'") == 40
    assert target.ask("call 5") == "worked 5"
    assert differing_text(target)[0] == 0
    assert target.end()[1] == 7


def test_nothing_of_it_stays_if_nothing_was_called(start, attach):  # noqa: F811
    target = start("steady 4")
    target.falls_asleep()
    before = Look(target)
    database = attach(target, *TAPS).has_come().leave()
    assert tapped(database) > 5
    is_untouched(target, before)


@pytest.mark.parametrize("runtime", ["v5", "v6", "hard"])
def test_signal_handlers_see_no_address_of_fade(runtime, start, attach):  # noqa: F811
    """The signals come before, while and after the functions are tapped."""
    signals = 20000
    target = start(f"where_signals_meet {signals} wait", runtime)
    target.tell("go")
    target.calls_on()
    before = target.counts()
    attachment = attach(target, *TAPS, "-e", harness.EVERYTHING).has_come()
    come = target.counts()
    assert target.hear() == f"received {signals}, 0 outside"
    database = attachment.leave()
    assert tapped(database) > 5 or runtime == "hard"
    expect_between(target.counts() - come, recorded(database), target.counts() - before, 1)
    assert target.end()[1] == 0
