"""Who called whom: stacks of calls whose chains are known, which calls have one, and that nothing else changes."""
import bisect
import collections
import subprocess
import textwrap

import pytest

import harness
from programs import fade  # noqa: F401 (fixture)

NATIVE, PYTHON, GAP, LIBUNWIND = 0, 1, 2, 3
PYTHON3 = "/usr/bin/python3"


class Symbols:
    """Functions of one ELF file by address."""

    def __init__(self, path):
        lines = [line.split() for line in subprocess.run(["nm", path], check=True,
                                                         capture_output=True, text=True).stdout.splitlines()]
        functions = sorted((int(line[0], 16), line[2]) for line in lines if len(line) == 3 and line[1] in "tTwW")
        self.addresses, self.names = [a for a, _ in functions], [n for _, n in functions]

    def at(self, address):
        index = bisect.bisect_right(self.addresses, address) - 1
        return self.names[index] if index >= 0 else None


class Stacks:
    """Each call's stack as names, innermost first; native frames of other files than `program` as their file names."""

    def __init__(self, path, program):
        self.database = harness.Database(path)
        symbols = Symbols(program)
        modules = dict(self.database.rows("SELECT id, path FROM modules"))
        self.frames = {}
        for number, kind, module, offset, function, line in self.database.rows(
            "SELECT id, kind, module, offset, name, line FROM frame_"):
            if kind not in (NATIVE, LIBUNWIND):
                self.frames[number] = f"{function}:{line}" if kind == PYTHON else f"({function})"
            elif modules.get(module) == str(program):
                self.frames[number] = symbols.at(offset)
            else:
                self.frames[number] = modules.get(module, "?").rsplit("/", 1)[-1].split(".so")[0]
        self.tree = {stack: (parent, frame)
                     for stack, parent, frame in self.database.rows("SELECT id, parent, frame FROM stack_")}

    def names(self, stack):
        names = []
        while stack:
            stack, frame = self.tree[stack]
            names.append(self.frames[frame])
        return names

    def of_calls(self, where="true"):
        """(function, names or None) of each call in order."""
        return [(name, self.names(stack) if stack else None) for name, stack in self.database.rows(
            f"SELECT c.name, s.stack FROM calls c LEFT JOIN call_stack_ s ON s.call = c.id WHERE {where} ORDER BY "
            f"c.id")]


def supervised(build, tmp_path, *options, line="chain", name="run.db"):
    ran = harness.run_supervised(build, line, "v6", tmp_path, options=(*options, "-e", harness.EVERYTHING))
    assert ran.status == 0, ran.stderr
    return ran, Stacks(tmp_path / "run.db", build.tracees / line.split()[0])


def test_every_stack_is_the_chain_that_called(build, tmp_path):
    ran, stacks = supervised(build, tmp_path, "-k", "all", "--stack-depth", "1000")
    calls = stacks.of_calls("c.parent_id IS NULL")
    assert calls and all(names for _, names in calls)
    assert harness.differences(ran.total, harness.summed(stacks.database.counts("calls"))) == []
    start = ["libc", "libc", "_start"]
    by_function = collections.defaultdict(list)
    for name, names in calls:
        by_function[name].append(names)
    chains = [["inner", "middle", "outer", "main", *start],           # main thread
              ["inner", "on_signal", "libc", "libc", "libc", "main", *start],  # restorer, raise
              ["inner", "middle", "outer", "in_thread", "libc", "libc"],
              None,                                                    # out of qsort
              ["inner", "middle", "main", *start]]                     # child
    for function in ("hipFree", "hipMalloc"):
        found = by_function[function]
        found = found[::2] if function == "hipMalloc" else found  # each second one fails
        assert len(found) == len(chains)
        for names, chain in zip(found, chains):
            if chain is None:
                assert names[:4] == ["inner", "middle", "outer", "compare"] and names[-4:] == ["main", *start]
                assert set(names[4:-4]) == {"libc"}
            elif "on_signal" in chain:
                assert names[:2] == chain[:2] and names[-4:] == chain[-4:] and set(names[2:-4]) == {"libc"}
            else:
                assert names == chain
    assert by_function["hipDeviceSynchronize"] == [["deep"] * 201 + ["main", *start]]


def test_stacks_of_fibers_end_where_makecontext_let_them_begin(build, tmp_path):
    _, stacks = supervised(build, tmp_path, "-k", "all", line="fibers")
    of_fibers = [names for _, names in stacks.of_calls() if names and names[-1] != "_start"]
    assert of_fibers
    for names in of_fibers:
        assert names[-2:] == ["body", "libc"] and not [name for name in names if name.startswith("(")], names


