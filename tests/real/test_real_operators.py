"""Operators of Debian's PyTorch 1.13 and sid's 2.x: fade's counts against those of torch.profiler in the same process.

Skipped, with the reason, where Debian's archive cannot be reached.
"""
import collections
import json
import subprocess

import pytest

import real_runs as runs
import real_world as world

MARKED = """WITH mark AS (SELECT min(start) AS first, max("end") AS last FROM calls WHERE name = 'aten::trace')
SELECT c.name FROM calls c, mark m WHERE c.category = 'torch' AND c.start BETWEEN m.first AND m.last"""


@pytest.fixture(params=["breakpoints", "taps", "auto"], scope="module")
def watched(request, any_torch, supervised):
    return supervised(any_torch, "torch_operators", "-e", "ops", "--engine", request.param)


def profiled(run):
    (line,) = run.lines("profiled")
    return json.loads(line)


def report(build_dir, database, *options):
    command = [build_dir / "cli/query/fade-query", "operators", database, "-f", "json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def test_counts_are_those_of_the_profiler(watched):
    assert watched.code == 0, watched.stderr
    marked = runs.rows(watched.database, MARKED)
    assert collections.Counter(name.split(".")[0] for (name,) in marked) == profiled(watched)
    runs.assert_closed(watched)


def test_it_runs_as_if_fade_were_not_there(any_torch, watched):
    runs.assert_same_behaviour(runs.native(any_torch, "torch_operators"), watched)


def test_calls_have_an_end_and_a_name_of_the_schema(watched, build_dir):
    states = runs.rows(watched.database, "SELECT DISTINCT state FROM calls WHERE category = 'torch'")
    assert states == [("returned",)]
    rows = {row["name"]: row for row in report(build_dir, watched.database)}
    assert {"aten::add_.Tensor", "aten::addmm", "aten::convolution", "aten::sum.dim_IntList"} <= set(rows)
    assert all(row["self_ns"] <= row["total_ns"] for row in rows.values())
    product = rows["aten::linear"]
    assert product["self_ns"] < product["total_ns"]


@pytest.fixture(scope="module")
def shaped(any_torch, supervised):
    return supervised(any_torch, "torch_operators", "-e", "ops", "--operator-shapes", "--detail", "full")


def sizes_in(arguments):
    """Sizes of the tensors that have some, as the profiler has them. It skips those in lists."""
    texts = [text for text in json.loads(arguments).values() if isinstance(text, str) and text.endswith("]")]
    return json.dumps([sizes for sizes in (json.loads(text[text.index("[") :]) for text in texts) if sizes])


def test_shapes_are_those_of_the_profiler(shaped):
    assert shaped.code == 0, shaped.stderr
    (line,) = shaped.lines("shapes")
    told = collections.Counter()
    for name, shapes, count, _ in json.loads(line):
        told[name, json.dumps([sizes for sizes in shapes if sizes and isinstance(sizes[0], int)])] += count
    rows = runs.rows(shaped.database, MARKED.replace("c.name", "c.name, c.args"))
    assert collections.Counter((name.split(".")[0], sizes_in(arguments)) for name, arguments in rows) == told
    notes = runs.rows(shaped.database, "SELECT detail FROM lifecycle WHERE detail LIKE '%layout of tensors%known:%'")
    assert len(notes) == 1


def test_operations_are_those_of_the_profiler(shaped, build_dir):
    (line,) = shaped.lines("shapes")
    told = collections.Counter()
    for name, _, _, flops in json.loads(line):
        told[name] += flops
    counted = collections.Counter()
    for row in report(build_dir, shaped.database, "--by-shape", "-n", "0"):
        counted[row["name"].split(".")[0]] += row["flops"] or 0
    # The profiler saw five of the six equal steps; other sums and products were made before the first one.
    for name in ("aten::addmm", "aten::mm", "aten::conv2d"):
        assert counted[name] * 5 == told[name] * 6 > 0


def test_record_function_makes_ranges_and_steps(any_torch, supervised):
    run = supervised(any_torch, "torch_ranges", "-e", "ops,ops-ranges")
    assert run.code == 0, run.stderr
    assert runs.rows(run.database, "SELECT * FROM range_faults") == []
    if any_torch.version == "torch":  # 1.13 begins ranges by a function without a symbol
        assert runs.rows(run.database, "SELECT * FROM ranges") == []
        return
    names = runs.rows(
        run.database, "SELECT name, depth, count(*) FROM ranges WHERE duration > 0 GROUP BY 1, 2 ORDER BY 1"
    )
    assert set(names) >= {("forward", 1, 4), ("inner", 2, 4), *((f"ProfilerStep#{i}", 0, 1) for i in range(5))}
    assert runs.rows(run.database, "SELECT name FROM steps ORDER BY id") == [(f"ProfilerStep#{i}",) for i in range(5)]


def test_operators_by_module(build_dir, tmp_path):
    """With an installed PyTorch: Python frames are not found in a program that the loader was started for by hand."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("PyTorch is not installed (Debian: python3-torch)")
    database, program = tmp_path / "run.db", world.PROGRAMS / "torch_operators.py"
    command = [build_dir / "cli/run/fade-run", "-q", "-e", "ops", "--stacks", "all", "-o", database]
    subprocess.run([*command, "--", python, program], check=True, capture_output=True, timeout=runs.TIME_LIMIT)
    rows = report(build_dir, database, "--by-module")
    by_module = {(row["module"], row["name"]): row["n"] for row in rows}
    assert by_module["Net > Sequential > Linear", "aten::linear"] == 12
    assert by_module["Net > Conv2d", "aten::conv2d"] == by_module["Net > _BatchNorm", "aten::batch_norm"] == 6
    assert sum(n for (module, name), n in by_module.items() if name == "aten::linear") == 12
    backward = [name for module, name in by_module if not module]
    assert "aten::threshold_backward" in backward and "aten::linear" not in backward
    lines = report(build_dir, database, "--by-line", "--name", "aten::cross_entropy_loss")
    assert [(row["line"].split("/")[-1].split(":")[0], row["n"]) for row in lines] == [("torch_operators.py", 6)]
