"""How entries of functions are changed: by a jump behind their first instruction where nothing of the library can have
run, by an int3 elsewhere; and that signals which meet threads there make no call count twice, or not at all."""
import sys

import pytest

import harness

INT3, JUMP = "cc", "e9"
ENDBR64, PUSH = "f30f1efa", "55"

# Tells the first five bytes of a function, then calls under a storm of signals whose handler calls, too.
PROGRAM = """
import ctypes, signal, sys, threading, time
library, shape, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
enough = threading.Event()
if shape == "threads":
    threading.Thread(target=lambda: enough.wait(60)).start()
hip = ctypes.CDLL(library)
print(ctypes.string_at(ctypes.cast(hip.hipMalloc, ctypes.c_void_p).value, 5).hex(), flush=True)
seen = 0
def called(*_):
    global seen
    seen += 1
    assert hip.hipFree(None) == 0
signal.signal(signal.SIGALRM, called)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
pointer = ctypes.c_void_p()
for i in range(rounds):
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(4096)) == 0 and pointer.value
    assert hip.hipFree(pointer) == 0
signal.setitimer(signal.ITIMER_REAL, 0)
enough.set()
print("done", seen > 0)
"""


def supervised(build, folder, runtime, shape, rounds):
    program = folder / "program.py"
    program.write_text(PROGRAM)
    library = next((build.runtimes / runtime).glob("libamdhip64.so.*"))
    command = [build.fade_run, "-q", "-o", folder / "run.db", "--", sys.executable,
               program, library, shape, str(rounds)]
    ran = harness.run(command, build.environment(runtime), folder / "supervised")
    assert ran.status == 0, ran.stderr
    return ran, ran.stdout.decode().split("\n")


@pytest.mark.parametrize("shape", ["alone", "threads"])
@pytest.mark.parametrize("runtime, begins", [("v5", PUSH + JUMP), ("v6", ENDBR64 + JUMP), ("plt", INT3)])
def test_jump_where_nothing_can_have_run_and_every_call_counts(build, tmp_path, runtime, begins, shape):
    ran, said = supervised(build, tmp_path, runtime, shape, 3000)
    assert said[0].startswith(begins) and said[1] == "done True"
    recorded = harness.summed(harness.Database(tmp_path / "run.db").counts("call_stats"))
    assert recorded == ran.total and recorded["hipMalloc"] == 3000


def test_data_where_a_return_address_should_be_is_left_alone(build, tmp_path):
    (tmp_path / "odd.probes").write_text('library "odd_return"\nvoid odd()\n')
    alone = harness.run_alone(build, "odd_return", "v6", tmp_path)
    supervised = harness.run_supervised(build, "odd_return", "v6", tmp_path,
                                        options=("--probes", tmp_path / "odd.probes"))
    assert alone.stdout == supervised.stdout == b"90 90\n" and supervised.status == 0
    database = harness.Database(tmp_path / "run.db")
    assert database.value("SELECT sum(calls) FROM call_stats WHERE name = 'odd'") == 6
    refusals = [detail for (detail,) in database.rows("SELECT detail FROM lifecycle WHERE kind = 'refused'")]
    assert len(refusals) == 2 and all(detail.endswith(" is no code") for detail in refusals)


TAIL_CALLS = """library "tail_calls"
int tail_first(int x) @success(0)
int tail_second(int x) @success(0)
int tail_third(int x) @success(0)
int tail_ping(int x) @success(0)
int tail_pong(int x) @success(0)
int tail_self(int x) @success(0)
int tail_deep(int x) @success(0)
"""


def test_a_function_that_jumps_into_another_is_its_caller_and_ends_with_it(build, tmp_path):
    """As cuStreamDestroy of ZLUDA, which jumps into cuStreamDestroy_v2."""
    (tmp_path / "tail.probes").write_text(TAIL_CALLS)
    loops = 1000
    ran = harness.run_supervised(build, f"tail_calls {loops}", "v6", tmp_path,
                                 options=("--detail", "full", "--probes", tmp_path / "tail.probes"))
    assert ran.stdout == b"jumped\n", ran.stderr
    database = harness.Database(tmp_path / "run.db")
    calls = database.rows(
        "SELECT c.name, p.name, c.result, c.state = 'unwound' FROM calls c LEFT JOIN calls p ON p.id = c.parent_id "
        "WHERE c.name LIKE 'tail%' ORDER BY c.id")

    def of(name):
        return [(parent, result, is_unwound) for called, parent, result, is_unwound in calls if called == name]

    assert of("tail_first") == [(None, i + 3, 0) for i in range(10)]
    assert of("tail_second") == [("tail_first", i + 3, 0) for i in range(10)]
    assert of("tail_third") == [("tail_second", i + 3, 0) for i in range(10)] + [(None, 2, 0), ("tail_deep", 2, 0)]
    assert of("tail_deep") == [(None, 7, 0)] + [("tail_deep", 6 - i, 0) for i in range(4)] + [("tail_deep", 2, 0)]
    # A loop of jumps: one made again ends those before it, the last ones end with the return.
    ping, pong = of("tail_ping"), of("tail_pong")
    assert len(ping) == loops // 2 + 1 and len(pong) == loops // 2
    assert {parent for parent, _, _ in ping} == {None} and {parent for parent, _, _ in pong} == {"tail_ping"}
    assert [result for _, result, is_unwound in ping + pong if not is_unwound] == [7]
    itself = of("tail_self")
    assert len(itself) == loops + 1 and {parent for parent, _, _ in itself} == {None}
    assert [result for _, result, is_unwound in itself if not is_unwound] == [9]