def test_libunwind_leads_out_of_generated_code(build, tmp_path):
    """It knows no unwind information either, but follows frame pointers. Its frames say so; without a frame pointer the
    stack ends."""
    _, stacks = supervised(build, tmp_path, "-k", "all", line="generated")
    generated = "0x"  # shown by its address, as no file has it
    chain = ["allocates", generated, generated, generated, "runs", "main", "libc", "libc", "_start"]
    by_function = {name: names for name, names in stacks.of_calls()}
    assert [generated if name == "?" else name for name in by_function["hipMalloc"]] == chain
    assert by_function["hipDeviceSynchronize"] == ["synchronizes", "?", "(no unwind information in generated code)"]
    kinds = ("SELECT group_concat(kind, ' ') FROM (SELECT f.kind FROM calls c JOIN stack_frames f ON f.stack = c.stack "
             "WHERE c.name = '{}' ORDER BY f.depth)")
    assert stacks.database.value(
        kinds.format("hipMalloc")) == "native native libunwind libunwind libunwind native native native native"
    assert stacks.database.value(kinds.format("hipDeviceSynchronize")) == "native native gap"


def test_the_same_place_is_not_the_same_stack(build, tmp_path):
    """A stack that is remembered may not be taken for another one that begins in the same way."""
    line = f"same_place 60 {build.tracees / 'libsame_left.so'} {build.tracees / 'libsame_right.so'}"
    ran, stacks = supervised(build, tmp_path, "-k", "all", line=line)
    chains = [chain.split() for chain in ran.stdout.decode().splitlines()]
    assert len({tuple(chain) for chain in chains}) == 10 and len(chains) == 60 * 7
    for function in ("hipMalloc", "hipFree"):
        found = [names for _, names in stacks.of_calls(f"c.name = '{function}'")]
        assert [names[:len(chain)] for names, chain in zip(found, chains)] == chains
        assert len(found) == len(chains)


def test_stacks_are_cut_where_they_are_too_deep(build, tmp_path):
    _, stacks = supervised(build, tmp_path, "-k", "all", "--stack-depth", "5")
    [(_, names)] = stacks.of_calls("c.name = 'hipDeviceSynchronize'")
    assert names == ["deep"] * 5 + ["(deeper than 5 frames)"]
    assert max(len(names) for _, names in stacks.of_calls() if names) == 6


def test_usually_allocations_errors_and_first_calls_have_one(build, tmp_path):
    _, stacks = supervised(build, tmp_path, line="errors")
    calls = stacks.database.rows(
        "SELECT c.name, c.failed, s.stack IS NOT NULL FROM calls c LEFT JOIN call_stack_ s ON s.call = c.id")
    assert all(has for _, failed, has in calls if failed)
    _, stacks = supervised(build, tmp_path / "loop", line="loop 40")
    has = collections.Counter((name, names is not None) for name, names in stacks.of_calls())
    assert has["hipMalloc", True] == 40
    for function in ("hipFree", "hipMemcpy"):
        assert has[function, True] == 1 and has[function, False] == 39


@pytest.mark.parametrize("choice, expected", [
    (["-k", "off"], {}), (["-k", "errors"], {"hipMalloc": 5}), (["-k", "alloc"], {"hipMalloc": 10}),
    (["--no-native-stacks", "--no-python-stacks"], {}), (["--no-native-stacks", "-k", "all"], {})])
def test_the_choice_is_the_users(build, tmp_path, choice, expected):
    ran, stacks = supervised(build, tmp_path, *choice)
    calls = stacks.of_calls("c.parent_id IS NULL")
    assert collections.Counter(name for name, names in calls if names) == expected
    assert harness.differences(ran.total, harness.summed(stacks.database.counts("calls"))) == []


def test_errors_are_taken_at_the_return_with_the_same_frames(build, tmp_path):
    _, stacks = supervised(build, tmp_path, "-k", "errors")
    names = [names for _, names in stacks.of_calls() if names]
    assert names[0] == ["inner", "middle", "outer", "main", "libc", "libc", "_start"]
    assert names[2] == ["inner", "middle", "outer", "in_thread", "libc", "libc"]


def test_samples(build, tmp_path):
    _, stacks = supervised(build, tmp_path, "-k", "sample=7", line="loop 40")
    calls = stacks.of_calls()
    assert [i for i, (_, names) in enumerate(calls) if names] == list(range(6, len(calls), 7))


