"""Runs python_program.py with an interpreter under print_python_stacks and compares what both say."""
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "python_program.py"
DEPTH = 256  # frames of a stack that are read


def run(build_dir, command, said, environment, program=PROGRAM, timeout=300):
    """What the program said of its stacks (its own list), and what was seen from outside."""
    tool = pathlib.Path(build_dir) / "tests/stacks/print_python_stacks"
    assert tool.exists(), f"{tool} is missing: build it first"
    done = subprocess.run([tool, *command, program, said], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    lines = [json.loads(line) for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()], lines


def in_order(said, seen):
    """Threads write and stop in any order among each other: pairs by thread."""
    by_thread = {}
    for stop in seen:
        by_thread.setdefault(stop["tid"], []).append(stop)
    return [(what, stack, by_thread[thread].pop(0)) for what, thread, stack in said]


def compare(said, seen, version):
    assert len(seen) == len(said) > 300
    loops_compared = 0
    for what, stack, stop in in_order(said, seen):
        assert "error" not in stop, (what, stop)
        assert stop["version"].startswith(version), what
        frames = [[f["function"], f["file"], f["line"]] for f in stop["frames"] if f["code"]]
        cut = len(stop["frames"]) >= DEPTH
        assert frames == (stack[:len(frames)] if cut else stack), what
        assert stop["again"] == len(stop["frames"]), what
        if not cut and stop["loops"] >= 0:  # each run of the evaluation loop ends with a marked frame
            assert stop["loops"] == sum(f["entry"] for f in stop["frames"]), what
            loops_compared += 1
    assert loops_compared > 300
    kinds = {what for what, _, _ in said}
    assert {"generator", "coroutine", "class body", "thread", "callback", "across chunks",
            "non-ASCII names", "passing"} <= kinds
    assert any(len(stop["frames"]) == DEPTH for stop in seen)
