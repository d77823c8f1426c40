"""Operators of PyTorch: calls, names and results are those that the stand-in library counted itself."""
import json
import shutil
import subprocess

import pytest

import harness

ENGINES = ["breakpoints", "taps", "auto"]


def environment(build, folder):
    variables = build.environment("v6", FADE_STANDIN_HSA=str(folder / "truth"))
    variables["LD_LIBRARY_PATH"] += f":{build.tracees / 'torch'}:{build.runtimes / 'hsa'}"
    return variables


def recorded(build, folder, *options, rounds=20, workers=0):
    program = build.command(f"operators {rounds} {workers}")
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *program]
    ran = harness.run(command, environment(build, folder), folder / "run", timeout=120)
    assert ran.status == 0, ran.stderr
    told = dict(reversed(line.split(" ", 1)) for line in ran.stdout.decode().splitlines())
    return harness.Database(folder / "run.db"), {name: int(n) for name, n in told.items()}


def report(build, folder, *options):
    command = [build.fade_query, "operators", folder / "run.db", "-f", "json", *options]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    return {row["name"]: row for row in json.loads(done.stdout)}


def without_redispatch(truth):
    return {name: n for name, n in truth.items() if not name.startswith("redispatch")}


@pytest.fixture(params=ENGINES, scope="module")
def timed(request, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return (
        request.param,
        folder,
        *recorded(build, folder, "--gpu-times", "--engine", request.param, "-e", "all,ops", rounds=300),
    )


def test_each_call_is_recorded_by_its_own_name(build, timed):
    engine, folder, database, truth = timed
    counted = dict(database.rows("SELECT name, count(*) FROM calls WHERE name LIKE 'aten::%' GROUP BY name"))
    assert counted == without_redispatch(truth)
    assert {name: row["n"] for name, row in report(build, folder).items()} == counted
    if engine == "taps":
        tapped = "SELECT sum(tapped_calls) FROM call_stats WHERE name"
        assert database.value(f"{tapped} = 'aten::convolution'") == truth["aten::convolution"]  # 8 words on the stack


def test_exceptions_end_their_calls_alone(timed):
    _, _, database, truth = timed
    states = "SELECT state, count(*) FROM calls WHERE name LIKE 'aten::%' GROUP BY state ORDER BY state"
    left = truth["aten::index.Tensor"]
    assert database.rows(states) == [("returned", sum(without_redispatch(truth).values()) - left), ("unwound", left)]
    assert database.value("SELECT count(*) FROM calls WHERE name = 'aten::index.Tensor' AND state <> 'unwound'") == 0
    # Nothing of what followed is taken for a part of it.
    inside = "SELECT count(*) FROM calls c JOIN calls p ON p.id = c.parent_id WHERE p.name = 'aten::index.Tensor'"
    assert database.value(f"{inside} AND c.name <> 'hipLaunchKernel'") == 0


def test_own_and_inner_work_are_apart(build, timed):
    _, folder, database, truth = timed
    rows = report(build, folder)
    linear, product, plus = (rows[name] for name in ("aten::linear", "aten::mm", "aten::add.Tensor"))
    n = truth["aten::linear"]
    assert (linear["launches"], product["launches"], plus["launches"]) == (3 * n, 2 * (n + 1), n)
    # Packets of a queue that went round are not read, so these are fewer than the launches.
    works = "SELECT count(*), sum(w.duration) FROM gpu_work w JOIN calls c ON c.id = w.call"
    around = f"{works} JOIN calls p ON p.id = c.parent_id"
    assert database.rows(f"{around} WHERE p.name = 'aten::mm'") == [(product["self_works"], product["self_gpu_ns"])]
    outer = f"{around} JOIN calls q ON q.id = p.parent_id WHERE q.name = 'aten::linear'"
    assert database.rows(outer) == [(linear["total_works"], linear["total_gpu_ns"])]
    assert (linear["self_works"], linear["self_gpu_ns"]) == (0, 0) and product["self_works"] == product["total_works"]
    assert linear["total_ns"] >= linear["self_ns"] and sum(row["self_percent"] for row in rows.values()) > 99


def test_operators_are_not_watched_unless_asked_for(build, tmp_path):
    database, _ = recorded(build, tmp_path, "-e", "all")
    assert database.value("SELECT count(*) FROM functions WHERE name LIKE '%aten%'") == 0
    assert report(build, tmp_path) == {}


def test_kinds_of_threads_are_told_apart(build, tmp_path):
    recorded(build, tmp_path, "-e", "ops", workers=3)
    command = [build.fade_query, "operators", tmp_path / "run.db", "--by-thread", "-f", "json", "-n", "0"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    linear = {row["thread"]: (row["threads"], row["n"]) for row in rows if row["name"] == "aten::linear"}
    assert linear == {"main": (1, 40), "backward": (1, 20), "worker": (3, 3)}
    times = [(row["self_ns"], row["total_ns"]) for row in rows if row["name"] == "aten::linear"]
    assert all(0 <= self_ns <= total_ns for self_ns, total_ns in times) and any(total_ns for _, total_ns in times)


def test_redispatch_on_request(build, tmp_path):
    database, truth = recorded(build, tmp_path, "-e", "ops,ops-redispatch")
    assert dict(database.rows("SELECT name, count(*) FROM calls GROUP BY name")) == truth
    parents = "SELECT DISTINCT p.name FROM calls c JOIN calls p ON p.id = c.parent_id WHERE c.name LIKE 'redispatch%'"
    assert database.rows(parents) == [("aten::mm",)]


def test_single_operators_can_be_chosen(build, tmp_path):
    database, truth = recorded(build, tmp_path, "-e", "mem,aten::sum*,aten::mm")
    wanted = {name: truth[name] for name in ("aten::sum.dim_IntList", "aten::mm")}
    assert dict(database.rows("SELECT name, count(*) FROM calls WHERE category = 'torch' GROUP BY name")) == wanted


def test_without_rows_of_calls_the_sums_remain(build, tmp_path):
    _, truth = recorded(build, tmp_path, "-e", "all,ops", "--detail", "stats")
    rows = report(build, tmp_path)
    assert {name: row["n"] for name, row in rows.items()} == without_redispatch(truth)
    assert rows["aten::mm"]["hip_calls"] is None and rows["aten::mm"]["launches"] is None


def test_a_library_without_such_functions_is_named_once(build, tmp_path):
    folder = tmp_path / "stripped"
    folder.mkdir()
    shutil.copy(build.runtimes / "clients" / "libtorch_hip.so", folder / "libtorch_cpu.so")
    variables = environment(build, tmp_path)
    command = [build.fade_run, "-e", "all,ops", "-o", tmp_path / "run.db", "--", *build.command("loop 3")]
    ran = harness.run(command, {**variables, "LD_PRELOAD": str(folder / "libtorch_cpu.so")}, tmp_path / "run")
    assert ran.stderr.decode().count("no operators of PyTorch were watched") == 1, ran.stderr
    notes = harness.Database(tmp_path / "run.db").value(
        "SELECT count(*) FROM lifecycle WHERE detail LIKE '%libtorch_cpu.so exports no function at::_ops%'"
    )
    assert (ran.status, notes) == (0, 1)