def test_what_stacks_cost_is_in_the_recording(build, tmp_path):
    _, stacks = supervised(build, tmp_path, "-k", "all", line="loop 40")
    taken, time = (stacks.database.value(f"SELECT value FROM lifecycle_ WHERE kind = '{kind}' ORDER BY id DESC LIMIT 1")
                   for kind in ("stacks taken", "stacks time"))
    assert taken >= stacks.database.value("SELECT count(*) FROM calls") and time > 0  # and one where the thread ends


@pytest.mark.parametrize("words", [["-k", "alocs"], ["--stacks=sample=0"], ["-k", "off,alloc"],
                                   ["--stack-depth", "0"], ["--stack-depth=5000"]])
def test_bad_choices_are_refused_before_anything_runs(fade, tmp_path, words):
    done = fade("fade-run", *words, "--", "touch", tmp_path / "ran")
    assert done.returncode == 2 and "stack" in done.stderr
    assert not (tmp_path / "ran").exists()


SCRIPT = textwrap.dedent("""\
    import ctypes
    hip = ctypes.CDLL("libamdhip64.so")
    def allocate(size):
        at = ctypes.c_void_p()
        return hip.hipMalloc(ctypes.byref(at), ctypes.c_size_t(size))
    class Model:
        def load(self):
            return [allocate(64) for _ in range(2)]
    def key(value):
        return allocate(value)
    Model().load()
    sorted([8, 9], key=key)
    """)


def test_python_frames_stand_where_the_interpreter_ran_them(build, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [build.fade_run, "-q", "-k", "all", "-o", tmp_path / "run.db", "--", PYTHON3, tmp_path / "train.py"]
    ran = harness.run(command, build.environment("v6"), tmp_path / "supervised")
    assert ran.status == 0, ran.stderr
    stacks = Stacks(tmp_path / "run.db", build.tracees / "chain")
    calls = [[name for name in names if ":" in name] for _, names in stacks.of_calls("c.name = 'hipMalloc'")]
    assert len(calls) == 4
    comprehension = ["Model.load.<locals>.<listcomp>:8"] if any("<listcomp>" in name for name in calls[0]) else []
    assert calls[0] == calls[1] == ["allocate:5", *comprehension, "Model.load:8", "<module>:11"]
    assert calls[2] == calls[3] == ["allocate:5", "key:10", "<module>:12"]
    [first, *_, last] = [names for _, names in stacks.of_calls("c.name = 'hipMalloc'")]
    assert first.index("allocate:5") > 0, "the frames of ctypes come first"
    assert last[last.index("key:10") + 1:last.index(
        "<module>:12")], "sorted() is native and stands between its caller and the key"
    assert not any(name.startswith("(") for names in (first, last) for name in names), (first, last)


THROWN = textwrap.dedent("""\
    import ctypes
    hip = ctypes.CDLL("libamdhip64.so")
    def inner():
        try:
            yield
        finally:
            hip.hipFree(None)
    def outer():
        yield from inner()
    async def task():
        waiting.throw(KeyError)
    waiting = outer()
    next(waiting)
    try:
        task().send(None)
    except KeyError:
        pass
    """)


def test_an_exception_thrown_through_generators(build, tmp_path):
    """The outer one's frame is there, but no run of the interpreter's loop."""
    (tmp_path / "train.py").write_text(THROWN)
    command = [build.fade_run, "-q", "-k", "all", "-o", tmp_path / "run.db", "--", PYTHON3, tmp_path / "train.py"]
    ran = harness.run(command, build.environment("v6"), tmp_path / "supervised")
    assert ran.status == 0, ran.stderr
    [(_, names)] = Stacks(tmp_path / "run.db", build.tracees / "chain").of_calls("c.name = 'hipFree'")
    assert [name for name in names if ":" in name] == ["inner:7", "outer:9", "task:11", "<module>:15"]
    assert not [name for name in names if name.startswith("(")], names


def test_only_python_frames_on_request(build, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [build.fade_run, "-q", "-k", "all", "--no-native-stacks", "-o", tmp_path / "run.db",
               "--", PYTHON3, tmp_path / "train.py"]
    assert harness.run(command, build.environment("v6"), tmp_path / "supervised").status == 0
    stacks = Stacks(tmp_path / "run.db", build.tracees / "chain")
    assert stacks.of_calls("c.name = 'hipMalloc'")[3][1] == ["allocate:5", "key:10", "<module>:12"]
