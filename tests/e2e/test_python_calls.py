"""Python frames in recorded stacks of HIP calls, between the native ones, against what the program says of itself at
each call."""
import collections
import json
import pathlib

import harness

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "stacks"
PYTHON = "/usr/bin/python3"
KINDS = ("native", "Python", "missing")
FRAMES = "SELECT f.id, f.kind, f.name, f.file, f.line, m.path FROM frame_ f LEFT JOIN modules m ON m.id = f.module"


def record(build, folder, *options, program="python_program.py"):
    """What the program said, by thread, and the recorded stacks of its calls, by thread, in order: each a list of
    (kind, function, file, line, library), innermost first."""
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", PYTHON,
               PROGRAMS / program, folder / "said", "libamdhip64.so.6"]
    ran = harness.run(command, {**build.environment("v6"), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
                      folder / "supervised")
    assert ran.status == 0, ran.stderr
    database = harness.Database(folder / "run.db")
    said, seen = collections.defaultdict(list), collections.defaultdict(list)
    for line in (folder / "said").read_text().splitlines():
        what, tid, stack = json.loads(line)
        said[tid].append((what, stack))
    frames = {number: (KINDS[kind], *rest) for number, kind, *rest in database.rows(FRAMES)}
    tree = {stack: (parent, frame) for stack, parent, frame in database.rows("SELECT id, parent, frame FROM stack_")}

    def up(stack):
        while stack:
            stack, frame = tree[stack]
            yield frames[frame]

    for tid, stack in database.rows(
        "SELECT tid, stack FROM calls WHERE name = 'hipFree' AND parent_id IS NULL ORDER BY id"):
        seen[tid].append(list(up(stack)))
    assert {tid: len(stacks) for tid, stacks in seen.items()} == {tid: len(stacks) for tid, stacks in said.items()}
    return said, seen


def python_frames(rows):
    return [[function, file, line or 0] for kind, function, file, line, _ in rows if kind == "Python"]


def test_every_call_has_the_frames_that_the_program_says(build, tmp_path):
    said, seen = record(build, tmp_path, "-k", "all", "--stack-depth", "1000")
    for tid, stacks in said.items():
        for (what, stack), rows in zip(stacks, seen[tid]):
            assert python_frames(rows) == stack, what
            if what == "passing":
                continue
            assert rows[0][0] == "native" and "ctypes" in str([row[4] for row in rows if row[0] == "native"]), what
            assert not [row for row in rows if row[0] == "missing"], what


def test_stacks_that_are_almost_the_same_are_told_apart(build, tmp_path):
    said, seen = record(build, tmp_path, "-k", "all", "--stack-depth", "1000", program="repeating_program.py")
    assert sum(map(len, said.values())) > 1000
    for tid, stacks in said.items():
        for (what, stack), rows in zip(stacks, seen[tid]):
            assert python_frames(rows) == stack, what
            assert not [row for row in rows if row[0] == "missing"], what


def test_c_code_stands_between_the_python_code_around_it(build, tmp_path):
    said, seen = record(build, tmp_path, "-k", "all", "--stack-depth", "1000")
    callbacks = [rows for tid in said for (what, _), rows in zip(said[tid], seen[tid]) if what == "callback"]
    assert callbacks
    for rows in callbacks:
        kinds = [(kind, function) for kind, function, *_ in rows]
        compare = next(i for i, (_, function) in enumerate(kinds) if function == "nested_in_c.<locals>.compare"
                       or function == "compare")
        caller = next(i for i, (kind, function) in enumerate(kinds) if i > compare and kind == "Python")
        between = [row for row in rows[compare + 1:caller]]
        assert any("libc" in (row[4] or "") for row in between), "qsort"
        assert any("ffi" in (row[4] or "") for row in between)


def test_a_deep_recursion_keeps_its_innermost_frames(build, tmp_path):
    said, seen = record(build, tmp_path, "-k", "all", "--stack-depth", "40")
    [(tid, at)] = [(tid, i) for tid in said for i, (what, _) in enumerate(said[tid]) if what == "across chunks"]
    rows, stack = seen[tid][at], said[tid][at][1]
    frames = python_frames(rows)
    assert frames == stack[:len(frames)] and len(frames) > 25
    kinds = [row[0] for row in rows]
    first = kinds.index("Python")
    assert set(kinds[:first]) == {"native"} and kinds[-1] not in ("native", "Python")
