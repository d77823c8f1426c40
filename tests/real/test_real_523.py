"""AMD's runtime 5.2.3 as Debian 12 ships it, programs built by Debian's hipcc, no GPU: what it answers, fade
records."""
import pytest

import real_runs as runs

SEQUENTIAL = ["tour", "launch", "module", "train"]
NO_DEVICE, INVALID_DEVICE, INVALID_VALUE = 100, 101, 1
NEEDS_A_DEVICE = {"hipMalloc", "hipMemcpy", "hipSetDevice", "hipDeviceSynchronize", "hipFree", "hipStreamCreate",
                  "hipGetDeviceProperties", "hipDeviceGetAttribute", "hipModuleLoadData"}


@pytest.fixture(scope="module")
def plain(hip523):
    """Every program once without fade."""
    return {program: runs.native(hip523, program) for program in [*SEQUENTIAL, "threads"]}


@pytest.mark.parametrize("program", [*SEQUENTIAL, "threads"])
def test_program_reaches_its_end(plain, program):
    assert plain[program].code == 0, plain[program].stderr
    assert sum(plain[program].counts().values()) >= 10


@pytest.mark.parametrize("program", SEQUENTIAL)
def test_runtime_says_that_there_is_no_device(plain, program):
    for name, result in plain[program].calls():
        if name in NEEDS_A_DEVICE:
            assert result in (NO_DEVICE, INVALID_DEVICE), name
        elif name == "hipGetDeviceCount":
            assert result in (NO_DEVICE, INVALID_VALUE)


def test_kernels_are_compiled_at_run_time_even_without_a_device(plain):
    assert ("hiprtcGetCode", 0) in plain["module"].calls()
    assert "code yes" in plain["module"].facts()


@pytest.mark.parametrize("program", SEQUENTIAL)
def test_calls_are_recorded_in_order_with_their_results(hip523, supervised, plain, engine, program):
    watched = supervised(hip523, program, *engine)
    runs.assert_same_behaviour(plain[program], watched)
    runs.assert_recorded(watched)
    runs.assert_counted(watched)
    runs.assert_closed(watched)


def test_threads_lose_no_call_and_make_none_twice(hip523, supervised, plain, engine):
    watched = supervised(hip523, "threads", *engine)
    runs.assert_same_behaviour(plain["threads"], watched)
    runs.assert_counted(watched)
    runs.assert_closed(watched)


def test_frequent_calls_are_recorded_when_asked_for(hip523, supervised, plain, engine):
    watched = supervised(hip523, "launch", *engine, "-e", ",".join(["all", *runs.HOT]))
    runs.assert_same_behaviour(plain["launch"], watched)
    runs.assert_recorded(watched, hidden=())
    runs.assert_counted(watched, hidden=())


def test_failed_calls_are_in_the_errors(hip523, supervised, engine):
    watched = supervised(hip523, "tour", *engine)
    failed = [(name, result) for name, result in watched.calls() if result and name not in runs.HOT]
    found = runs.rows(watched.database, "SELECT name, code, sum(repeats) FROM errors GROUP BY name, code")
    assert sum(n for _, _, n in found) == len(failed)
    assert {(name, code) for name, code, _ in found} == set(failed)


def test_runtime_is_known_by_its_version(hip523, supervised):
    watched = supervised(hip523, "tour")
    modules = runs.rows(watched.database, "SELECT soname FROM modules WHERE path LIKE '%libamdhip64%' AND sites > 0")
    assert modules == [("libamdhip64.so.5",)]
